import { toHex } from '@svc/starknet';
import { insertOther } from '../attempts.ts';
import { blockOf, isDone, UntoldError } from '../evidence/evidence.ts';
import { findTransaction } from '../evidence/find-transaction.ts';
import type { Included } from '../settle.ts';
import { note, type OpenRelay } from './open-relays.ts';
import { deedOf } from './relay-calls.ts';
import type { View } from './view.ts';

/**
 * Anyone who has seen the signature can execute a relay: when our own transaction did not, the wallet is asked whether somebody has.
 * `NO`: nobody has. `UNTOLD`: somebody has, in a transaction that cannot be told yet.
 */
export async function executedElsewhere(view: View, relay: OpenRelay): Promise<Included | 'NO' | 'UNTOLD'> {
  const { db, chain, log } = view;
  const deed = await deedOf(db, relay);
  if (!deed) return 'NO';
  try {
    if (!(await isDone(chain, deed, 'latest'))) return 'NO';
  } catch (error) {
    if (error instanceof UntoldError) return 'NO';
    throw error;
  }
  const head = await chain.blockNumber();
  const number = (await isDone(chain, deed, head)) ? await blockOf(chain, deed, head) : undefined;
  const receipt = number === undefined ? undefined : await findTransaction(db, chain, deed, number);
  const block = receipt?.blockNumber === undefined ? undefined : await chain.block(receipt.blockNumber);
  if (!receipt || !block || block.hash !== receipt.blockHash) {
    await note(view, relay.id, 'looked');
    log.error({ relayId: relay.id, block: number }, 'somebody executed a relay in a transaction that cannot be told');
    return 'UNTOLD';
  }
  const hash = receipt.transactionHash;
  await insertOther(db, chain.chainId, relay.id, hash);
  log.warn({ relayId: relay.id, hash: toHex(hash) }, 'somebody else executed a relay');
  return { receipt, block, filler: false };
}
