// Gift codes redeemed a second through HTTP, many codes and one for all, paid out on the chain inside and reserved
// only. Beside pgbench with the same statements on the same PostgreSQL, in turns. Then the time of one redeem alone and
// of each of 500 at once, and of 500 gifts made at once beside one. pgbench has to be on the path. BENCH_CLIENTS: how
// many redeem at a time. npm run bench:redeem
import { rm } from 'node:fs/promises';
import { connect, type Database, sql, startEmbedded } from '@svc/store';
import type { LedgerOwner } from '../packages/server/src/ledger/ledger.ts';
import { findBrokenInvariants } from '../packages/server/testing/ledger.ts';
import { giftBody } from '../tests/support/app.ts';
import { caller } from '../tests/support/client.ts';
import { newDataDir, type RunningServer, startServer } from '../tests/support/server.ts';
import { newCodes, stockGifts } from './support/gift-stock.ts';
import { median } from './support/median.ts';
import { redeemPaid, redeemReserved } from './support/redeem-load.ts';
import { PAID_TOGETHER } from './support/redeem-script.ts';
import { type Codes, type Extent, RedeemYardstick } from './support/redeem-yardstick.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const CLIENTS = Number(process.env.BENCH_CLIENTS ?? 64);
const PAID_EACH_ROUND = 10 * CLIENTS;
const RESERVED_EACH_ROUND = 20 * CLIENTS;
/** Of each client and each connection: so many that preparing its statements does not count. */
const YARDSTICK_REDEEMS = { clients: 2 * PAID_TOGETHER, connections: 10 * PAID_TOGETHER };
/** The service's own to the database. Fewer wait for the same rows, so pgbench is quicker with these: the harder yardstick. */
const CONNECTIONS = 10;
const IDLE_REDEEMS = 100;
const AT_ONCE = 500;
const BULK = 500;

const LIMITS = {
  TRUST_PROXY: '1',
  RATE_LIMIT_PER_MINUTE: '1000000000',
  CLAIM_LIMIT_PER_MINUTE: '1000000000',
  CHOSEN_CODES_PER_MINUTE: '1000000000',
  LOG_LEVEL: 'warn',
};

interface Side {
  readonly server: RunningServer;
  readonly db: Database;
  readonly owner: LedgerOwner;
}

const dataDir = await newDataDir();
// Room for two services and pgbench; everything else is as the service starts it.
const postgres = await startEmbedded({ dataDir, settings: { max_connections: '200' } });
const sides: Side[] = [];
const yardstick = await RedeemYardstick.open(await newDatabase('bench_yardstick'));
try {
  const paying = await openSide('bench_paying', {});
  // Without workers nothing is paid out, and nothing but reserving is measured.
  const reserving = await openSide('bench_reserving', { SVC_ROLE: 'api' });
  const reserve = async (codes: readonly string[]) => redeemReserved(reserving.server, reserving.db, codes, CLIENTS);
  const pay = async (codes: readonly string[]) => {
    const { perSecond } = await redeemPaid(paying.server, codes, CLIENTS);
    await idle(paying.db);
    return perSecond;
  };
  for (const codes of ['many', 'one'] as const) {
    await compare(`reserved, codes: ${codes}`, codes, 'reserving', reserving, RESERVED_EACH_ROUND, reserve);
    await compare(`paid out, codes: ${codes}`, codes, 'whole', paying, PAID_EACH_ROUND, pay);
  }
  await latencies(paying);
  await bulk(paying);
  await audit();
} finally {
  await yardstick.close();
  for (const { db, server } of sides) {
    await db.close();
    await server.stop();
  }
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function newDatabase(name: string): Promise<string> {
  const admin = connect(postgres.url, { max: 1 });
  await admin.pool.query(`create database ${name}`);
  await admin.close();
  return Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href;
}

async function openSide(name: string, env: Record<string, string>): Promise<Side> {
  const url = await newDatabase(name);
  const server = await startServer({ env: { DATABASE_URL: url, ...LIMITS, ...env } });
  const db = connect(url, { max: 2, applicationName: 'bench' });
  const owner = { organizationId: server.credentials.organizationId, environment: 'development' } as const;
  const side = { server, db, owner };
  sides.push(side);
  return side;
}

async function compare(
  name: string,
  codes: Codes,
  extent: Extent,
  { db, owner }: Side,
  count: number,
  redeem: (codes: readonly string[]) => Promise<number>,
): Promise<void> {
  const rates = { svc: [] as number[], clients: [] as number[], connections: [] as number[] };
  const measure = {
    svc: async () => {
      const made = newCodes(codes === 'many' ? count : 1);
      await stockGifts(db, owner, made, codes === 'many' ? 1 : count);
      return redeem(codes === 'many' ? made : Array<string>(count).fill(made[0] ?? ''));
    },
    clients: () => yardstick.redeem(codes, extent, CLIENTS, YARDSTICK_REDEEMS.clients),
    connections: () => yardstick.redeem(codes, extent, CONNECTIONS, YARDSTICK_REDEEMS.connections),
  };
  const order = ['svc', 'clients', 'connections'] as const;
  for (let round = -1; round < ROUNDS; round++) {
    // The order changes from round to round; the first round warms up.
    for (const side of round % 2 ? order : order.toReversed()) {
      const rate = await measure[side]();
      if (round >= 0) rates[side].push(rate);
    }
  }
  const shown = (values: readonly number[], digits: number) => values.map((value) => value.toFixed(digits)).join(' ');
  console.log(`${name}: ${median(rates.svc).toFixed(0)}/s (rounds ${shown(rates.svc, 0)})`);
  for (const side of ['clients', 'connections'] as const) {
    const ratios = rates.svc.map((rate, round) => rate / (rates[side][round] ?? 1));
    const number = side === 'clients' ? CLIENTS : CONNECTIONS;
    console.log(
      `  pgbench with ${number} ${side}: ${median(rates[side]).toFixed(0)}/s (rounds ${shown(rates[side], 0)})`,
    );
    console.log(`  ratio ${median(ratios).toFixed(2)} (rounds ${shown(ratios, 2)})`);
  }
}

async function latencies({ server, db, owner }: Side): Promise<void> {
  const codesOf = async (count: number) => {
    const codes = newCodes(count);
    await stockGifts(db, owner, codes);
    return codes;
  };
  const report = (name: string, times: readonly number[]) => {
    const sorted = [...times].sort((a, b) => a - b);
    const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? 0;
    const last = sorted.at(-1) ?? 0;
    console.log(
      `${name}: median ${median(sorted).toFixed(0)} ms, p95 ${p95.toFixed(0)} ms, last ${last.toFixed(0)} ms`,
    );
  };
  report('one at a time', (await redeemPaid(server, await codesOf(IDLE_REDEEMS), 1)).times);
  const crowds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await idle(db);
    crowds.push(...(await redeemPaid(server, await codesOf(AT_ONCE), AT_ONCE)).times);
  }
  report(`${AT_ONCE} at once`, crowds);
  await idle(db);
}

async function audit(): Promise<void> {
  for (const db of [...sides.map((side) => side.db), yardstick.db]) {
    const violations = await findBrokenInvariants(db);
    if (violations.length > 0) throw new Error(JSON.stringify(violations));
  }
  console.log('every ledger is right');
}

async function bulk({ server, db }: Side): Promise<void> {
  const call = caller(server);
  const timed = async (path: string, body: object): Promise<number> => {
    await idle(db);
    const startedAt = performance.now();
    const reply = await call(path, { method: 'POST', body });
    if (reply.status !== 201) throw new Error(reply.text);
    return performance.now() - startedAt;
  };
  const recipients = Array.from({ length: BULK }, (_, place) => ({ email: `person-${place}@example.com` }));
  const times: Record<'single' | 'bulk', number[]> = { single: [], bulk: [] };
  for (let round = -1; round < ROUNDS; round++) {
    const singles: number[] = [];
    for (let made = 0; made < 20; made++) singles.push(await timed('/gifts', giftBody({ amount: 0.01 })));
    const together = await timed('/gifts/bulk', { name: 'Bench', amount: 0.01, cctpFast: false, recipients });
    if (round < 0) continue;
    times.single.push(median(singles));
    times.bulk.push(together);
  }
  const [single, together] = [median(times.single), median(times.bulk)];
  console.log(`one gift ${single.toFixed(1)} ms, ${BULK} at once ${together.toFixed(0)} ms`);
  console.log(`  ratio ${(together / single).toFixed(1)}, ${(together / BULK).toFixed(2)} ms a gift`);
}

/** Until payouts are followed to their end and mails are sent, so that nothing pays for what was before it. */
async function idle(db: Database): Promise<void> {
  for (;;) {
    const row = await db.one<{ open: bigint }>(sql`
      select (select count(*) from relays where state in ('STORED', 'SENT'))
             + (select count(*) from mails where state = 'QUEUED') as open`);
    if (row?.open === 0n) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
