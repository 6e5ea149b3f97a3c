import { toHex } from '@svc/starknet';
import { readAttempt, sendAttempt } from '../attempts.ts';
import { mendGap } from './mend-gap.ts';
import { noteSince, type OpenRelay } from './open-relays.ts';
import { RAISE_AFTER_MS, raiseFee } from './raise-fee.ts';
import { ageMs, type View } from './view.ts';

/** Sequencers take what is up to 200 ahead of its account; the rest of it is for requests that send at the same time. */
const MAX_AHEAD = 150n;
/** The request that stored it is most likely still sending it. */
const YOUNG_MS = 2_000;
/** A node that is behind shows gaps that are none. */
const GAP_AFTER_MS = 10_000;
/** What a higher fee can mend: too low for the present prices, for the pool's minimum, or to replace what waits there. */
const MENDED_BY_FEE: readonly number[] = [53, 55, 64, 65];

/** Sees to it that the chain has what it is to execute next. Answers whether a node took something that none had. */
export async function pushWaiting(view: View, waiting: readonly OpenRelay[], pending: bigint): Promise<boolean> {
  const [first] = waiting;
  if (!first) return false;
  const firstForMs = await noteFirst(view, first);
  if (first.nonce > pending && firstForMs >= GAP_AFTER_MS) return mendGap(view, pending, first.nonce);
  let progressed = false;
  let lost = false;
  for (const relay of waiting) {
    if (relay.nonce >= pending + MAX_AHEAD) break;
    const isNext = relay.nonce === pending;
    if (!isNext && !(lost || isLeftBehind(view, relay))) continue;
    if (relay.state === 'SENT') {
      if (await isKnown(view, relay)) {
        if (isNext && firstForMs >= RAISE_AFTER_MS) await raiseFee(view, relay);
        continue;
      }
      // A node that lost the next one has probably lost those behind it too.
      lost ||= isNext;
    }
    progressed = (await push(view, relay, isNext)) || progressed;
  }
  return progressed;
}

/** How long nothing has been in front of it. */
async function noteFirst(view: View, first: OpenRelay): Promise<number> {
  if (first.missingSince) await noteSince(view.db, first.id, 'missing', undefined);
  if (first.firstSince) return ageMs(view, first.firstSince);
  // Most are gone before they need a note.
  if (ageMs(view, first.createdAt) >= YOUNG_MS) await noteSince(view.db, first.id, 'first', new Date(view.now()));
  return 0;
}

const isLeftBehind = (view: View, { state, createdAt }: OpenRelay): boolean =>
  state === 'STORED' && ageMs(view, createdAt) >= YOUNG_MS;

async function isKnown({ chain }: View, { newest }: OpenRelay): Promise<boolean> {
  return (await chain.transactionStatus(newest.hash)).status !== 'NOT_RECEIVED';
}

async function push(view: View, relay: OpenRelay, isNext: boolean): Promise<boolean> {
  const { db, chain, account, log, now } = view;
  const { newest } = relay;
  if (newest.kind !== 'FILLER' && (await view.time()) >= relay.notAfter) return raiseFee(view, relay);
  const sent = await sendAttempt(db, chain, relay.id, await readAttempt(db, chain.chainId, newest.hash), now);
  if (sent.outcome === 'sent') return newest.takenAt === undefined;
  log.warn({ account, relayId: relay.id, hash: toHex(newest.hash), ...sent }, 'a relay was not taken');
  if (!isNext || sent.outcome === 'unknown' || !MENDED_BY_FEE.includes(sent.code)) return false;
  return raiseFee(view, relay);
}
