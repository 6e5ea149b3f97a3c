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
export async function reserveBudget(tx: Db, defaults: SponsorLimits, budget: Budget): Promise<void> {
  const { organizationId, environment, externalUserId, kind, fri, at } = budget;
  const [day, wallets] = [dayOf(at), kind === 'wallet' ? 1 : 0];
  // The environment's row is locked before the user's, here and in correctBudget.
  const row = await tx.one<{ ofEnvironment: boolean; ofUser: boolean }>(sql`
    with allowed as materialized (${limitsOf(budget, defaults)}), environment_day as (
      insert into sponsored_days as known (organization_id, environment, day, fri, transactions, wallets)
      select ${organizationId}, ${environment}, ${day}::date, ${fri}::numeric, 1, ${wallets}::integer from allowed
       where ${fri}::numeric <= coalesce(daily_fri, ${fri}::numeric)
      on conflict (organization_id, environment, day) do update
        set fri = known.fri + excluded.fri, transactions = known.transactions + 1, wallets = known.wallets + excluded.wallets
        where known.fri + excluded.fri <= coalesce((select daily_fri from allowed), known.fri + excluded.fri)
      returning day
    ), user_day as (
      insert into sponsored_user_days as known (organization_id, environment, external_user_id, day, fri, transactions, wallets)
      select ${organizationId}, ${environment}, ${externalUserId}, day, ${fri}::numeric, 1, ${wallets}::integer
        from environment_day, allowed
       where ${fri}::numeric <= coalesce(user_daily_fri, ${fri}::numeric)
         and 1 <= coalesce(user_daily_transactions, 1)
         and ${wallets}::integer <= coalesce(user_daily_wallets, ${wallets}::integer)
      on conflict (organization_id, environment, day, external_user_id) do update
        set fri = known.fri + excluded.fri, transactions = known.transactions + 1, wallets = known.wallets + excluded.wallets
        where known.fri + excluded.fri <= coalesce((select user_daily_fri from allowed), known.fri + excluded.fri)
          and known.transactions < coalesce((select user_daily_transactions from allowed), known.transactions + 1)
          and (excluded.wallets = 0
               or known.wallets < coalesce((select user_daily_wallets from allowed), known.wallets + 1))
          and (known.slowed_until is null or known.slowed_until <= ${at})
      returning day
    )
    select exists (select from environment_day) as "ofEnvironment", exists (select from user_day) as "ofUser"`);
  if (row?.ofUser) return;
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
export async function correctBudget(
  tx: Db,
  relayId: string,
  { fri, counts, reverted, paysPool = false }: Cost,
): Promise<void> {
  const cost = sql`(${fri}::numeric + case when ${paysPool}::boolean then pool_fee else 0 end)`;
  await tx.run(sql`
    with before as materialized (
      select organization_id, environment, external_user_id, budget_day, ${cost} - budget_fri as fri,
             ${Number(counts)}::integer - budget_transactions as transactions,
             case kind when 'wallet' then ${Number(counts)}::integer - budget_transactions else 0 end as wallets,
             ${reverted}::boolean::integer - reverted::integer as reverts
        from relays where id = ${relayId} and budget_day is not null
    ), relay as (
      update relays set budget_fri = ${cost}, budget_transactions = ${Number(counts)}::integer, reverted = ${reverted}
       where id = ${relayId} and budget_day is not null
    ), environment_day as (
      update sponsored_days as known
         set fri = known.fri + before.fri, transactions = known.transactions + before.transactions,
             wallets = known.wallets + before.wallets
        from before
       where known.organization_id = before.organization_id and known.environment = before.environment
         and known.day = before.budget_day
      returning before.*
    )
    update sponsored_user_days as known
       set fri = known.fri + change.fri, transactions = known.transactions + change.transactions,
           wallets = known.wallets + change.wallets, reverts = known.reverts + change.reverts,
           slowed_until = case
             when change.reverts > 0 and known.reverts + 1 >= ${MANY_REVERTS}::integer
             then now() + interval '1 minute' * least(${LONGEST_SLOWDOWN_MINUTES}::integer,
               ${FIRST_SLOWDOWN_MINUTES}::integer * 2 ^ least(known.reverts + 1 - ${MANY_REVERTS}::integer, 10))
             else known.slowed_until end
      from environment_day as change
     where known.organization_id = change.organization_id and known.environment = change.environment
       and known.day = change.budget_day and known.external_user_id = change.external_user_id`);
}

/** A raised fee counts at once, also beyond a limit: a nonce that was taken has to be used. */
export async function raiseBudget(tx: Db, relayId: string, fri: bigint): Promise<void> {
  const row = await tx.one<{ reverted: boolean }>(sql`
    select reverted from relays where id = ${relayId} and budget_fri < ${fri}::numeric + pool_fee`);
  if (row) await correctBudget(tx, relayId, { fri, counts: true, reverted: row.reverted, paysPool: true });
}
