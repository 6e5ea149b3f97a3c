import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import type { Block, StarknetChain } from '../../chains/starknet/chain.ts';
import { createSemaphore } from '../../util/semaphore.ts';
import { isTraced } from '../../util/trace.ts';
import {
  executionOfRelay,
  findExecutingTransaction,
  findExecutionBlock,
  isExecuted,
  NonceUnreadableError,
} from '../execution-proof.ts';
import { type Included, recordOutcome } from '../outcome.ts';
import { isPayment, type Relay } from '../relay.ts';
import { insertForeignAttempt, reopen } from '../relay-store.ts';
import { isAccepted, recordUnknownNonce } from '../unknown-nonces.ts';
import {
  type AccountContext,
  ageMs,
  countFailure,
  markSince,
  type OpenRelay,
  type RelayWorkerDeps,
  YOUNG_MS,
} from './context.ts';

/** They go in one request. */
const READS_AT_ONCE = 50;
/** Longer than a node shows nonces before receipts, or lags behind another. */
const DISPLACED_AFTER_MS = 300_000;

/** Until then a transaction that a node took may be missing at another. */
const UNSEEN_AFTER_MS = 3_000;
const WAITING_AFTER_MS = 30_000;

/** `LATER`: not in a sealed block yet, or not readable now. `UNKNOWN`: the chain has none of its transactions. */
type Inclusion = Included | 'LATER' | 'UNKNOWN';

export async function recordIncluded(context: AccountContext, relays: readonly OpenRelay[]): Promise<boolean> {
  const blockAt = blockReader(context);
  let ended = false;
  for (let start = 0; start < relays.length; start += READS_AT_ONCE) {
    const some = relays.slice(start, start + READS_AT_ONCE);
    const all = await Promise.all(
      some.map(async (relay) => ({ relay, found: await readInclusion(context, relay, blockAt) })),
    );
    ended = (await endRelays(context, all)) || ended;
  }
  return ended;
}

/**
 * For relays that a node took a moment ago: reads receipts in the order of nonces up to the first that is in no block, in place of the
 * account's nonces. False when there is a doubt that only a whole pass can settle.
 */
export async function recordSent(context: AccountContext, relays: readonly OpenRelay[]): Promise<boolean> {
  if (relays.some((relay) => isDoubtful(context, relay))) return false;
  // The newest block is likely the one of the first relay, and comes with its receipt.
  const blockAt = blockReader(context, context.chain.block('latest'));
  let size = 1;
  for (let start = 0; start < relays.length; size = READS_AT_ONCE) {
    const some = relays.slice(start, start + size);
    const all = await Promise.all(
      some.map(async (relay) => ({ relay, found: await readInclusion(context, relay, blockAt) })),
    );
    const missing = all.find(({ found }) => found === 'LATER' || found === 'UNKNOWN');
    await endRelays(context, missing ? all.slice(0, all.indexOf(missing)) : all);
    if (missing) return missing.found === 'LATER' || ageMs(context, missing.relay.createdAt) < UNSEEN_AFTER_MS;
    start += some.length;
  }
  return true;
}

function isDoubtful(context: AccountContext, relay: OpenRelay): boolean {
  const { state, attempts, firstSince, missingSince, refusedSince, createdAt } = relay;
  if (attempts.length > 1 || firstSince || missingSince || refusedSince) return true;
  return ageMs(context, createdAt) >= (state === 'STORED' ? YOUNG_MS : WAITING_AFTER_MS);
}

type BlockAt = (number: number) => Promise<Block | undefined>;

function blockReader({ chain }: AccountContext, latest?: Promise<Block | undefined>): BlockAt {
  const blocks = new Map<number, Promise<Block | undefined>>();
  const known = latest?.catch(() => undefined);
  return async (number) => {
    const newest = await known;
    if (newest?.number === number) return newest;
    const block = blocks.get(number) ?? chain.block(number);
    blocks.set(number, block);
    return block;
  };
}

function readInclusion(context: AccountContext, relay: OpenRelay, blockAt: BlockAt): Promise<Inclusion> {
  return findInclusion(context, relay, blockAt).catch((error: unknown) => {
    context.log.warn({ relayId: relay.id, err: error }, 'relay receipt not readable');
    return 'LATER';
  });
}

async function findInclusion({ chain }: AccountContext, { attempts }: OpenRelay, blockAt: BlockAt): Promise<Inclusion> {
  for (const { hash, kind } of attempts) {
    const receipt = await chain.receipt(hash);
    if (!receipt) continue;
    if (!receipt.accepted || receipt.blockNumber === undefined) return 'LATER';
    const block = await blockAt(receipt.blockNumber);
    return block && block.hash === receipt.blockHash ? { receipt, block, filler: kind === 'FILLER' } : 'LATER';
  }
  return 'UNKNOWN';
}

interface Read {
  readonly relay: OpenRelay;
  readonly found: Inclusion;
}

/** Of each budget together what was executed, where it touches rows of its own only; the others one by one. */
async function endRelays(context: AccountContext, all: readonly Read[]): Promise<boolean> {
  const isCommon = ({ relay: { kind }, found }: Read) =>
    !isTraced() && (kind === 'calls' || kind === 'wallet') && typeof found === 'object' && isExecution(found);
  const groups = Object.values(Object.groupBy(all.filter(isCommon), ({ relay }) => relay.budget));
  const ended = await Promise.all(groups.map((group = []) => endTogether(context, group)));
  let isAny = ended.includes(true);
  for (const read of all) {
    if (!isCommon(read)) isAny = (await endRelay(context, read)) || isAny;
  }
  return isAny;
}

async function endTogether(context: AccountContext, reads: readonly Read[]): Promise<boolean> {
  const { endings, environment, log, account } = context;
  const own = reads.flatMap(({ relay, found }) =>
    typeof found === 'object' ? [{ relay, included: found, own: found }] : [],
  );
  try {
    return (await endings(own, `${environment} ${reads[0]?.relay.budget}`)) > 0;
  } catch (error) {
    if (own.length === 1 && own[0]) return failed(context, own[0].relay, error);
    log.warn({ account, relays: reads.length, err: error }, 'relay outcomes not recorded together, trying one by one');
  }
  let isAny = false;
  for (const read of reads) isAny = (await endRelay(context, read)) || isAny;
  return isAny;
}

async function endRelay(context: AccountContext, { relay, found }: Read): Promise<boolean> {
  const { db, outcomes } = context;
  if (found === 'LATER') return false;
  try {
    if (found === 'UNKNOWN' && !(await isDisplaced(context, relay))) return false;
    const own = found === 'UNKNOWN' ? undefined : found;
    const other = isExecution(own) ? 'NONE' : await findForeignExecution(context, relay);
    if (other === 'UNIDENTIFIED') return false;
    return await recordOutcome(db, outcomes, relay, other === 'NONE' ? own : other, own ?? null);
  } catch (error) {
    return failed(context, relay, error);
  }
}

async function failed(context: AccountContext, { id }: OpenRelay, error: unknown): Promise<false> {
  context.log.error({ relayId: id, err: error }, 'relay outcome not recorded, retrying');
  await countFailure(context, id);
  return false;
}

const isExecution = (own: Included | undefined): boolean =>
  own !== undefined && !own.filler && own.receipt.status !== 'REVERTED';

async function isDisplaced(context: AccountContext, relay: OpenRelay): Promise<boolean> {
  const { db, chain, account, log } = context;
  const { id, kind, nonce, missingSince, attempts } = relay;
  if (!missingSince) await markSince(context, id, 'missing');
  if (!missingSince || ageMs(context, missingSince) < DISPLACED_AFTER_MS) return false;
  const used = (await chain.nonceAt(BigInt(account))) ?? 0n;
  const known = await Promise.all(attempts.map(({ hash }) => chain.transactionStatus(hash)));
  if (used <= nonce || known.some(({ status }) => status !== 'NOT_RECEIVED')) return false;
  const hashes = attempts.map(({ hash }) => toHex(hash));
  log.error({ account, relayId: id, nonce: String(nonce), hashes }, 'relay nonce consumed by a foreign transaction');
  await recordUnknownNonce(db, chain.chainId, account, nonce);
  // It may be this very payment, signed again after the backup that is running here: the operator's `reconcile` tells.
  if (!isPayment(kind) || (await isAccepted(db, chain.chainId, account, nonce))) return true;
  await markSince(context, id, 'looked');
  return false;
}

/** Any holder of the signature can execute it, so the wallet decides. `UNIDENTIFIED`: its transaction is not found. */
export async function findForeignExecution(
  context: AccountContext,
  relay: OpenRelay,
): Promise<Included | 'NONE' | 'UNIDENTIFIED'> {
  const { db, chain, log } = context;
  const relayed = await executionOfRelay(db, relay);
  if (!relayed) return 'NONE';
  try {
    if (!(await isExecuted(chain, relayed, 'latest'))) return 'NONE';
  } catch (error) {
    if (error instanceof NonceUnreadableError) return 'NONE';
    throw error;
  }
  const head = await chain.blockNumber();
  const number = (await isExecuted(chain, relayed, head)) ? await findExecutionBlock(chain, relayed, head) : undefined;
  const receipt = number === undefined ? undefined : await findExecutingTransaction(db, chain, relayed, number);
  const block = receipt?.blockNumber === undefined ? undefined : await chain.block(receipt.blockNumber);
  if (!receipt || !block || block.hash !== receipt.blockHash) {
    await markSince(context, relay.id, 'looked');
    log.error({ relayId: relay.id, block: number }, 'relay executed by a third party, transaction not identified');
    return 'UNIDENTIFIED';
  }
  const hash = receipt.transactionHash;
  await insertForeignAttempt(db, chain.chainId, relay.id, hash);
  log.warn({ relayId: relay.id, hash: toHex(hash) }, 'relay executed by a third party');
  return { receipt, block, filler: false };
}

const MAX_RECHECKED = 500;
const RECHECKS_AT_ONCE = 8;
/** The last check comes after the window, once its last transactions are in a block. */
const RECHECK_MARGIN_MS = 180_000;

interface Row {
  readonly id: string;
  readonly kind: Relay['kind'];
  readonly wallet: string;
  readonly not_after: Date;
}

/** A failed relay can be executed by a third party until its window ends. Where the wallet proves that, the relay is reopened. */
export async function recheckUnexecuted(deps: RelayWorkerDeps, environment: Environment): Promise<void> {
  const { networks, log } = deps;
  const { chain, time } = networks.starknet(environment);
  const rows = await relaysToRecheck(deps.db, chain.chainId, new Date((await time()).getTime() - RECHECK_MARGIN_MS));
  const limited = createSemaphore({ limit: RECHECKS_AT_ONCE, maxQueued: MAX_RECHECKED });
  const recheck = (row: Row) =>
    reopenExecuted(deps, chain, row).catch((error: unknown) =>
      log.warn({ relayId: row.id, err: error }, 'wallet not readable, relay recheck skipped'),
    );
  await Promise.all(rows.map((row) => limited(() => recheck(row))));
}

function relaysToRecheck(db: Db, chainId: bigint, notBefore: Date): Promise<Row[]> {
  return db.rows(sql`
    update relays set looked_at = now()
     where state in ('REVERTED', 'VOIDED') and id in (
       select id from relays
        where chain_id = ${toHex(chainId)} and state in ('REVERTED', 'VOIDED') and account is not null
          and kind not in ('gap', 'payout', 'burn', 'refund') and not_after > ${notBefore}
        order by looked_at nulls first, not_after limit ${MAX_RECHECKED})
    returning id, kind, wallet, not_after`);
}

async function reopenExecuted({ db, log }: RelayWorkerDeps, chain: StarknetChain, row: Row): Promise<void> {
  const { id, kind, wallet, not_after } = row;
  const relayed = await executionOfRelay(db, { id, kind, wallet: BigInt(wallet), notAfter: not_after });
  if (!relayed || !(await isExecuted(chain, relayed, 'latest'))) return;
  log.warn({ relayId: id }, 'relay executed after it was recorded as failed');
  await db.tx((tx) => reopen(tx, chain.chainId, sql`id = ${id}`));
}
