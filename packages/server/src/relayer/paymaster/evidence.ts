import { type OutsideExecution, parseOutsideExecutionTypedData, toHex } from '@svc/starknet';
import type { StarknetNetwork } from '../../chains/networks.ts';
import type { BlockId, StarknetChain } from '../../chains/starknet/chain.ts';
import { code } from '../../chains/starknet/refusal.ts';
import type { PaymasterRelay } from './store.ts';

/** On a chain where nothing happens no block comes after the window; then our clock decides, this much later. */
const IDLE_CHAIN_MS = 3_600_000;

/** What the relay has executed; undefined where it only deploys. */
export function executionOf({ content }: PaymasterRelay): OutsideExecution | undefined {
  const { transaction } = content.request;
  if (transaction.type === 'deploy') return undefined;
  const typedData = parseOutsideExecutionTypedData(transaction.invoke.typed_data);
  if (!typedData.ok) throw new Error(`The stored request cannot be read: ${typedData.reason}`);
  return typedData.value.execution;
}

/**
 * Whether it was executed, as of a block: the wallet has spent its nonce, which it does once, or stands where it was to be
 * deployed. This does not depend on what the paymaster says.
 */
export async function isDone(chain: StarknetChain, relay: PaymasterRelay, at: BlockId): Promise<boolean> {
  const execution = executionOf(relay);
  if (!execution) return (await chain.classHashAt(relay.wallet, at)) !== undefined;
  const question = { to: relay.wallet, entrypoint: 'is_valid_outside_execution_nonce', calldata: [execution.nonce] };
  const answer = await chain.call(question, at);
  if (answer.ok && answer.felts.length === 1) return answer.felts[0] === 0n;
  if (!answer.ok && answer.code === code.contractNotFound) return false;
  throw new Error(`${toHex(relay.wallet)} does not tell whether it has spent a nonce`);
}

/** The block in which it was executed, given that it is done at `head`. Undefined: it was, long before we were asked. */
export async function blockOf(chain: StarknetChain, relay: PaymasterRelay, head: number): Promise<number | undefined> {
  let undone = Math.min(relay.content.fromBlock, head);
  if (await isDone(chain, relay, undone)) return undefined;
  let done = head;
  while (done - undone > 1) {
    const middle = undone + Math.floor((done - undone) / 2);
    if (await isDone(chain, relay, middle)) done = middle;
    else undone = middle;
  }
  return done;
}

/** Whether a transaction of this block can be the one that executed it. */
export async function wasDoneIn(chain: StarknetChain, relay: PaymasterRelay, block: number): Promise<boolean> {
  if (!(await isDone(chain, relay, block))) return false;
  return block === 0 || !(await isDone(chain, relay, block - 1));
}

/** Whether the wallet refuses it from this block on. */
export async function isOver(network: StarknetNetwork, relay: PaymasterRelay, head: number): Promise<boolean> {
  const block = await network.chain.block(head);
  if (block && block.timestamp >= relay.notAfter) return true;
  return (await network.time()).getTime() - relay.notAfter.getTime() > IDLE_CHAIN_MS;
}
