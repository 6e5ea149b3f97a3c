import { ApiError, type Environment, formatTokenAmount } from '@svc/protocol';
import { type Db, type Reads, sql } from '@svc/store';
import type { RelayKind } from './relay.ts';

/** Undefined: no limit. Days are UTC. */
export interface SponsorLimits {
  readonly dailyFri: bigint | undefined;
  readonly userDailyFri: bigint | undefined;
  readonly userDailyTransactions: number | undefined;
  readonly userDailyWallets: number | undefined;
}

export const NO_LIMITS: SponsorLimits = {
  dailyFri: undefined,
  userDailyFri: undefined,
  userDailyTransactions: undefined,
  userDailyWallets: undefined,
};

export type DefaultLimits = (environment: Environment) => SponsorLimits;

/** A relay under way on its budget. */
export interface Budget {
  readonly organizationId: string;
  readonly externalUserId: string;
  readonly environment: Environment;
  readonly kind: RelayKind;
  /** The most that the relay can cost. */
  readonly fri: bigint;
  readonly at: Date;
}

export const STRK_DECIMALS = 18;
/** Reverts of a user in a day from which on the user is slowed down and the operator told. */
export const MANY_REVERTS = 3;
const FIRST_SLOWDOWN_MINUTES = 1;
const LONGEST_SLOWDOWN_MINUTES = 60;

export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

export function resetOf(at: Date): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + 1));
}

const limitColumns = (defaults: SponsorLimits) => sql`
  least(coalesce(max_daily_fri, ${defaults.dailyFri ?? null}::numeric), daily_fri) as daily_fri,
  coalesce(user_daily_fri, ${defaults.userDailyFri ?? null}::numeric) as user_daily_fri,
  coalesce(user_daily_transactions, ${defaults.userDailyTransactions ?? null}::integer) as user_daily_transactions,
  coalesce(user_daily_wallets, ${defaults.userDailyWallets ?? null}::integer) as user_daily_wallets`;

const limitsOf = (
  { organizationId, environment }: Pick<Budget, 'organizationId' | 'environment'>,
  defaults: SponsorLimits,
) => sql`
  select ${limitColumns(defaults)}
    from (values (1)) as always left join sponsorship_settings
      on organization_id = ${organizationId} and environment = ${environment}`;

/** Or throws `sponsorship_limit_reached`. Runs before any other lock: a nonce must not wait for one tenant's budget. */
export function reserveBudget(tx: Db, defaults: SponsorLimits, budget: Budget): Promise<void> {
  return reserveBudgets(tx, defaults, [budget]);
}

/** All or none, of one environment and day. */
export async function reserveBudgets(tx: Db, defaults: SponsorLimits, budgets: readonly Budget[]): Promise<void> {
  const [budget] = budgets;
  if (!budget) return;
  const { organizationId, environment, at } = budget;
  const users = budgets.map(({ externalUserId }) => externalUserId);
  const fris = budgets.map(({ fri }) => String(fri));
  const wallets = budgets.map(({ kind }) => (kind === 'wallet' ? 1 : 0));
  // The environment's row is locked before those of users, here and in correctBudgets.
  const row = await tx.one<{ ofEnvironment: boolean; ofUsers: boolean }>(sql`
    with allowed as materialized (${limitsOf(budget, defaults)}), wanted as materialized (
      select external_user_id, sum(fri) as fri, count(*)::integer as transactions, sum(wallets)::integer as wallets
        from unnest(${users}::text[], ${fris}::numeric[], ${wallets}::integer[]) as each (external_user_id, fri, wallets)
       group by external_user_id
    ), environment_day as (
      insert into sponsored_days as known (organization_id, environment, day, fri, transactions, wallets)
      select ${organizationId}, ${environment}, ${dayOf(at)}::date, total.fri, total.transactions, total.wallets
        from allowed, (
          select sum(fri) as fri, sum(transactions)::integer as transactions, sum(wallets)::integer as wallets from wanted
        ) as total
       where total.fri <= coalesce(daily_fri, total.fri)
      on conflict (organization_id, environment, day) do update
        set fri = known.fri + excluded.fri, transactions = known.transactions + excluded.transactions,
            wallets = known.wallets + excluded.wallets
        where known.fri + excluded.fri <= coalesce((select daily_fri from allowed), known.fri + excluded.fri)
      returning day
    ), user_day as (
      insert into sponsored_user_days as known (organization_id, environment, external_user_id, day, fri, transactions, wallets)
      select ${organizationId}, ${environment}, external_user_id, day, fri, transactions, wallets
        from environment_day, allowed, wanted
       where fri <= coalesce(user_daily_fri, fri) and transactions <= coalesce(user_daily_transactions, transactions)
         and wallets <= coalesce(user_daily_wallets, wallets)
       order by external_user_id
      on conflict (organization_id, environment, day, external_user_id) do update
        set fri = known.fri + excluded.fri, transactions = known.transactions + excluded.transactions,
            wallets = known.wallets + excluded.wallets
        where known.fri + excluded.fri <= coalesce((select user_daily_fri from allowed), known.fri + excluded.fri)
          and known.transactions + excluded.transactions
              <= coalesce((select user_daily_transactions from allowed), known.transactions + excluded.transactions)
          and (excluded.wallets = 0
               or known.wallets + excluded.wallets
                  <= coalesce((select user_daily_wallets from allowed), known.wallets + excluded.wallets))
          and (known.slowed_until is null or known.slowed_until <= ${at})
      returning external_user_id
    )
    select exists (select from environment_day) as "ofEnvironment",
           (select count(*) from user_day) = (select count(*) from wanted) as "ofUsers"`);
  if (row?.ofEnvironment && row.ofUsers) return;
  throw (
    (await findReachedLimit(tx, defaults, budget)) ??
    reached(row?.ofEnvironment ? 'userDailyStrk' : 'dailyStrk', 'Too much is under way.', resetOf(at))
  );
}

interface Use {
  readonly daily_fri: string | null;
  readonly user_daily_fri: string | null;
  readonly user_daily_transactions: number | null;
  readonly user_daily_wallets: number | null;
  readonly fri: string | null;
  readonly user_fri: string | null;
  readonly transactions: number | null;
  readonly wallets: number | null;
  readonly reverts: number | null;
  readonly slowed_until: Date | null;
}

/** The limit that leaves no room for the relay, or undefined. Takes no lock. */
export async function findReachedLimit(
  reads: Reads,
  defaults: SponsorLimits,
  budget: Budget,
): Promise<ApiError | undefined> {
  const { organizationId, environment, externalUserId, fri, kind, at } = budget;
  const day = dayOf(at);
  const use = await reads.one<Use>(sql`
    select allowed.*, of_environment.fri, of_user.fri as user_fri, of_user.transactions, of_user.wallets, of_user.reverts,
           of_user.slowed_until
      from (${limitsOf(budget, defaults)}) as allowed
      left join sponsored_days as of_environment
        on of_environment.organization_id = ${organizationId} and of_environment.environment = ${environment}
       and of_environment.day = ${day}::date
      left join sponsored_user_days as of_user
        on of_user.organization_id = ${organizationId} and of_user.environment = ${environment} and of_user.day = ${day}::date
       and of_user.external_user_id = ${externalUserId}`);
  if (!use) return undefined;
  const resetsAt = resetOf(at);
  const exceeds = (limit: string | null, used: string | null) =>
    limit !== null && BigInt(used ?? 0) + fri > BigInt(limit);
  const isFull = (limit: number | null, used: number | null) => limit !== null && (used ?? 0) >= limit;
  if (use.slowed_until && use.slowed_until > at) {
    const why = `${use.reverts} transactions of this user reverted today after a good estimate, so the next one has to wait.`;
    return reached('reverts', why, use.slowed_until);
  }
  if (isFull(use.user_daily_transactions, use.transactions)) {
    return reached('userDailyTransactions', `A user has ${use.user_daily_transactions} a day.`, resetsAt);
  }
  if (kind === 'wallet' && isFull(use.user_daily_wallets, use.wallets)) {
    return reached('userDailyWallets', `A user has ${use.user_daily_wallets} a day.`, resetsAt);
  }
  if (exceeds(use.user_daily_fri, use.user_fri)) {
    return reached('userDailyStrk', `${usedOf(use.user_daily_fri, use.user_fri)} of a user a day`, resetsAt);
  }
  if (exceeds(use.daily_fri, use.fri)) {
    return reached('dailyStrk', `${usedOf(use.daily_fri, use.fri)} of this environment a day`, resetsAt);
  }
  return undefined;
}

function usedOf(limit: string | null, used: string | null): string {
  const strk = (fri: string | null) => formatTokenAmount(BigInt(fri ?? 0), STRK_DECIMALS);
  return `${strk(used)} STRK of gas are used or reserved, of ${strk(limit)}`;
}

function reached(limit: string, why: string, resetsAt: Date): ApiError {
  const reason = why.endsWith('.') ? why : `${why}.`;
  const message = `The limit ${limit} of sponsored gas is reached. ${reason} It resets at ${resetsAt.toISOString()}.`;
  return new ApiError('sponsorship_limit_reached', message);
}

export interface Cost {
  readonly fri: bigint;
  /** Whether it counts as a transaction of the user: not where nothing was executed and nothing paid. */
  readonly counts: boolean;
  readonly reverted: boolean;
  /** Whether the private pool's fee was paid, or still can be. */
  readonly paysPool?: boolean;
}

/** The relay is locked. Repeating it, also with another cost after a reorganisation, leaves the budgets exact. */
export function correctBudget(tx: Db, relayId: string, cost: Cost): Promise<void> {
  return correctBudgets(tx, new Map([[relayId, cost]]));
}

/** Of one environment, whose row is locked before those of users. */
export async function correctBudgets(tx: Db, costs: ReadonlyMap<string, Cost>): Promise<void> {
  if (costs.size === 0) return;
  const all = [...costs].map(([id, { fri, counts, reverted, paysPool = false }]) => ({
    id,
    fri: String(fri),
    transactions: Number(counts),
    reverted,
    pays_pool: paysPool,
  }));
  const ids = [...costs.keys()];
  await tx.run(sql`
    with changed as materialized (
      select relays.id, organization_id, environment, external_user_id, budget_day, cost.transactions, cost.reverted,
             cost.fri + case when cost.pays_pool then pool_fee else 0 end as fri,
             budget_fri as fri_before, budget_transactions as transactions_before, relays.reverted as reverted_before,
             kind = 'wallet' as is_wallet
        from relays
        join jsonb_to_recordset(${JSON.stringify(all)}::jsonb) as cost (
               id text, fri numeric, transactions integer, reverted boolean, pays_pool boolean)
          on cost.id = relays.id
       where relays.id = any (${ids}) and budget_day is not null
    ), relay as (
      update relays set budget_fri = changed.fri, budget_transactions = changed.transactions, reverted = changed.reverted
        from changed where relays.id = any (${ids}) and relays.id = changed.id
    ), change as materialized (
      select organization_id, environment, external_user_id, budget_day, sum(fri - fri_before) as fri,
             sum(transactions - transactions_before)::integer as transactions,
             sum(case when is_wallet then transactions - transactions_before else 0 end)::integer as wallets,
             sum(reverted::integer - reverted_before::integer)::integer as reverts
        from changed group by organization_id, environment, external_user_id, budget_day
    ), environment_day as (
      update sponsored_days as known
         set fri = known.fri + total.fri, transactions = known.transactions + total.transactions,
             wallets = known.wallets + total.wallets
        from (
          select organization_id, environment, budget_day, sum(fri) as fri, sum(transactions)::integer as transactions,
                 sum(wallets)::integer as wallets
            from change group by organization_id, environment, budget_day) as total
       where known.organization_id = total.organization_id and known.environment = total.environment
         and known.day = total.budget_day
      returning known.organization_id, known.environment, known.day
    )
    update sponsored_user_days as known
       set fri = known.fri + change.fri, transactions = known.transactions + change.transactions,
           wallets = known.wallets + change.wallets, reverts = known.reverts + change.reverts,
           slowed_until = case
             when change.reverts > 0 and known.reverts + change.reverts >= ${MANY_REVERTS}::integer
             then now() + interval '1 minute' * least(${LONGEST_SLOWDOWN_MINUTES}::integer,
               ${FIRST_SLOWDOWN_MINUTES}::integer
                 * 2 ^ least(known.reverts + change.reverts - ${MANY_REVERTS}::integer, 10))
             else known.slowed_until end
      from environment_day join change using (organization_id, environment)
     where change.budget_day = environment_day.day
       and known.organization_id = change.organization_id and known.environment = change.environment
       and known.day = change.budget_day and known.external_user_id = change.external_user_id`);
}

/** A raised fee counts at once, also beyond a limit: a nonce that was taken has to be used. */
export async function raiseBudget(tx: Db, relayId: string, fri: bigint): Promise<void> {
  const row = await tx.one<{ reverted: boolean }>(sql`
    select reverted from relays where id = ${relayId} and budget_fri < ${fri}::numeric + pool_fee`);
  if (row) await correctBudget(tx, relayId, { fri, counts: true, reverted: row.reverted, paysPool: true });
}
