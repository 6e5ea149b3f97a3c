import { SvcConnectionError } from '../client/errors.ts';
import { type Ask, askNode, type NodeAccess } from './ask-node.ts';

/** Addresses of nodes, the preferred one first. */
export type Nodes = Iterable<string> | AsyncIterable<string>;

/** Does something with the first node that is up to it. Only for reading: it may be begun with several nodes. */
export async function firstNode<T>(nodes: Nodes, access: NodeAccess, work: (ask: Ask) => Promise<T>): Promise<T> {
  const failures: SvcConnectionError[] = [];
  for await (const url of nodes) {
    try {
      return await work(askNode(url, access));
    } catch (error) {
      if (!(error instanceof SvcConnectionError)) throw error;
      failures.push(error);
    }
  }
  const told = failures.map((error) => error.message).join(' ');
  const cause = failures.length === 1 ? failures[0] : new AggregateError(failures, told);
  throw new SvcConnectionError('connection_failed', `No Starknet node answered. ${told}`, { cause });
}
