import { toHex } from '@svc/starknet';
import { readAttempt, sendAttempt } from '../attempts.ts';
import { mendGap } from './mend-gap.ts';
import { note, type OpenRelay } from './open-relays.ts';
import { fillNonce, MAX_RAISES, RAISE_AFTER_MS, raiseFee } from './raise-fee.ts';
import { ageMs, type View } from './view.ts';

/** Sequencers take what is up to 200 ahead of its account; the rest of it is for requests that send at the same time. */
const MAX_AHEAD = 150n;
/** The request that stored it is most likely still sending it. */
const YOUNG_MS = 2_000;
/** A node that is behind shows gaps that are none. */
const GAP_AFTER_MS = 10_000;
const NONCE = 52;
/** Some nodes say so of a fee that is too low, others of what can never be. */
const VALIDATION = 55;
/** A node has something with this nonce. */
const UNDERPRICED = 64;
/** What a higher fee can mend: too low for the present prices, for the pool's minimum, or to replace what waits there. */
const MENDED_BY_FEE: readonly number[] = [53, VALIDATION, UNDERPRICED, 65];
/** What is refused on and on is given up after so long, lest those behind it wait for nothing. */
const GIVE_UP_AFTER_MS = 30_000;
/** The same when a higher fee would help, but may not be offered. */
const GIVE_UP_RAISING_AFTER_MS = 300_000;

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
  if (first.missingSince) await note(view, first.id, 'missing', 'over');
  if (first.firstSince) return ageMs(view, first.firstSince);
  // Most are gone before they need a note.
  if (ageMs(view, first.createdAt) >= YOUNG_MS) await note(view, first.id, 'first');
  return 0;
}

const isLeftBehind = (view: View, { state, createdAt }: OpenRelay): boolean =>
  state === 'STORED' && ageMs(view, createdAt) >= YOUNG_MS;

async function isKnown({ chain }: View, { newest }: OpenRelay): Promise<boolean> {
  return (await chain.transactionStatus(newest.hash)).status !== 'NOT_RECEIVED';
}

async function push(view: View, relay: OpenRelay, isNext: boolean): Promise<boolean> {
  const { db, chain, account, log } = view;
  const { newest } = relay;
  if (newest.kind !== 'FILLER' && (await view.time()) >= relay.notAfter) return raiseFee(view, relay);
  const sent = await sendAttempt(db, chain, relay.id, await readAttempt(db, chain.chainId, newest.hash));
  if (sent.outcome === 'sent') {
    if (relay.refusedSince) await note(view, relay.id, 'refused', 'over');
    return newest.takenAt === undefined;
  }
  log.warn({ account, relayId: relay.id, hash: toHex(newest.hash), ...sent }, 'a relay was not taken');
  if (sent.outcome === 'unknown' || sent.code === NONCE) return false;
  if (!relay.refusedSince) await note(view, relay.id, 'refused');
  if (!isNext) return false;
  if (isHopeless(view, relay, sent.code)) return fillNonce(view, relay);
  return MENDED_BY_FEE.includes(sent.code) && raiseFee(view, relay);
}

/** No node ever had it, and none will have it. */
function isHopeless(view: View, { attempts, newest, refusedSince }: OpenRelay, code: number): boolean {
  if (!refusedSince || newest.kind === 'FILLER' || code === UNDERPRICED) return false;
  if (attempts.some(({ takenAt }) => takenAt !== undefined)) return false;
  const refusedMs = ageMs(view, refusedSince);
  const raises = attempts.filter(({ kind }) => kind === 'BUMP').length;
  const enough = code === VALIDATION ? 1 : MENDED_BY_FEE.includes(code) ? MAX_RAISES : 0;
  return refusedMs >= (raises >= enough ? GIVE_UP_AFTER_MS : GIVE_UP_RAISING_AFTER_MS);
}
