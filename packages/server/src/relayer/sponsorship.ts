import {
  ApiError,
  type BodyOf,
  type Environment,
  endpoints,
  formatTokenAmount,
  parseTokenAmount,
  type Sponsorship,
} from '@svc/protocol';
import { type Call, selector, toHex } from '@svc/starknet';
import { type Database, type Db, type Reads, sql } from '@svc/store';
import { type Actor, operatorOf, recordChange } from '../audit-log.ts';
import { padAddress } from '../chains/starknet/chain.ts';
import type { Handlers } from '../http/call.ts';
import type { Jobs } from '../http/module.ts';
import { type GaugeSource, shareRead } from '../http/monitoring.ts';
import { findFault, readAddress, readFelt, refuse } from '../http/validation.ts';
import type { JobLog } from '../jobs/job.ts';
import { lockEnvironment, type Owner } from '../organizations/organization-store.ts';
import { type DefaultLimits, dayOf, MANY_REVERTS, resetOf, STRK_DECIMALS } from './budget.ts';

interface Row {
  readonly max_daily_fri: string | null;
  readonly daily_fri: string | null;
  readonly user_daily_fri: string | null;
  readonly user_daily_transactions: number | null;
  readonly user_daily_wallets: number | null;
  readonly allowed_contracts: readonly string[] | null;
  readonly allowed_entrypoints: readonly string[] | null;
}

const columns = sql`max_daily_fri, daily_fri, user_daily_fri, user_daily_transactions, user_daily_wallets, allowed_contracts,
  allowed_entrypoints`;
const UNSET: Row = {
  max_daily_fri: null,
  daily_fri: null,
  user_daily_fri: null,
  user_daily_transactions: null,
  user_daily_wallets: null,
  allowed_contracts: null,
  allowed_entrypoints: null,
};

async function readRow(reads: Reads, { organizationId, environment }: Owner): Promise<Row> {
  const row = await reads.one<Row>(sql`
    select ${columns} from sponsorship_settings where organization_id = ${organizationId} and environment = ${environment}`);
  return row ?? UNSET;
}

const isSelector = (entrypoint: string): boolean => entrypoint.startsWith('0x');
const selectorOf = (entrypoint: string): bigint => (isSelector(entrypoint) ? BigInt(entrypoint) : selector(entrypoint));

/** Entrypoints of a wallet that make further calls, which no list is compared with. */
const EXECUTING = ['execute_from_outside', 'execute_from_outside_v2'].map(selector);

/**
 * Calls to the wallet itself (sessions, spending policies) pass the list of contracts, unless they execute others. True where a list is
 * set: then the class of the wallet must be a known one, too.
 */
export async function requireAllowedCalls(
  reads: Reads,
  owner: Owner,
  account: bigint,
  calls: readonly Call[],
): Promise<boolean> {
  const { allowed_contracts, allowed_entrypoints } = await readRow(reads, owner);
  const selectors = allowed_entrypoints && new Set(allowed_entrypoints.map(selectorOf));
  for (const [index, { to, selector: called }] of calls.entries()) {
    const isOwn = to === account && !EXECUTING.includes(called);
    if (allowed_contracts && !isOwn && !allowed_contracts.includes(padAddress(to))) {
      notAllowed(index, 'contract', 'allowedContracts');
    }
    if (selectors && !selectors.has(called)) notAllowed(index, 'entrypoint', 'allowedEntrypoints');
  }
  return allowed_contracts !== null || allowed_entrypoints !== null;
}

/** A custom class may do something else than the calls that were signed, so the lists would not bind it. */
export async function refuseCustomClass(reads: Reads, owner: Owner, classHash: bigint): Promise<void> {
  if (!(await requireAllowedCalls(reads, owner, 0n, []))) return;
  const message = `Your organisation lists what it sponsors, so wallets of the class ${toHex(classHash)} are not sponsored.`;
  throw new ApiError('sponsorship_not_allowed', message);
}

function notAllowed(index: number, what: string, list: string): never {
  const message = `The ${what} of call ${index} is not in ${list}, the list of what your organisation sponsors.`;
  throw new ApiError('sponsorship_not_allowed', message);
}

interface SponsorshipDeps {
  readonly db: Database;
  readonly sponsorLimits: DefaultLimits;
  readonly now?: () => number;
}

interface UseRow {
  readonly fri: string;
  readonly transactions: number;
  readonly wallets: number;
}

interface UserUseRow extends UseRow {
  readonly reverts: number;
  readonly slowed_until: Date | null;
}

export async function readSponsorship(
  reads: Reads,
  { sponsorLimits, now = Date.now }: Pick<SponsorshipDeps, 'sponsorLimits' | 'now'>,
  owner: Owner,
  externalUserId?: string,
): Promise<Sponsorship> {
  const { organizationId, environment } = owner;
  const at = new Date(now());
  const day = dayOf(at);
  const ofDay = sql`organization_id = ${organizationId} and environment = ${environment} and day = ${day}::date`;
  const [row, used, user] = await Promise.all([
    readRow(reads, owner),
    reads.one<UseRow>(sql`select fri, transactions, wallets from sponsored_days where ${ofDay}`),
    reads.one<UserUseRow>(sql`
      select fri, transactions, wallets, reverts, slowed_until from sponsored_user_days
       where ${ofDay} and external_user_id = ${externalUserId ?? null}`),
  ]);
  const defaults = sponsorLimits(environment);
  const max = maxOf(row, defaults.dailyFri);
  const daily = dailyOf(row, defaults.dailyFri);
  return {
    environment,
    maxDailyStrk: strkOf(max),
    dailyStrk: strkOf(daily),
    userDailyStrk: strkOf(bigOf(row.user_daily_fri) ?? defaults.userDailyFri),
    userDailyTransactions: row.user_daily_transactions ?? defaults.userDailyTransactions ?? null,
    userDailyWallets: row.user_daily_wallets ?? defaults.userDailyWallets ?? null,
    allowedContracts: row.allowed_contracts && [...row.allowed_contracts],
    allowedEntrypoints: row.allowed_entrypoints && [...row.allowed_entrypoints],
    used: { ...useOf(used), day },
    resetsAt: resetOf(at).toISOString(),
    isNearLimit: isNear(bigOf(used?.fri) ?? 0n, daily),
    user:
      externalUserId === undefined
        ? null
        : {
            externalUserId,
            ...useOf(user),
            reverts: user?.reverts ?? 0,
            slowedUntil: user?.slowed_until && user.slowed_until > at ? user.slowed_until.toISOString() : null,
          },
  };
}

const bigOf = (text: string | null | undefined): bigint | undefined => (text == null ? undefined : BigInt(text));
const strkOf = (fri: bigint | undefined): string | null =>
  fri === undefined ? null : formatTokenAmount(fri, STRK_DECIMALS);
const useOf = (use: UseRow | undefined) => ({
  strk: formatTokenAmount(bigOf(use?.fri) ?? 0n, STRK_DECIMALS),
  transactions: use?.transactions ?? 0,
  wallets: use?.wallets ?? 0,
});

type DailyRow = Pick<Row, 'max_daily_fri' | 'daily_fri'>;

const maxOf = ({ max_daily_fri }: DailyRow, fallback: bigint | undefined): bigint | undefined =>
  bigOf(max_daily_fri) ?? fallback;

function dailyOf(row: DailyRow, fallback: bigint | undefined): bigint | undefined {
  const [max, own] = [maxOf(row, fallback), bigOf(row.daily_fri)];
  if (max === undefined || own === undefined) return max ?? own;
  return own < max ? own : max;
}

const NEAR_PERCENT = 80n;
const isNear = (used: bigint, limit: bigint | undefined): boolean =>
  limit !== undefined && used * 100n >= limit * NEAR_PERCENT;

type Changes = BodyOf<typeof endpoints.updateSponsorship>;
export type OperatorChanges = Changes & { readonly maxDailyStrk?: string | null };

const friOf = (strk: string | null): bigint | null => {
  const fri = strk === null ? undefined : parseTokenAmount(strk, STRK_DECIMALS);
  return fri?.ok ? fri.value : null;
};
const SHORTEST_SELECTOR = /^0x[0-9a-fA-F]{1,64}$/;
const FUNCTION_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What is stored for each field of a request. Refuses addresses and entrypoints that cannot be read. */
const stored: { [K in keyof OperatorChanges]-?: (value: NonNullable<OperatorChanges[K]> | null) => Partial<Row> } = {
  maxDailyStrk: (value) => ({ max_daily_fri: friOf(value)?.toString() ?? null }),
  dailyStrk: (value) => ({ daily_fri: friOf(value)?.toString() ?? null }),
  userDailyStrk: (value) => ({ user_daily_fri: friOf(value)?.toString() ?? null }),
  userDailyTransactions: (value) => ({ user_daily_transactions: value }),
  userDailyWallets: (value) => ({ user_daily_wallets: value }),
  allowedContracts: (value) => ({
    allowed_contracts: value?.map((text, index) => readAddress(text, `body.allowedContracts[${index}]`)) ?? null,
  }),
  allowedEntrypoints: (value) => ({
    allowed_entrypoints: value?.map((text, index) => readEntrypoint(text, `body.allowedEntrypoints[${index}]`)) ?? null,
  }),
};

function readEntrypoint(text: string, field: string): string {
  if (isSelector(text)) {
    if (!SHORTEST_SELECTOR.test(text)) refuse(field, "must be a function's name or a selector (0x…)");
    readFelt(text, field);
  } else if (!FUNCTION_NAME.test(text)) refuse(field, "must be a function's name or a selector (0x…)");
  return text;
}

/** The daily limit of an environment is the operator's to raise; limits of users are the organisation's own, below it. */
export async function changeSponsorship(
  tx: Db,
  deps: Pick<SponsorshipDeps, 'sponsorLimits' | 'now'>,
  actor: Actor,
  changes: OperatorChanges,
): Promise<Sponsorship> {
  if (!(await lockEnvironment(tx, actor))) throw new ApiError('internal_error');
  const before = await readRow(tx, actor);
  const names = Object.keys(stored) as (keyof OperatorChanges)[];
  const given = names.filter((name) => changes[name] !== undefined);
  const parts = given.map((name) => (stored[name] as (value: unknown) => Partial<Row>)(changes[name]));
  const row: Row = Object.assign({}, before, ...parts);
  const max = maxOf(row, deps.sponsorLimits(actor.environment).dailyFri);
  if (changes.dailyStrk && max !== undefined && (bigOf(row.daily_fri) ?? 0n) > max) {
    refuse('body.dailyStrk', `must be at most ${strkOf(max)}, which the operator of this deployment allows`);
  }
  const changed = given.filter((_, index) =>
    Object.entries(parts[index] ?? {}).some(([name, value]) => !isSame(before[name as keyof Row], value)),
  );
  if (changed.length > 0) {
    await storeRow(tx, actor, row);
    const values = Object.fromEntries(changed.map((name) => [name, changes[name]]));
    await recordChange(tx, actor, { action: 'sponsorship.updated', changes: values });
  }
  return readSponsorship(tx, deps, actor);
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

async function storeRow(tx: Db, { organizationId, environment }: Owner, row: Row): Promise<void> {
  await tx.run(sql`
    insert into sponsorship_settings (organization_id, environment, ${columns})
    values (${organizationId}, ${environment}, ${row.max_daily_fri}, ${row.daily_fri}, ${row.user_daily_fri},
            ${row.user_daily_transactions}, ${row.user_daily_wallets}, ${row.allowed_contracts}, ${row.allowed_entrypoints})
    on conflict (organization_id, environment) do update
      set max_daily_fri = excluded.max_daily_fri, daily_fri = excluded.daily_fri, user_daily_fri = excluded.user_daily_fri,
          user_daily_transactions = excluded.user_daily_transactions, user_daily_wallets = excluded.user_daily_wallets,
          allowed_contracts = excluded.allowed_contracts, allowed_entrypoints = excluded.allowed_entrypoints`);
}

/** Of the operator: such as `maxDailyStrk=1000`. An empty value restores the default. */
export async function setSponsorship(
  db: Db,
  sponsorLimits: DefaultLimits,
  { organizationId, environment }: Owner,
  texts: readonly string[],
): Promise<Sponsorship> {
  const { maxDailyStrk, ...own } = Object.fromEntries(texts.map(readChange)) as OperatorChanges;
  const { body } = endpoints.updateSponsorship;
  const fault =
    findFault('body', body, { dailyStrk: maxDailyStrk ?? null }) ??
    (Object.keys(own).length > 0 ? findFault('body', body, own) : undefined);
  if (fault) throw new Error(`${fault}.`);
  const changes = { ...own, ...(maxDailyStrk !== undefined && { maxDailyStrk }) };
  return db.tx((tx) => changeSponsorship(tx, { sponsorLimits }, operatorOf(organizationId, environment), changes));
}

function readChange(text: string): [string, string | number | string[] | null] {
  const [, name = '', value = ''] = /^([^=]*)=([\s\S]*)$/.exec(text) ?? [];
  if (!Object.hasOwn(stored, name)) throw new Error(`"${text}" is not a limit and its value.`);
  if (value === '') return [name, null];
  if (name.startsWith('allowed')) return [name, value.split(',')];
  return [name, name.endsWith('Strk') ? value : Number(value)];
}

export function sponsorshipHandlers(deps: SponsorshipDeps): Pick<Handlers, 'getSponsorship' | 'updateSponsorship'> {
  return {
    getSponsorship: ({ caller, query }) => readSponsorship(deps.db.reads, deps, caller, query.externalUserId),
    updateSponsorship: ({ caller, body, transact }) => transact((tx) => changeSponsorship(tx, deps, caller, body)),
  };
}

interface BudgetWatchDeps {
  readonly db: Database;
  readonly log: JobLog;
  readonly sponsorLimits: DefaultLimits;
  readonly now?: () => number;
}

interface DayRow extends DailyRow {
  readonly organization_id: string;
  readonly environment: Environment;
  readonly fri: string;
}

/** More are not shown: those that used the most count. */
const MAX_SHOWN = 1_000;

function daysInUse(reads: Reads, day: string, which = sql`true`): Promise<DayRow[]> {
  return reads.rows(sql`
    select organization_id, environment, fri, max_daily_fri, daily_fri
      from sponsored_days left join sponsorship_settings using (organization_id, environment)
     where day = ${day}::date and ${which}
     order by fri desc limit ${MAX_SHOWN}`);
}

const FRI_PER_STRK = 1e18;

export function budgetGauges({ db, sponsorLimits, now = Date.now }: BudgetWatchDeps): GaugeSource[] {
  const readDays = shareRead(() => daysInUse(db.lists, dayOf(new Date(now()))));
  const labelsOf = ({ organization_id, environment }: DayRow) => ({ organization: organization_id, environment });
  const labelNames = ['organization', 'environment'];
  return [
    {
      name: 'svc_sponsorship_used_strk',
      help: 'Gas of today by environment: fees paid, and the most that transactions under way can cost',
      labelNames,
      read: async () =>
        (await readDays()).map((row) => ({ labels: labelsOf(row), value: Number(row.fri) / FRI_PER_STRK })),
    },
    {
      name: 'svc_sponsorship_used_ratio',
      help: 'The part of its daily limit that an environment has used today',
      labelNames,
      read: async () =>
        (await readDays()).flatMap((row) => {
          const limit = dailyOf(row, sponsorLimits(row.environment).dailyFri);
          return limit ? [{ labels: labelsOf(row), value: Number(row.fri) / Number(limit) }] : [];
        }),
    },
    {
      name: 'svc_sponsorship_slowed_users',
      help: 'Users who are slowed down because their transactions reverted after a good estimate',
      labelNames: ['environment'],
      read: async () => {
        const rows = await db.lists.rows<{ environment: string; users: bigint }>(sql`
          select environment, count(*) as users from sponsored_user_days
           where day = ${dayOf(new Date(now()))}::date and reverts > 0 and slowed_until > now() group by environment`);
        return rows.map(({ environment, users }) => ({ labels: { environment }, value: Number(users) }));
      },
    },
    {
      name: 'svc_relays_reverted',
      help: 'Sponsored transactions of a relayer account that reverted after a good estimate, in the last hour',
      labelNames: ['account'],
      read: async () =>
        (await revertsByAccount(db.lists)).map(({ account, reverts }) => ({ labels: { account }, value: reverts })),
    },
  ];
}

interface AccountReverts {
  readonly account: string;
  readonly reverts: number;
  readonly latest: number;
}

/** A window of an hour closes within an hour after the relay was stored. */
function revertsByAccount(reads: Reads): Promise<AccountReverts[]> {
  return reads.rows(sql`
    select account, count(*)::float8 as reverts,
           (count(*) filter (where updated_at > now() - make_interval(secs => ${WATCH_SECONDS})))::float8 as latest
      from relays
     where reverted and account is not null and updated_at > now() - interval '1 hour'
     group by account`);
}

const WATCH_TASK = 'watch-sponsorship';
const WATCH_SECONDS = 60;
const KEPT_DAYS = 35;
const MAX_DELETED = 10_000;

export function budgetJobs(deps: BudgetWatchDeps): Jobs {
  return {
    handlers: { [WATCH_TASK]: () => watchBudgets(deps) },
    recurring: [{ task: WATCH_TASK, everySeconds: WATCH_SECONDS }],
  };
}

/** Tells the operator of budgets that end and of users and relayers whose transactions revert; each once. */
export async function watchBudgets(deps: BudgetWatchDeps): Promise<void> {
  await warnOfBudgets(deps);
  await reportReverts(deps);
  await deleteOldDays(deps);
}

async function warnOfBudgets({ db, log, sponsorLimits, now = Date.now }: BudgetWatchDeps): Promise<void> {
  const day = dayOf(new Date(now()));
  for (const row of await daysInUse(db.lists, day, sql`warned_at is null`)) {
    const limit = dailyOf(row, sponsorLimits(row.environment).dailyFri);
    if (!isNear(BigInt(row.fri), limit)) continue;
    const { organization_id: organizationId, environment } = row;
    const warned = await db.run(sql`
      update sponsored_days set warned_at = now()
       where organization_id = ${organizationId} and environment = ${environment} and day = ${day}::date and warned_at is null`);
    const strk = { usedStrk: strkOf(BigInt(row.fri)), dailyStrk: strkOf(limit) };
    if (warned === 1) log.warn({ organizationId, environment, ...strk }, 'sponsored gas of a day nearly used up');
  }
}

interface RevertedUser {
  readonly organizationId: string;
  readonly environment: Environment;
  readonly reverts: number;
  /** One of them, which has the user: identifiers of users are not logged. */
  readonly relayId: string | null;
}

async function reportReverts({ db, log }: BudgetWatchDeps): Promise<void> {
  const users = await db.rows<RevertedUser>(sql`
    update sponsored_user_days as users set reported_reverts = reverts
     where day >= current_date - 1 and reverts > 0 and reverts >= ${MANY_REVERTS}::integer and reported_reverts < reverts
    returning organization_id as "organizationId", environment, reverts, (
      select id from relays
       where reverted and relays.organization_id = users.organization_id and relays.external_user_id = users.external_user_id
       order by updated_at desc limit 1) as "relayId"`);
  for (const user of users) log.error(user, 'sponsored transactions of a user revert, user slowed down');
  for (const { account, reverts, latest } of await revertsByAccount(db.lists)) {
    if (reverts >= MANY_REVERTS && latest > 0) {
      log.error({ account, reverts }, 'transactions of a relayer revert after a good estimate');
    }
  }
}

async function deleteOldDays({ db, now = Date.now }: BudgetWatchDeps): Promise<void> {
  await db.run(sql`
    delete from sponsored_user_days where ctid = any (array(
      select ctid from sponsored_user_days
       where day < ${dayOf(new Date(now()))}::date - ${KEPT_DAYS}::integer limit ${MAX_DELETED}))`);
}
