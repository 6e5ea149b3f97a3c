import type { Database, Reads } from '@svc/store';
import type { Head } from '../chain/head.ts';
import type { StateCache } from '../chain/state-cache.ts';
import type { Writer } from '../chain/writer.ts';

/** The parts of a node that its methods work with. */
export interface NodeParts {
  readonly db: Database;
  readonly cache: StateCache;
  readonly writer: Writer;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** One call: the node, and the chain as this call sees it. */
export interface CallContext extends NodeParts {
  readonly head: Head;
  readonly spec: SpecVersion;
  /** For everything short; what may take longer goes to the database itself. */
  readonly reads: Reads;
  /** A fault that was ordered: what is sent is acknowledged and forgotten. */
  readonly forgets: boolean;
}

export type SpecVersion = '0.9.0' | '0.10.0';

export interface Method {
  /** In their order, for those who send them by position. */
  readonly params: readonly string[];
  run(context: CallContext, params: Readonly<Record<string, unknown>>): Promise<unknown>;
}
