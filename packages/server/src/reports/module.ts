import { type AnswerOf, type endpoints, type OverviewRange, type QueryOf, usdToNumber } from '@svc/protocol';
import { type Database, type Reads, type Sql, sql } from '@svc/store';
import type { Caller } from '../http/call.ts';
import { type Module, processGauge } from '../http/module.ts';
import { deleteOldRequests, listRequests, type RequestLog } from '../http/request-log.ts';
import { balance } from '../ledger/ledger.ts';

type Endpoint = typeof endpoints.getOverview;
type Answer = AnswerOf<Endpoint>;

const HOUR = 3_600;
const ranges: Readonly<Record<OverviewRange, { buckets: number; seconds: number }>> = {
  '24h': { buckets: 24, seconds: HOUR },
  '7d': { buckets: 28, seconds: 6 * HOUR },
  '30d': { buckets: 30, seconds: 24 * HOUR },
};

export async function overview(
  lists: Reads,
  caller: Caller,
  { range = '24h' }: QueryOf<Endpoint>,
  nowMs = Date.now(),
): Promise<Answer> {
  const { buckets, seconds } = ranges[range];
  const bucketMs = seconds * 1_000;
  // Whole buckets of UTC; the last one is under way.
  const to = (Math.floor(nowMs / bucketMs) + 1) * bucketMs;
  const from = to - buckets * bucketMs;
  const [credits, counted, checklist] = await Promise.all([
    balance(lists, caller),
    countActivity(lists, caller, { start: new Date(from - buckets * bucketMs), end: new Date(to), seconds }),
    readChecklist(lists, caller),
  ]);
  const at = (bucket: number) => counted.get(bucket) ?? NOTHING;
  const current = Array.from({ length: buckets }, (_, index) => at(buckets + index));
  const previous = Array.from({ length: buckets }, (_, index) => at(index));
  return {
    range,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    bucketSeconds: seconds,
    balance: {
      totalUsd: usdToNumber(credits.total),
      availableUsd: usdToNumber(credits.available),
      heldUsd: usdToNumber(credits.held),
    },
    totals: toActivity(sumOf(current)),
    previousTotals: toActivity(sumOf(previous)),
    series: current.map((counts, index) => ({
      startsAt: new Date(from + index * bucketMs).toISOString(),
      ...toActivity(counts),
    })),
    checklist,
  };
}

interface Counts {
  readonly wallets: bigint;
  readonly transactions: bigint;
  readonly failed: bigint;
  readonly redeems: bigint;
  readonly redeemedMicros: bigint;
  readonly purchases: bigint;
  readonly purchasedMicros: bigint;
  readonly gasFri: bigint;
}

const NOTHING: Counts = {
  ...{ wallets: 0n, transactions: 0n, failed: 0n, redeems: 0n, redeemedMicros: 0n },
  ...{ purchases: 0n, purchasedMicros: 0n, gasFri: 0n },
};

type Measure = 'wallets' | 'transactions' | 'failed' | 'redeems' | 'purchases' | 'gas';

interface CountRow {
  readonly measure: Measure;
  readonly bucket: number;
  readonly count: bigint;
  readonly amount: string;
}

interface Period {
  readonly start: Date;
  readonly end: Date;
  readonly seconds: number;
}

/** Each part is a range of an index that begins with organisation and environment. */
async function countActivity(lists: Reads, caller: Caller, period: Period): Promise<Map<number, Counts>> {
  const { organizationId, environment } = caller;
  const part = (measure: Measure, table: Sql, amount: Sql, where: Sql) => sql`
    select ${measure}::text as measure,
           floor(extract(epoch from created_at - ${period.start}::timestamptz) / ${period.seconds}::integer)::integer as bucket,
           count(*) as count, coalesce(sum(${amount}), 0)::text as amount
      from ${table}
     where organization_id = ${organizationId} and environment = ${environment}
       and created_at >= ${period.start} and created_at < ${period.end} ${where}
     group by bucket`;
  const rows = await lists.rows<CountRow>(
    sql`
      ${part('wallets', sql`wallets`, sql`0`, sql``)}
      union all ${part('transactions', sql`transactions`, sql`0`, sql`and transaction_hash is not null`)}
      union all ${part('failed', sql`transactions`, sql`0`, sql`and transaction_hash is not null and status = 'FAILED'`)}
      union all ${part('redeems', sql`gift_redeems`, sql`amount_micros`, sql`and status = 'SUCCESS'`)}
      union all ${part(
        'purchases',
        sql`transactions join sku_purchases using (id)`,
        sql`price_micros`,
        sql`and type = 'SKU_PURCHASE' and status = 'SUCCESS'`,
      )}
      union all ${part('gas', sql`relays`, sql`fee`, sql`and fee is not null`)}`.unnamed,
  );
  const counted = new Map<number, Counts>();
  for (const row of rows) counted.set(row.bucket, { ...(counted.get(row.bucket) ?? NOTHING), ...fieldsOf(row) });
  return counted;
}

function fieldsOf({ measure, count, amount }: CountRow): Partial<Counts> {
  if (measure === 'redeems') return { redeems: count, redeemedMicros: BigInt(amount) };
  if (measure === 'purchases') return { purchases: count, purchasedMicros: BigInt(amount) };
  return measure === 'gas' ? { gasFri: BigInt(amount) } : { [measure]: count };
}

function sumOf(all: readonly Counts[]): Counts {
  const names = Object.keys(NOTHING) as (keyof Counts)[];
  const total = (name: keyof Counts) => all.reduce((sum, counts) => sum + counts[name], 0n);
  return Object.fromEntries(names.map((name) => [name, total(name)])) as unknown as Counts;
}

function toActivity(counts: Counts): Answer['totals'] {
  return {
    wallets: Number(counts.wallets),
    transactions: Number(counts.transactions),
    failedTransactions: Number(counts.failed),
    giftsRedeemed: Number(counts.redeems),
    giftsRedeemedUsd: usdToNumber(counts.redeemedMicros),
    purchases: Number(counts.purchases),
    purchasesUsd: usdToNumber(counts.purchasedMicros),
    gasFri: counts.gasFri.toString(),
  };
}

async function readChecklist(lists: Reads, { organizationId, environment }: Caller): Promise<Answer['checklist']> {
  const own = sql`organization_id = ${organizationId} and environment = ${environment}`;
  const found = await lists.one<Answer['checklist']>(sql`
    select exists (select from wallets where ${own}) as wallet,
           exists (select from transactions where ${own} and transaction_hash is not null and type = 'SEND') as transfer,
           exists (select from gifts where ${own} and deleted_at is null)
             or exists (select from gift_redeems where ${own}) as gift,
           exists (select from webhooks where ${own} and deleted_at is null) as webhook,
           exists (select from environments where ${own} and jwks_url is not null) as "keySet"`);
  return found ?? { wallet: false, transfer: false, gift: false, webhook: false, keySet: false };
}

interface ReportDeps {
  readonly db: Database;
  /** Undefined where it is switched off. */
  readonly requestLog: RequestLog | undefined;
  readonly loggedRequests: number;
}

const DELETE_TASK = 'delete-old-requests';

export function create({ db, requestLog, loggedRequests }: ReportDeps): Module<'getOverview' | 'listRequests'> {
  return {
    handlers: {
      getOverview: ({ caller, query }) => overview(db.lists, caller, query),
      listRequests: ({ caller, query }) => listRequests(db.lists, caller, query),
    },
    jobs: [
      {
        // Also where it is switched off: what was written before ends, too.
        handlers: { [DELETE_TASK]: (_: unknown, { signal }) => deleteOldRequests(db, loggedRequests, signal) },
        recurring: [{ task: DELETE_TASK, everySeconds: 600 }],
      },
    ],
    gauges: [
      processGauge(
        'svc_request_log_dropped',
        'Requests that the request log lost, because the database did not take them in time',
        () => requestLog?.dropped ?? 0,
      ),
    ],
  };
}
