import type { Environment } from '@svc/protocol';
import { type Database, type Reads, sql } from '@svc/store';
import type { Jobs } from '../http/module.ts';
import { type GaugeSource, shareRead } from '../http/monitoring.ts';
import type { JobLog } from '../jobs/job.ts';
import { type DefaultLimits, dayOf, MANY_REVERTS } from './budget.ts';
import { type DailyRow, dailyOf, isNear, strkOf } from './sponsorship.ts';

export interface BudgetWatchDeps {
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
