import type { ErrorCode } from '@svc/protocol';
import type { Command } from '../controls/commands.ts';
import type { RpcAnswer } from '../rpc/answer.ts';
import type { SpecVersion } from '../rpc/context.ts';

/** From the thread that serves HTTP to the node's. */
export type Ask =
  | { readonly id: number; readonly kind: 'rpc'; readonly body: string; readonly spec: SpecVersion }
  | { readonly id: number; readonly kind: 'command'; readonly command: Command }
  | { readonly kind: 'stop' };

/** And back. */
export type Tell =
  | { readonly id: number; readonly kind: 'rpc'; readonly answer: RpcAnswer }
  | { readonly id: number; readonly kind: 'command'; readonly answer: unknown }
  | { readonly id: number; readonly kind: 'failed'; readonly code?: ErrorCode; readonly message: string }
  | { readonly kind: 'fault'; readonly message: string }
  /** On the port of its own. */
  | { readonly kind: 'listening' };

export interface NodeSettings {
  readonly url: string;
  /** Where the thread listens for the process that it runs in; undefined: nowhere. */
  readonly port?: number;
}
