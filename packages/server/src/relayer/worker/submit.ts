import { toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import type { Estimate } from '../../chains/starknet/chain.ts';
import { raiseBudget } from '../budget.ts';
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
import { executesForOthers, isOpen, isPayment } from '../relay.ts';
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
import { type AccountContext, ageMs, markSince, type OpenRelay, YOUNG_MS } from './context.ts';

/** Sequencers accept nonces up to 200 ahead; the rest is for requests that send at the same time. */
const MAX_AHEAD = 150n;
/** A node that is behind shows false gaps. */
const GAP_AFTER_MS = 10_000;
const NONCE = 52;
/** Some nodes use it for a low fee, others for a transaction that can never be valid. */
const VALIDATION = 55;
const UNDERPRICED = 64;
/** Fee below current prices, below the pool's minimum, or too low to replace the pending transaction. */
const FIXED_BY_FEE: readonly number[] = [53, VALIDATION, UNDERPRICED, 65];
/** A relay that is always refused is abandoned, because it blocks those behind it. */
const ABANDON_AFTER_MS = 30_000;
const ABANDON_BUMPS_AFTER_MS = 300_000;

/** Sends what no node has, in the order of nonces. Answers whether a node accepted a new transaction. */
export async function submitPending(
  context: AccountContext,
  waiting: readonly OpenRelay[],
  pending: bigint,
): Promise<boolean> {
  const [first] = waiting;
  if (!first) return false;
  const firstForMs = await firstSinceMs(context, first);
  if (first.nonce > pending && firstForMs >= GAP_AFTER_MS) return fillNonceGap(context, pending, first.nonce);
  let progressed = false;
  let lost = false;
  for (const relay of waiting) {
    if (relay.nonce >= pending + MAX_AHEAD) break;
    const isNext = relay.nonce === pending;
    if (!isNext && !(lost || isUnsent(context, relay))) continue;
    if (relay.state === 'SENT') {
      if (await isKnown(context, relay)) {
        if (relay.missingSince) await markSince(context, relay.id, 'missing', 'over');
        if (isNext && firstForMs >= BUMP_AFTER_MS) await bumpFee(context, relay);
        continue;
      }
      lost ||= isNext;
    }
    progressed = (await submit(context, relay, isNext)) || progressed;
  }
  return progressed;
}

async function firstSinceMs(context: AccountContext, first: OpenRelay): Promise<number> {
  // A payment stays marked until a node has it: an unknown transaction with its nonce may be under way.
  if (first.missingSince && !isPayment(first.kind)) await markSince(context, first.id, 'missing', 'over');
  if (first.firstSince) return ageMs(context, first.firstSince);
  if (ageMs(context, first.createdAt) >= YOUNG_MS) await markSince(context, first.id, 'first');
  return 0;
}

const isUnsent = (context: AccountContext, { state, createdAt }: OpenRelay): boolean =>
  state === 'STORED' && ageMs(context, createdAt) >= YOUNG_MS;

async function isKnown({ chain }: AccountContext, { newest }: OpenRelay): Promise<boolean> {
  return (await chain.transactionStatus(newest.hash)).status !== 'NOT_RECEIVED';
}

async function submit(context: AccountContext, relay: OpenRelay, isNext: boolean): Promise<boolean> {
  const { db, chain, account, log } = context;
  const { newest } = relay;
  if (newest.kind !== 'FILLER' && (await context.time()) >= relay.notAfter) return bumpFee(context, relay);
  const sent = await sendAttempt(db, chain, relay.id, await readAttempt(db, chain.chainId, newest.hash));
  if (sent.outcome === 'sent') {
    if (relay.refusedSince) await markSince(context, relay.id, 'refused', 'over');
    if (relay.missingSince) await markSince(context, relay.id, 'missing', 'over');
    return newest.takenAt === undefined;
  }
  log.warn({ account, relayId: relay.id, hash: toHex(newest.hash), ...sent }, 'relay not accepted by a node');
  if (sent.outcome === 'unknown' || sent.code === NONCE) return false;
  if (!relay.refusedSince) await markSince(context, relay.id, 'refused');
  if (!isNext) return false;
  if (isUnsendable(context, relay, sent.code)) return replaceWithFiller(context, relay);
  return FIXED_BY_FEE.includes(sent.code) && bumpFee(context, relay);
}

function isUnsendable(context: AccountContext, { attempts, newest, refusedSince }: OpenRelay, code: number): boolean {
  if (!refusedSince || newest.kind === 'FILLER' || code === UNDERPRICED) return false;
  if (attempts.some(({ takenAt }) => takenAt !== undefined)) return false;
  const refusedMs = ageMs(context, refusedSince);
  const raises = attempts.filter(({ kind }) => kind === 'BUMP').length;
  const enough = code === VALIDATION ? 1 : FIXED_BY_FEE.includes(code) ? MAX_BUMPS : 0;
  return refusedMs >= (raises >= enough ? ABANDON_AFTER_MS : ABANDON_BUMPS_AFTER_MS);
}

/** Several blocks: a transaction not included by then waits for a better price. */
export const BUMP_AFTER_MS = 30_000;
export const MAX_BUMPS = 5;

/** Same calls and nonce, higher fee: the chain includes one of both. After the window a filler takes the place. */
export async function bumpFee(context: AccountContext, relay: OpenRelay): Promise<boolean> {
  const { newest } = relay;
  const isExpired = newest.kind === 'FILLER' || (await context.time()) >= relay.notAfter;
  if (isExpired && newest.kind !== 'FILLER') return replaceWithFiller(context, relay);
  if (ageMs(context, newest.createdAt) < BUMP_AFTER_MS) return false;
  return replace(context, relay, isExpired ? 'FILLER' : 'BUMP');
}

export function replaceWithFiller(context: AccountContext, relay: OpenRelay): Promise<boolean> {
  return replace(context, relay, 'FILLER');
}

async function replace(context: AccountContext, relay: OpenRelay, kind: AttemptKind): Promise<boolean> {
  const { db, chain, key, log } = context;
  const { newest } = relay;
  const about = {
    account: context.account,
    relayId: relay.id,
    nonce: String(relay.nonce),
    replaces: toHex(newest.hash),
  };
  if (!key) {
    log.error(about, 'relay stuck: key of its account not configured');
    return false;
  }
  const before = feeOf((await readAttempt(db, chain.chainId, newest.hash)).transaction);
  const calls = kind === 'FILLER' ? fillerCalls(key.address, context.strk) : await callsOf(db, relay.id);
  const transaction = { chainId: chain.chainId, sender: key.address, nonce: relay.nonce, calls };
  const answer = await chain.estimate(unsigned(transaction));
  // A transaction that would revert now is sent all the same: only its receipt is proof.
  const estimate = answer.ok ? answer : undefined;
  const count = relay.attempts.filter((attempt) => attempt.kind === kind).length;
  if (count >= MAX_BUMPS && (!estimate || covers(before, estimate))) return false;
  const fee = nextFee(relay, kind, before, estimate);
  if (kind === 'BUMP' && context.maxFeeFri !== undefined && maxFeeOf(fee) > context.maxFeeFri) {
    log.error({ ...about, maxFeeFri: String(context.maxFeeFri) }, 'relay stuck: fee limit reached');
    return false;
  }
  const signed = await signTransaction(context.crypto, key, transaction, fee);
  const stored = await db.tx(async (tx) => {
    if (!isOpen(await lockState(tx, relay.id))) return false;
    if (kind === 'BUMP' && executesForOthers(relay.kind)) await raiseBudget(tx, relay.id, maxFeeOf(fee));
    await insertAttempt(tx, chain.chainId, relay.id, kind, signed, context.at);
    // Callers see the hash of their execution, never a filler's.
    if (kind === 'BUMP') await tx.run(sql`update relays set hash = ${toHex(signed.hash)} where id = ${relay.id}`);
    return true;
  });
  if (!stored) return false;
  log.warn({ ...about, kind, hash: toHex(signed.hash) }, 'relay replaced');
  return (await sendAttempt(db, chain, relay.id, signed)).outcome === 'sent';
}

function nextFee({ attempts }: OpenRelay, kind: AttemptKind, before: Fee, estimate: Estimate | undefined): Fee {
  const isUnsent = attempts.every(({ takenAt, kind }) => takenAt === undefined && kind !== 'FILLER');
  return kind === 'FILLER' && isUnsent && estimate ? firstFee(estimate) : bumpedFee(before, estimate);
}

const MAX_FILLED = 100;
const EXPIRED = new Date(0);

interface Ended {
  readonly id: string;
  readonly nonce: bigint;
  readonly block_number: bigint | null;
  readonly block_hash: string | null;
}

/** Relays that a reorganisation dropped are reopened; nonces that were assigned and lost get a filler. */
export async function fillNonceGap(context: AccountContext, from: bigint, to: bigint): Promise<boolean> {
  const { db, chain, account, log } = context;
  const end = to - from > BigInt(MAX_FILLED) ? from + BigInt(MAX_FILLED) : to;
  const ended = await endedRelays(db, chain.chainId, account, from, end);
  for (const relay of ended) if (await isOnChain(context, relay)) return false;
  log.error({ account, from: String(from), to: String(end) }, 'nonce gap found, filling it');
  const ids = ended.map(({ id }) => id);
  await db.tx((tx) => reopen(tx, chain.chainId, sql`id = any (${ids})`));
  const known = new Set(ended.map(({ nonce }) => nonce));
  const missing = Array.from({ length: Number(end - from) }, (_, index) => from + BigInt(index));
  return fill(
    context,
    missing.filter((nonce) => !known.has(nonce)),
  );
}

function endedRelays(db: Db, chainId: bigint, account: string, from: bigint, to: bigint): Promise<Ended[]> {
  return db.rows(sql`
    select id, nonce, block_hash,
           -- The block of a third party's transaction says nothing about our nonce.
           case when hash in (select hash from relay_attempts where relay_id = relays.id and kind = 'OTHER')
                then null else block_number end as block_number
      from relays
     where chain_id = ${toHex(chainId)} and account = ${account} and nonce >= ${from} and nonce < ${to}`);
}

/** Its block exists, so the node that answered the nonce is behind. */
async function isOnChain({ chain }: AccountContext, { block_number, block_hash }: Ended): Promise<boolean> {
  if (block_number === null || block_hash === null) return false;
  return (await chain.block(Number(block_number)))?.hash === BigInt(block_hash);
}

async function fill(context: AccountContext, nonces: readonly bigint[]): Promise<boolean> {
  const { db, chain, environment, account, key } = context;
  const [first] = nonces;
  if (first === undefined) return true;
  if (!key) throw new Error('Nonce gap, and the key of the account is not configured.');
  const { chainId } = chain;
  const calls = fillerCalls(key.address, context.strk);
  const estimate = await chain.estimate(unsigned({ chainId, sender: key.address, nonce: first, calls }));
  if (!estimate.ok) throw new Error(`The fee of a filler could not be estimated: ${estimate.reason}`);
  for (const nonce of nonces) {
    const signed = await signTransaction(
      context.crypto,
      key,
      { chainId, sender: key.address, nonce, calls },
      firstFee(estimate),
    );
    const about = {
      environment,
      chainId,
      kind: 'gap',
      messageHash: 0n,
      wallet: key.address,
      notAfter: EXPIRED,
    } as const;
    const place = { account, nonce, calls, attempt: 'FILLER', signed } as const;
    const purpose = `gap ${account} ${nonce}`;
    await db.tx((tx) => insertRelay(tx, { ...about, ...place, purpose }));
  }
  return true;
}
