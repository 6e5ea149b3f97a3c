// How the time to list a wallet's transactions grows with the table and the wallet. Yardstick: 200 among 10,000; beside
// it 200 and 100,000 among 5,000,000. Every answer is compared with one found by counting and sorting. Then how fast
// records are stored when all go to one wallet, beside as many to wallets of their own. npm run bench:list
import { rm } from 'node:fs/promises';
import { connect, type Database, migrate, sql, startEmbedded } from '@svc/store';
import { serverMigrations } from '../packages/server/src/database.ts';
import { countHistory, type ListQuery, listTransactions } from '../packages/server/src/transactions/history.ts';
import type { RecordOwner } from '../packages/server/src/transactions/record-store.ts';
import { newId } from '../packages/server/src/util/ids.ts';
import { newDataDir } from '../tests/support/server.ts';
import { addressOf, CROWDED_DAY, fillTransactions, QUIET_RECORDS } from './support/fill-transactions.ts';
import { median } from './support/median.ts';
import { checkAnswer, checkCounts } from './support/plain-list.ts';
import { storeRecords } from './support/store-records.ts';

const SMALL = { rows: 10_000, busyRecords: 0 };
const LARGE = { rows: 5_000_000, busyRecords: 100_000 };
const QUIET_WALLETS = 10;
const WARM_UP = 20;
const ROUNDS = 150;
const LIMIT = 10;

type Filter = Omit<ListQuery, 'walletAddress' | 'page' | 'limit'>;
const FILTERS: Record<string, Filter> = {
  'no filter': {},
  function: { calledFunction: 'approve' },
  year: { year: 2025 },
  month: { year: 2025, month: 3 },
  'a crowded day': CROWDED_DAY,
  'function and year': { calledFunction: 'approve', year: 2025 },
};
const PAGES: Record<string, (pages: number) => number> = {
  first: () => 1,
  middle: (pages) => Math.max(1, Math.ceil(pages / 2)),
  last: (pages) => Math.max(1, pages),
  any: (pages) => 1 + Math.floor(Math.random() * Math.max(1, pages)),
};

interface Scene {
  readonly db: Database;
  readonly owner: RecordOwner;
  readonly wallet: (round: number) => string;
}

const quiet = (round: number) => addressOf(`quiet ${round % QUIET_WALLETS}`);
const dataDir = await newDataDir();
// Room for the log of the filling; everything else is as the service starts it.
const postgres = await startEmbedded({ dataDir, settings: { max_wal_size: '8GB' } });
const databases: Database[] = [];
try {
  const small = await filled('bench_small', SMALL);
  const large = await filled('bench_large', LARGE);
  const scenes: Scene[] = [
    { ...small, wallet: quiet },
    { ...large, wallet: quiet },
    { ...large, wallet: () => addressOf('busy') },
  ];
  const [few, many] = [SMALL.rows, LARGE.rows].map((rows) => rows.toLocaleString('en'));
  console.log(`ms: ${QUIET_RECORDS} of ${few} | ${QUIET_RECORDS} of ${many} | ${LARGE.busyRecords} of ${many}`);
  const growth: number[][] = [[], []];
  for (const [name, filter] of Object.entries(FILTERS)) {
    for (const [pageName, choose] of Object.entries(PAGES)) {
      const [yardstick = 0, ...others] = await measure(scenes, filter, choose);
      const ratios = others.map((ms) => ms / yardstick);
      for (const [i, ratio] of ratios.entries()) growth[i]?.push(ratio);
      const times = [yardstick, ...others].map((ms) => ms.toFixed(2)).join(' | ');
      console.log(
        `${`${name}, ${pageName} page`.padEnd(32)} ${times}   × ${ratios.map((x) => x.toFixed(2)).join(', ')}`,
      );
    }
  }
  const [table = [], wallet = []] = growth;
  console.log(
    `the table grew by 500, the time by ${median(table).toFixed(2)} (at worst ${Math.max(...table).toFixed(2)})`,
  );
  console.log(
    `the wallet also by 500, the time by ${median(wallet).toFixed(2)} (at worst ${Math.max(...wallet).toFixed(2)})`,
  );
  const { toOneWallet, toMany, countedPerSecond } = await storeRecords(large.db, large.owner);
  const [one, own] = [toOneWallet, toMany].map((rate) => rate.toFixed(0));
  console.log(
    `stored: ${one}/s to one wallet, ${own}/s to wallets of their own (${(toOneWallet / toMany).toFixed(2)})`,
  );
  console.log(`counted afterwards: ${countedPerSecond.toFixed(0)} entries/s`);
  for (const { db } of [small, large]) await checkCounts(db.url);
  console.log('every answer and every count was right');
} finally {
  await Promise.all(databases.map((db) => db.close()));
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function filled(name: string, size: typeof SMALL): Promise<{ db: Database; owner: RecordOwner }> {
  const startedAt = performance.now();
  const admin = connect(postgres.url, { max: 1 });
  await admin.pool.query(`create database ${name}`);
  await admin.close();
  const url = Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href;
  await migrate(url, [serverMigrations]);
  const db = connect(url);
  databases.push(db);
  const owner: RecordOwner = { organizationId: newId('org'), environment: 'development' };
  await db.run(sql`insert into organizations (id, name) values (${owner.organizationId}, 'Bench')`);
  await db.run(sql`
    insert into environments (organization_id, environment) values (${owner.organizationId}, ${owner.environment})`);
  await fillTransactions(url, { ...size, owner, quietWallets: QUIET_WALLETS });
  await countHistory(db);
  console.log(`${size.rows.toLocaleString('en')} rows in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  return { db, owner };
}

/** The median of each scene, in milliseconds. */
async function measure(scenes: readonly Scene[], filter: Filter, choose: (pages: number) => number): Promise<number[]> {
  const times: number[][] = scenes.map(() => []);
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const [i, { db, owner, wallet }] of scenes.entries()) {
      const query = { walletAddress: wallet(round + WARM_UP), limit: LIMIT, ...filter };
      const { totalPages } = await listTransactions(db.reads, owner, query);
      const paged = { ...query, page: choose(totalPages) };
      const startedAt = performance.now();
      const answer = await listTransactions(db.reads, owner, paged);
      if (round >= 0) times[i]?.push(performance.now() - startedAt);
      else if (round === -1) await checkAnswer(db, owner, paged, answer);
    }
  }
  return times.map(median);
}
