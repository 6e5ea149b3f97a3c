import { toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import type { Estimate } from '../../chains/starknet/chain.ts';
import {
  bumpedFee,
  covers,
  type Fee,
  feeOf,
  fillerCalls,
  firstFee,
  maxFeeOf,
  signTransaction,
  unsigned,
} from '../invoke.ts';
import { isOpen } from '../relay.ts';
import {
  type AttemptKind,
  callsOf,
  insertAttempt,
  insertRelay,
  lockState,
  readAttempt,
  reopen,
  sendAttempt,
} from '../relay-store.ts';
import { type AccountContext, ageMs, markSince, type OpenRelay } from './context.ts';

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
const FIXED_BY_FEE: readonly number[] = [53, VALIDATION, UNDERPRICED, 65];
/** What is refused on and on is given up after so long, lest those behind it wait for nothing. */
const ABANDON_AFTER_MS = 30_000;
/** The same when a higher fee would help, but may not be offered. */
const ABANDON_BUMPS_AFTER_MS = 300_000;

/** Sees to it that the chain has what it is to execute next. Answers whether a node took something that none had. */
export async function submitPending(
  view: AccountContext,
  waiting: readonly OpenRelay[],
  pending: bigint,
): Promise<boolean> {
  const [first] = waiting;
  if (!first) return false;
  const firstForMs = await firstSinceMs(view, first);
  if (first.nonce > pending && firstForMs >= GAP_AFTER_MS) return fillNonceGap(view, pending, first.nonce);
  let progressed = false;
  let lost = false;
  for (const relay of waiting) {
    if (relay.nonce >= pending + MAX_AHEAD) break;
    const isNext = relay.nonce === pending;
    if (!isNext && !(lost || isUnsent(view, relay))) continue;
    if (relay.state === 'SENT') {
      if (await isKnown(view, relay)) {
        if (isNext && firstForMs >= BUMP_AFTER_MS) await bumpFee(view, relay);
        continue;
      }
      // A node that lost the next one has probably lost those behind it too.
      lost ||= isNext;
    }
    progressed = (await submit(view, relay, isNext)) || progressed;
  }
  return progressed;
}

/** How long nothing has been in front of it. */
async function firstSinceMs(view: AccountContext, first: OpenRelay): Promise<number> {
  if (first.missingSince) await markSince(view, first.id, 'missing', 'over');
  if (first.firstSince) return ageMs(view, first.firstSince);
  // Most are gone before they need a note.
  if (ageMs(view, first.createdAt) >= YOUNG_MS) await markSince(view, first.id, 'first');
  return 0;
}

const isUnsent = (view: AccountContext, { state, createdAt }: OpenRelay): boolean =>
  state === 'STORED' && ageMs(view, createdAt) >= YOUNG_MS;

async function isKnown({ chain }: AccountContext, { newest }: OpenRelay): Promise<boolean> {
  return (await chain.transactionStatus(newest.hash)).status !== 'NOT_RECEIVED';
}

async function submit(view: AccountContext, relay: OpenRelay, isNext: boolean): Promise<boolean> {
  const { db, chain, account, log } = view;
  const { newest } = relay;
  if (newest.kind !== 'FILLER' && (await view.time()) >= relay.notAfter) return bumpFee(view, relay);
  const sent = await sendAttempt(db, chain, relay.id, await readAttempt(db, chain.chainId, newest.hash));
  if (sent.outcome === 'sent') {
    if (relay.refusedSince) await markSince(view, relay.id, 'refused', 'over');
    return newest.takenAt === undefined;
  }
  log.warn({ account, relayId: relay.id, hash: toHex(newest.hash), ...sent }, 'a relay was not taken');
  if (sent.outcome === 'unknown' || sent.code === NONCE) return false;
  if (!relay.refusedSince) await markSince(view, relay.id, 'refused');
  if (!isNext) return false;
  if (isUnsendable(view, relay, sent.code)) return replaceWithFiller(view, relay);
  return FIXED_BY_FEE.includes(sent.code) && bumpFee(view, relay);
}

/** No node ever had it, and none will have it. */
function isUnsendable(view: AccountContext, { attempts, newest, refusedSince }: OpenRelay, code: number): boolean {
  if (!refusedSince || newest.kind === 'FILLER' || code === UNDERPRICED) return false;
  if (attempts.some(({ takenAt }) => takenAt !== undefined)) return false;
  const refusedMs = ageMs(view, refusedSince);
  const raises = attempts.filter(({ kind }) => kind === 'BUMP').length;
  const enough = code === VALIDATION ? 1 : FIXED_BY_FEE.includes(code) ? MAX_BUMPS : 0;
  return refusedMs >= (raises >= enough ? ABANDON_AFTER_MS : ABANDON_BUMPS_AFTER_MS);
}

/** Blocks come every few seconds: what has not been included by then waits for a better price. */
export const BUMP_AFTER_MS = 30_000;
/** By then it pays about four times as much; more would not help, unless prices have risen further. */
export const MAX_BUMPS = 5;

/**
 * Signs the relay's calls again under the same nonce, for more money, so that the chain takes one or the other. When the wallet
 * would refuse the execution as expired, something that does nothing takes its place, and those behind it can go on. Answers
 * whether a node took it.
 */
export async function bumpFee(view: AccountContext, relay: OpenRelay): Promise<boolean> {
  const { newest } = relay;
  const isOver = newest.kind === 'FILLER' || (await view.time()) >= relay.notAfter;
  if (isOver && newest.kind !== 'FILLER') return replaceWithFiller(view, relay);
  if (ageMs(view, newest.createdAt) < BUMP_AFTER_MS) return false;
  return replace(view, relay, isOver ? 'FILLER' : 'BUMP');
}

/** Gives the relay's nonce to something that does nothing. Whichever of the two the chain takes, it takes one. */
export function replaceWithFiller(view: AccountContext, relay: OpenRelay): Promise<boolean> {
  return replace(view, relay, 'FILLER');
}

async function replace(view: AccountContext, relay: OpenRelay, kind: AttemptKind): Promise<boolean> {
  const { db, chain, key, log } = view;
  const { newest } = relay;
  const about = { account: view.account, relayId: relay.id, nonce: String(relay.nonce), replaces: toHex(newest.hash) };
  if (!key) {
    log.error(about, 'a relay is stuck, and the key of its account is not configured');
    return false;
  }
  const before = feeOf((await readAttempt(db, chain.chainId, newest.hash)).transaction);
  const calls = kind === 'FILLER' ? fillerCalls(key.address, view.strk) : await callsOf(db, relay.id);
  const transaction = { chainId: chain.chainId, sender: key.address, nonce: relay.nonce, calls };
  const answer = await chain.estimate(unsigned(transaction));
  // What would revert now is sent all the same: its receipt is the truth, and our view may be old.
  const estimate = answer.ok ? answer : undefined;
  const count = relay.attempts.filter((attempt) => attempt.kind === kind).length;
  if (count >= MAX_BUMPS && (!estimate || covers(before, estimate))) return false;
  const fee = nextFee(relay, kind, before, estimate);
  if (kind === 'BUMP' && view.maxFeeFri !== undefined && maxFeeOf(fee) > view.maxFeeFri) {
    log.error({ ...about, maxFeeFri: String(view.maxFeeFri) }, 'a relay is stuck, and more is not paid for one');
    return false;
  }
  const signed = await signTransaction(view.crypto, key, transaction, fee);
  const stored = await db.tx(async (tx) => {
    if (!isOpen(await lockState(tx, relay.id))) return false;
    await insertAttempt(tx, chain.chainId, relay.id, kind, signed, view.at);
    // The hash that callers are told stays the one of their execution.
    if (kind === 'BUMP') await tx.run(sql`update relays set hash = ${toHex(signed.hash)} where id = ${relay.id}`);
    return true;
  });
  if (!stored) return false;
  log.warn({ ...about, kind, hash: toHex(signed.hash) }, 'a relay is replaced');
  return (await sendAttempt(db, chain, relay.id, signed)).outcome === 'sent';
}

/** Where nothing waits at a node that would have to be outbid, doing nothing is had for its own price. */
function nextFee({ attempts }: OpenRelay, kind: AttemptKind, before: Fee, estimate: Estimate | undefined): Fee {
  const isUnheard = attempts.every(({ takenAt, kind }) => takenAt === undefined && kind !== 'FILLER');
  return kind === 'FILLER' && isUnheard && estimate ? firstFee(estimate) : bumpedFee(before, estimate);
}

/** At one look; the next one goes on. */
const MAX_FILLED = 100;
/** Long over: a gap's transaction is never sent for anything but its nonce. */
const OVER = new Date(0);

interface Ended {
  readonly id: string;
  readonly nonce: bigint;
  readonly block_number: bigint | null;
  readonly block_hash: string | null;
}

/**
 * Nonces that nothing under way has, although the chain waits for them: what had them was taken off the chain again, or they were
 * given out and lost. The former goes on; for the latter something that does nothing is stored. Answers whether anything was done.
 */
export async function fillNonceGap(view: AccountContext, from: bigint, to: bigint): Promise<boolean> {
  const { db, chain, account, log } = view;
  const end = to - from > BigInt(MAX_FILLED) ? from + BigInt(MAX_FILLED) : to;
  const ended = await endedRelays(db, chain.chainId, account, from, end);
  for (const relay of ended) if (await isOnChain(view, relay)) return false;
  log.error(
    { account, from: String(from), to: String(end) },
    'nonces of a relayer account were lost; they are made good',
  );
  const ids = ended.map(({ id }) => id);
  await db.tx((tx) => reopen(tx, chain.chainId, sql`id = any (${ids})`));
  const known = new Set(ended.map(({ nonce }) => nonce));
  const missing = Array.from({ length: Number(end - from) }, (_, index) => from + BigInt(index));
  return fill(
    view,
    missing.filter((nonce) => !known.has(nonce)),
  );
}

function endedRelays(db: Db, chainId: bigint, account: string, from: bigint, to: bigint): Promise<Ended[]> {
  return db.rows(sql`
    select id, nonce, block_hash,
           -- Where somebody else's transaction executed it, its block says nothing of our nonce.
           case when hash in (select hash from relay_attempts where relay_id = relays.id and kind = 'OTHER')
                then null else block_number end as block_number
      from relays
     where chain_id = ${toHex(chainId)} and account = ${account} and nonce >= ${from} and nonce < ${to}`);
}

/** Its block is there, so the account has come further than the node says that we asked. */
async function isOnChain({ chain }: AccountContext, { block_number, block_hash }: Ended): Promise<boolean> {
  if (block_number === null || block_hash === null) return false;
  return (await chain.block(Number(block_number)))?.hash === BigInt(block_hash);
}

async function fill(view: AccountContext, nonces: readonly bigint[]): Promise<boolean> {
  const { db, chain, environment, account, key } = view;
  const [first] = nonces;
  if (first === undefined) return true;
  if (!key) throw new Error('Nonces were lost, and the key of the account is not configured.');
  const { chainId } = chain;
  const calls = fillerCalls(key.address, view.strk);
  const estimate = await chain.estimate(unsigned({ chainId, sender: key.address, nonce: first, calls }));
  if (!estimate.ok) throw new Error(`The fee of a filler could not be estimated: ${estimate.reason}`);
  for (const nonce of nonces) {
    const signed = await signTransaction(
      view.crypto,
      key,
      { chainId, sender: key.address, nonce, calls },
      firstFee(estimate),
    );
    const about = { environment, chainId, kind: 'gap', messageHash: 0n, wallet: key.address, notAfter: OVER } as const;
    const place = { account, nonce, calls, attempt: 'FILLER', signed } as const;
    const purpose = `gap ${account} ${nonce}`;
    await db.tx((tx) => insertRelay(tx, { ...about, ...place, purpose }));
  }
  return true;
}
