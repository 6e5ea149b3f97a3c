import { setTimeout as pause } from 'node:timers/promises';
import { type FaultKind, takeOrder } from '../chain/faults.ts';
import { headBefore } from '../chain/find-block.ts';
import { type Head, readHead } from '../chain/head.ts';
import type { NodeParts } from './context.ts';
import { RpcError, rpcErrors } from './rpc-error.ts';
import { submitMethods } from './submit-methods.ts';

/** The node plays dead: HTTP 503 without a JSON-RPC answer. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

export interface Obeyed {
  readonly head: Head;
  /** The transaction is acknowledged and forgotten. */
  readonly forgets: boolean;
  /** The call is done, and the connection closes without an answer. */
  readonly losesAnswer: boolean;
}

const OF_EVERY_CALL: readonly FaultKind[] = ['error', 'unavailable', 'stale'];
const OF_TRANSACTIONS: readonly FaultKind[] = ['error', 'unavailable', 'reject', 'forget', 'lose-answer'];
const DEFAULT_DELAY_MS = 1_000;
const DEFAULT_ERROR = { code: -32603, message: 'Internal error' };

/** Lets a call suffer what was ordered for it: a delay, and at most one other fault. */
export async function obeyOrders(parts: NodeParts, head: Head, method: string): Promise<Obeyed> {
  const obeyed = { head, forgets: false, losesAnswer: false };
  if (!head.orders) return obeyed;
  const slow = await takeOrder(parts.db, ['slow'], method);
  if (slow) await pause(slow.delayMs ?? DEFAULT_DELAY_MS);
  const present = slow ? await readHead(parts.db.reads) : head;
  const order = await takeOrder(parts.db, method in submitMethods ? OF_TRANSACTIONS : OF_EVERY_CALL, method);
  switch (order?.kind) {
    case 'error':
      throw new RpcError(order.code ?? DEFAULT_ERROR.code, order.message ?? DEFAULT_ERROR.message);
    case 'unavailable':
      throw new UnavailableError();
    case 'reject':
      throw rpcErrors.validationFailure(order.reason ?? 'Rejected by order');
    case 'stale':
      return { ...obeyed, head: await headBefore(parts.db.reads, present, order.blocks ?? 1) };
    default:
      return { head: present, forgets: order?.kind === 'forget', losesAnswer: order?.kind === 'lose-answer' };
  }
}
