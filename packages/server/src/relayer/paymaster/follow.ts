import type { StarknetNetwork } from '../../chains/networks.ts';
import type { Receipt } from '../../chains/starknet/chain.ts';
import { blockOf, isDone, isOver, wasDoneIn } from '../evidence/evidence.ts';
import { findTransaction } from '../evidence/find-transaction.ts';
import { isOpen } from '../relay.ts';
import { deedOf } from './deed.ts';
import { giveUp, settleWith } from './end.ts';
import type { PaymasterParts } from './parts.ts';
import { adopt, send } from './send.ts';
import { type PaymasterRelay, readRelay } from './store.ts';

/** Longer than the paymaster is waited for, so that what is under way is not asked for again. */
export const RESEND_AFTER_MS = 30_000;

/**
 * Brings a relay one step nearer to its end, by what the chain shows. Whether the wallet has executed it decides; what the paymaster
 * said only tells where to look first.
 */
export async function follow(parts: PaymasterParts, relayId: string): Promise<PaymasterRelay | undefined> {
  const relay = await readRelay(parts.db, relayId);
  if (!relay || relay.state === 'SUCCEEDED') return relay;
  const network = parts.networks.starknet(relay.environment);
  const receipt = isOpen(relay.state) && relay.hash !== undefined ? await network.chain.receipt(relay.hash) : undefined;
  if (receipt && !receipt.accepted) return relay;
  if (receipt && (await isTrue(network, relay, receipt))) await settleWith(parts, relay, receipt);
  else await lookAround(parts, network, relay);
  return readRelay(parts.db, relayId);
}

/** A paymaster may name a transaction that is not the one, or send two of which the second must revert. */
async function isTrue({ chain }: StarknetNetwork, relay: PaymasterRelay, receipt: Receipt): Promise<boolean> {
  const deed = deedOf(relay);
  if (receipt.status === 'REVERTED') return !(await isDone(chain, deed, 'latest'));
  return receipt.blockNumber !== undefined && wasDoneIn(chain, deed, receipt.blockNumber);
}

async function lookAround(parts: PaymasterParts, network: StarknetNetwork, relay: PaymasterRelay): Promise<void> {
  const { chain } = network;
  const deed = deedOf(relay);
  const head = await chain.blockNumber();
  if (await isDone(chain, deed, head)) return takeExecuted(parts, network, relay, head);
  if (!isOpen(relay.state)) return;
  if (await isOver(network, deed, head)) return giveUp(parts, relay);
  if (relay.restedMs < RESEND_AFTER_MS || (await network.time()) >= relay.notAfter) return;
  if (await isDone(chain, deed, 'pre_confirmed')) return;
  const waits = relay.hash !== undefined && (await chain.transactionStatus(relay.hash)).status !== 'NOT_RECEIVED';
  if (!waits) await send(parts, relay);
}

/** It is executed, though not by a transaction that we know of, or although we were told that it never would be. */
async function takeExecuted(
  parts: PaymasterParts,
  { chain }: StarknetNetwork,
  relay: PaymasterRelay,
  head: number,
): Promise<void> {
  const deed = deedOf(relay);
  const block = await blockOf(chain, deed, head);
  if (block === undefined) {
    if (isOpen(relay.state)) await giveUp(parts, relay);
    return;
  }
  const receipt = await findTransaction(parts.db, chain, deed, block);
  if (!receipt) {
    parts.log.error({ relayId: relay.id, block }, 'a paymaster executed a relay in a transaction that cannot be told');
    return;
  }
  parts.log.warn({ relayId: relay.id, block }, 'a paymaster executed a relay without telling its transaction');
  await adopt(parts, relay, receipt.transactionHash, ['STORED', 'SENT', 'REVERTED', 'VOIDED']);
  await settleWith(parts, relay, receipt);
}
