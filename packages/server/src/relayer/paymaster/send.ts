import { enqueue } from '../../jobs/enqueue.ts';
import type { RelayState } from '../relay.ts';
import type { Answer } from './client.ts';
import { giveUp } from './end.ts';
import { followJob } from './follow-job.ts';
import type { PaymasterParts } from './parts.ts';
import { provesNothingSent } from './refusals.ts';
import { countSend, type PaymasterRelay, readRelay, setHash } from './store.ts';

/** Blocks come every few seconds. */
const FIRST_LOOK_MS = 2_000;

/**
 * Asks the paymaster to execute a stored relay. Asking again is safe, because the wallet executes a nonce once. For the same reason
 * a refusal ends the relay only when nothing else was asked: otherwise it is what a success looks like.
 */
export async function send(parts: PaymasterParts, relay: PaymasterRelay): Promise<Answer<bigint>> {
  if (!(await countSend(parts.db, relay.id))) {
    return { outcome: 'failed', unclear: false, reason: 'the relay has ended already' };
  }
  const answer = await parts.paymaster.execute(relay.content.request);
  if (answer.outcome === 'answered') {
    await adopt(parts, relay, answer.value, ['STORED', 'SENT']);
    return answer;
  }
  parts.log.warn({ relayId: relay.id, ...answer }, 'the paymaster did not take a transaction');
  const sends = (await readRelay(parts.db, relay.id))?.content.sends;
  if (answer.outcome === 'refused' && sends === 1 && provesNothingSent(answer)) await giveUp(parts, relay);
  return answer;
}

/** From now on this is the relay's transaction. */
export async function adopt(
  parts: Pick<PaymasterParts, 'db' | 'onHash'>,
  relay: PaymasterRelay,
  hash: bigint,
  from: readonly RelayState[],
): Promise<void> {
  await parts.db.tx(async (tx) => {
    if (!(await setHash(tx, { id: relay.id, hash, from }))) return;
    await parts.onHash(tx, relay.id, hash);
    await enqueue(tx, followJob(relay.id, FIRST_LOOK_MS));
  });
}
