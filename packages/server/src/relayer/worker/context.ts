import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import type { StarknetNetwork } from '../../chains/networks.ts';
import { padAddress } from '../../chains/starknet/chain.ts';
import type { JobLog } from '../../jobs/job.ts';
import { type Batcher, createBatcher } from '../../util/semaphore.ts';
import { allKeys, type RelayerDeps, type RelayerKey } from '../accounts.ts';
import { type Ending, type OutcomeHandlers, storeOutcomes } from '../outcome.ts';
import type { Relay } from '../relay.ts';
import { type AttemptKind, databaseTime } from '../relay-store.ts';

export interface RelayWorkerDeps extends RelayerDeps {
  readonly outcomes: OutcomeHandlers;
  readonly log: JobLog;
  /** Of all accounts, by environment and budget. */
  readonly endings?: Batcher<readonly Ending[], number>;
}

/** They share the locks, the trips to the database and the wait for its disk. */
const MAX_TOGETHER = 8;

/**
 * Stores what accounts have ended of one budget, whose row they would wait for, together; where that fails, of each alone. Answers how
 * many relays ended.
 */
export function batchEndings({ db, outcomes }: RelayWorkerDeps, accounts: number): Batcher<readonly Ending[], number> {
  const limits = { limit: accounts, maxQueued: Number.POSITIVE_INFINITY, maxTogether: MAX_TOGETHER };
  return createBatcher(limits, async (all) => {
    const store = (endings: readonly Ending[]) => db.tx((tx) => storeOutcomes(tx, outcomes, endings));
    const together = all.length > 1 ? await store(all.flat()).catch(() => undefined) : undefined;
    if (together !== undefined) return all.map(() => ({ status: 'fulfilled', value: together }));
    const each: PromiseSettledResult<number>[] = [];
    for (const own of all) each.push(...(await Promise.allSettled([store(own)])));
    return each;
  });
}

export interface AccountContext extends Pick<RelayWorkerDeps, 'db' | 'crypto' | 'outcomes' | 'log' | 'maxFeeFri'> {
  readonly endings: Batcher<readonly Ending[], number>;
  readonly environment: Environment;
  readonly chain: StarknetNetwork['chain'];
  readonly account: string;
  /** Undefined when the account left the configuration: stored transactions are sent, new ones cannot be signed. */
  readonly key: RelayerKey | undefined;
  readonly strk: bigint;
  readonly at: Date;
  time(): Promise<Date>;
}

export async function openContext(
  deps: RelayWorkerDeps,
  environment: Environment,
  account: string,
): Promise<AccountContext> {
  const { db, crypto, outcomes, log, maxFeeFri, now, endings = batchEndings(deps, 1) } = deps;
  const { chain, time } = deps.networks.starknet(environment);
  const key = allKeys(deps, environment).find(({ address }) => padAddress(address) === account);
  const strk = BigInt(deps.networks.token(environment, 'STARKNET', 'STRK')?.address ?? 0);
  const at = await databaseTime(db.reads, now);
  return { db, crypto, outcomes, log, maxFeeFri, endings, environment, chain, account, key, strk, at, time };
}

/** A request that stored a relay sends it within this time. */
export const YOUNG_MS = 2_000;

export const ageMs = ({ at }: AccountContext, since: Date): number => at.getTime() - since.getTime();

export interface Attempt {
  readonly hash: bigint;
  readonly kind: AttemptKind;
  readonly takenAt: Date | undefined;
  readonly createdAt: Date;
}

export interface OpenRelay {
  readonly id: string;
  readonly environment: Environment;
  readonly kind: Relay['kind'];
  readonly wallet: bigint;
  readonly nonce: bigint;
  readonly state: 'STORED' | 'SENT';
  readonly notAfter: Date;
  /** The organisation and the day that it counts on. */
  readonly budget: string;
  readonly firstSince: Date | undefined;
  readonly missingSince: Date | undefined;
  readonly refusedSince: Date | undefined;
  readonly createdAt: Date;
  readonly newest: Attempt;
  readonly attempts: readonly Attempt[];
}

interface Row {
  readonly id: string;
  readonly environment: Environment;
  readonly kind: Relay['kind'];
  readonly wallet: string;
  readonly nonce: bigint;
  readonly state: 'STORED' | 'SENT';
  readonly not_after: Date;
  readonly budget: string;
  readonly first_since: Date | null;
  readonly missing_since: Date | null;
  readonly refused_since: Date | null;
  readonly created_at: Date;
  readonly attempts: readonly {
    readonly hash: string;
    readonly kind: AttemptKind;
    readonly taken_at: string | null;
    readonly created_at: string;
  }[];
}

/** A failed outcome is retried after 1, 2, 4, … up to 60 s; a third party's transaction, which takes dozens of calls, is searched every 60 s. */
const retryDelay = sql`(case outcome_failures when 0 then 60 else least(60, 2 ^ least(outcome_failures - 1, 6)) end
  * interval '1 second')`;

const openOf = ({ chain, account }: AccountContext) => sql`
  chain_id = ${toHex(chain.chainId)} and account = ${account} and state in ('STORED', 'SENT')`;
const dueOf = (context: AccountContext) => sql`
  ${openOf(context)} and (looked_at is null or looked_at + ${retryDelay} <= ${context.at})`;

export async function hasDueRelays(context: AccountContext): Promise<boolean> {
  return (await context.db.one(sql`select from relays where ${dueOf(context)} limit 1`)) !== undefined;
}

/** 0 where one is due; undefined where none is open. */
export async function nextDueMs(context: AccountContext): Promise<number | undefined> {
  const row = await context.db.one<{ at: Date | null }>(sql`
    select min(coalesce(looked_at + ${retryDelay}, ${context.at})) as at from relays where ${openOf(context)}`);
  return row?.at ? Math.max(0, row.at.getTime() - context.at.getTime()) : undefined;
}

export async function countFailure({ db, at }: AccountContext, id: string): Promise<void> {
  await db.run(sql`
    update relays set outcome_failures = outcome_failures + 1, looked_at = ${at}
     where id = ${id} and state in ('STORED', 'SENT')`);
}

export interface NonceRange {
  readonly from?: bigint;
  readonly below?: bigint;
  readonly limit: number;
}

export async function openRelays(context: AccountContext, { from, below, limit }: NonceRange): Promise<OpenRelay[]> {
  const atLeast = from === undefined ? sql`` : sql`and nonce >= ${from}`;
  const lessThan = below === undefined ? sql`` : sql`and nonce < ${below}`;
  const rows = await context.db.rows<Row>(sql`
    select id, environment, kind, wallet, nonce, state, not_after, first_since, missing_since, refused_since, created_at,
           concat_ws(' ', organization_id, budget_day) as budget, (
             select json_agg(json_build_object('hash', hash, 'kind', kind, 'taken_at', taken_at, 'created_at', created_at)
                             order by created_at desc)
               from relay_attempts where relay_id = relays.id and kind <> 'OTHER') as attempts
      from relays
     where ${dueOf(context)} ${atLeast} ${lessThan}
     order by nonce limit ${limit}`);
  return rows.map(openRelayOf);
}

function openRelayOf(all: Row): OpenRelay {
  const { wallet, not_after, first_since, missing_since, refused_since, created_at, attempts, ...row } = all;
  const read = attempts.map(({ hash, kind, taken_at, created_at }) => ({
    hash: BigInt(hash),
    kind,
    takenAt: taken_at === null ? undefined : new Date(taken_at),
    createdAt: new Date(created_at),
  }));
  const [newest] = read;
  if (!newest) throw new Error(`The relay ${row.id} has no transaction.`);
  return {
    ...row,
    wallet: BigInt(wallet),
    notAfter: not_after,
    firstSince: first_since ?? undefined,
    missingSince: missing_since ?? undefined,
    refusedSince: refused_since ?? undefined,
    createdAt: created_at,
    newest,
    attempts: read,
  };
}

const columns = {
  first: sql`first_since`,
  missing: sql`missing_since`,
  refused: sql`refused_since`,
  looked: sql`looked_at`,
};

export async function markSince(
  { db, at }: AccountContext,
  id: string,
  what: keyof typeof columns,
  over?: 'over',
): Promise<void> {
  await db.run(sql`
    update relays set ${columns[what]} = ${over ? null : at} where id = ${id} and state in ('STORED', 'SENT')`);
}
