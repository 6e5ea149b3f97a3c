import { type OutsideExecution, toHex } from '@svc/starknet';
import type { StarknetNetwork } from '../../chains/networks.ts';
import type { BlockId, StarknetChain } from '../../chains/starknet/chain.ts';
import { code } from '../../chains/starknet/refusal.ts';

/** What the chain is asked about a relay. Anyone who has the signature may execute it, so receipts of our own do not tell all. */
export interface Deed {
  readonly relayId: string;
  readonly wallet: bigint;
  /** Undefined where the wallet is only deployed. */
  readonly execution: OutsideExecution | undefined;
  /** Whether the wallet is deployed with it. */
  readonly deploys: boolean;
  readonly notAfter: Date;
  /** A block before it was asked for, where one is known. */
  readonly fromBlock: number | undefined;
}

/** On a chain where nothing happens no block comes after the window; then our clock decides, this much later. */
const IDLE_CHAIN_MS = 3_600_000;
/** Far more blocks than an execution's window has. */
const MAX_BLOCKS_BACK = 2 ** 20;

/** The wallet is of a class that does not say which nonces it has spent. */
export class UntoldError extends Error {
  override readonly name = 'UntoldError';
}

/**
 * Whether it was executed, as of a block: the wallet has spent its nonce, which it does once, or stands where it was to be
 * deployed. This does not depend on what anybody says.
 */
export async function isDone(chain: StarknetChain, { wallet, execution }: Deed, at: BlockId): Promise<boolean> {
  if (!execution) return (await chain.classHashAt(wallet, at)) !== undefined;
  const question = { to: wallet, entrypoint: 'is_valid_outside_execution_nonce', calldata: [execution.nonce] };
  const answer = await chain.call(question, at);
  if (answer.ok && answer.felts.length === 1) return answer.felts[0] === 0n;
  if (!answer.ok && answer.code === code.contractNotFound) return false;
  throw new UntoldError(`${toHex(wallet)} does not tell whether it has spent a nonce`);
}

/** The block in which it was executed, given that it is done at `head`. Undefined: it was, long before we were asked. */
export async function blockOf(chain: StarknetChain, deed: Deed, head: number): Promise<number | undefined> {
  const before = await blockBefore(chain, deed, head);
  if (before === undefined) return undefined;
  let [undone, done] = [before, head];
  while (done - undone > 1) {
    const middle = undone + Math.floor((done - undone) / 2);
    if (await isDone(chain, deed, middle)) done = middle;
    else undone = middle;
  }
  return done;
}

/** A block as of which it was not done. */
async function blockBefore(chain: StarknetChain, deed: Deed, head: number): Promise<number | undefined> {
  if (deed.fromBlock !== undefined) {
    const first = Math.min(deed.fromBlock, head);
    return (await isDone(chain, deed, first)) ? undefined : first;
  }
  for (let back = 1; back <= MAX_BLOCKS_BACK; back *= 2) {
    const block = Math.max(0, head - back);
    if (!(await isDone(chain, deed, block))) return block;
    if (block === 0) return undefined;
  }
  return undefined;
}

/** Whether a transaction of this block can be the one that executed it. */
export async function wasDoneIn(chain: StarknetChain, deed: Deed, block: number): Promise<boolean> {
  if (!(await isDone(chain, deed, block))) return false;
  return block === 0 || !(await isDone(chain, deed, block - 1));
}

/** Whether the wallet refuses it from this block on. */
export async function isOver(network: StarknetNetwork, { notAfter }: Deed, head: number): Promise<boolean> {
  const block = await network.chain.block(head);
  if (block && block.timestamp >= notAfter) return true;
  return (await network.time()).getTime() - notAfter.getTime() > IDLE_CHAIN_MS;
}
