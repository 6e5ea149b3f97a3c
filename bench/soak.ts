// Mixed load for a given time, with a sample every minute. Fails on an unexpected answer, an error in the log, a broken
// ledger, a queue that does not drain, or a heap that grows: its lowest size in each minute is close to what is in use.
// npm run test:soak -- 60 (minutes; default 60)
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { connect, sql, startEmbedded } from '@svc/store';
import { findBrokenInvariants } from '../packages/server/testing/ledger.ts';
import { App, bodyOf, field, hashOf, Owner, transferOf } from '../tests/support/app.ts';
import { send } from '../tests/support/client.ts';
import { Sandbox } from '../tests/support/sandbox.ts';
import { errorLines, newDataDir, rssOf, startServer } from '../tests/support/server.ts';
import { USDC } from '../tests/support/starknet-client.ts';
import { median } from './support/median.ts';

const MINUTES = Number(process.argv[2] ?? 60);
const CLIENTS = 4;
/** Keeps the load steady and below what two cores can do, so that queues drain and growth is not a backlog. */
const PAUSE_MS = 150;
const SAMPLE_EVERY_MS = 60_000;
const DRAIN_LIMIT_MS = 120_000;
const HEAP_EVERY_MS = 2_000;
/** Medians of the last third over the middle third. */
const MAX_GROWTH = 1.1;
const STARTING_USDC = '1000000';
/** 50 pesos in development. */
const PRICE_RAW = 2_702_703n;

if (!(MINUTES > 0)) throw new Error('Give the minutes as a number: npm run test:soak -- 60');

const dataDir = await newDataDir();
const postgres = await startEmbedded({ dataDir });
const server = await startServer({
  dataDir,
  env: {
    DATABASE_URL: postgres.url,
    RATE_LIMIT_PER_MINUTE: '1000000',
    CLAIM_LIMIT_PER_MINUTE: '1000000',
    UNKNOWN_CODES_PER_MINUTE: '1000000',
    LOG_LEVEL: 'warn',
  },
});
const db = connect(postgres.url, { max: 1, applicationName: 'soak' });
const app = new App(server);
const sandbox = new Sandbox(server);
const paymentAddress = field<string>(await app.get('/config'), 'paymentAddress');

interface Sample {
  readonly minute: number;
  readonly rssMb: number;
  /** The lowest of its minute, of the thread that serves requests. */
  readonly heapMb: number;
  readonly connections: number;
  readonly jobs: number;
  readonly relays: number;
  readonly redeems: number;
  readonly purchases: number;
}

let lowestHeapMb = Number.POSITIVE_INFINITY;
const counts = new Map<string, number>();
const failures: string[] = [];
const samples: Sample[] = [];
const startedAt = Date.now();
const deadline = startedAt + MINUTES * 60_000;
try {
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, index) => runClient(index)));
  await sampleUntil(deadline);
  await clients;
  await drain();
  await report();
} finally {
  await db.close();
  await server.stop();
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function runClient(index: number): Promise<void> {
  const owner = new Owner();
  await app.createWallet(owner, `soak ${index}`);
  await sandbox.faucet(owner.address, 'USDC', STARTING_USDC);
  const operations = operationsOf(owner, `soak ${index}`);
  for (let turn = 0; Date.now() < deadline; turn++) {
    const [name, run] = operations[turn % operations.length] as Operation;
    try {
      await run();
      counts.set(name, (counts.get(name) ?? 0) + 1);
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : error}`);
    }
    await pause(PAUSE_MS);
  }
}

type Operation = readonly [name: string, run: () => Promise<unknown>];

function operationsOf(owner: Owner, user: string): readonly Operation[] {
  const expect = async (status: number, reply: Promise<{ status: number; body: unknown; text: string }>) =>
    bodyOf(Object.assign(await reply, { headers: new Headers() }), status);
  const strangerKeys = { 'x-api-key': `pk_dev_${'x'.repeat(32)}`, authorization: `Bearer sk_dev_${'x'.repeat(32)}` };
  const redeem = async () => {
    const { code } = await app.gift();
    await expect(200, send(`${app.baseUrl}/gifts/claim/${code}`));
    const body = { walletAddress: `0x${randomBytes(31).toString('hex')}`, chain: 'starknet' };
    await expect(201, send(`${app.baseUrl}/gifts/claim/${code}/redeem`, { method: 'POST', body }));
  };
  const purchase = async () => {
    const transactionHash = hashOf(await app.execute(owner, [transferOf(USDC, paymentAddress, PRICE_RAW)]));
    const sku = { skuId: 'totalplay-recibo', currencyAmount: 50, chain: 'STARKNET', token: 'USDC' };
    const body = { ...sku, transactionHash, skuReference: '5512345678', walletAddress: owner.address };
    await expect(200, app.post('/sku-purchases', body));
  };
  return [
    ['read a service', () => expect(200, app.get('/skus/telmex-recibo'))],
    ['read the organisation', () => expect(200, app.get('/organization'))],
    ['sponsored transfer', async () => hashOf(await app.execute(owner, [transferOf(USDC, '0xb0b', 1n)]))],
    ['list transactions', () => expect(200, app.get(`/transactions/transaction-list?walletAddress=${owner.address}`))],
    ['redeem a gift', redeem],
    ['read the wallet', () => expect(200, app.get(`/svc-wallets/by-user?externalUserId=${encodeURIComponent(user)}`))],
    ['create a wallet', () => app.createWallet(new Owner(), `${user} ${randomBytes(8).toString('hex')}`)],
    ['purchase', purchase],
    ['delete a gift', async () => expect(200, app.delete(`/gifts/${(await app.gift()).id}`))],
    ['list gifts', () => expect(200, app.get('/gifts?limit=20'))],
    ['unknown code', () => expect(200, send(`${app.baseUrl}/gifts/claim/${randomBytes(6).toString('hex')}`))],
    ['wrong keys', () => expect(401, send(`${app.baseUrl}/organization`, { headers: strangerKeys }))],
    ['bad body', () => expect(400, app.post('/gifts', { amount: -1 }))],
  ];
}

async function sampleUntil(end: number): Promise<void> {
  console.log(
    'minute  memory MB  heap MB  connections  jobs  open relays  open redeems  open purchases  requests  failures',
  );
  while (Date.now() < end) {
    await watchHeap(Math.min(Date.now() + SAMPLE_EVERY_MS, end));
    const sample = await takeSample();
    samples.push(sample);
    const requests = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const { minute, rssMb, heapMb, connections, jobs, relays, redeems, purchases } = sample;
    const memory = [rssMb.toFixed(0), heapMb.toFixed(0)];
    const columns = [minute.toFixed(1), ...memory, connections, jobs, relays, redeems, purchases, requests];
    console.log([...columns, failures.length].join('\t'));
  }
}

async function watchHeap(until: number): Promise<void> {
  lowestHeapMb = Number.POSITIVE_INFINITY;
  do {
    const text = await (await fetch(`${server.origin}/metrics`)).text();
    const bytes = Number(/^svc_nodejs_heap_size_used_bytes (\S+)$/m.exec(text)?.[1]);
    lowestHeapMb = Math.min(lowestHeapMb, bytes / 1_048_576);
    await pause(Math.max(0, Math.min(HEAP_EVERY_MS, until - Date.now())));
  } while (Date.now() < until);
}

async function takeSample(): Promise<Sample> {
  const row = await db.one<Record<'connections' | 'jobs' | 'relays' | 'redeems' | 'purchases', bigint>>(sql`
    select (select count(*) from pg_stat_activity where application_name like 'svc%') as connections,
           (select count(*) from jobs where run_at <= now()) as jobs,
           (select count(*) from relays where state in ('STORED', 'SENT')) as relays,
           (select count(*) from gift_redeems where status = 'PENDING') as redeems,
           (select count(*) from transactions where type = 'SKU_PURCHASE' and status in ('PENDING', 'PROCESSING')) as purchases`);
  if (!row) throw new Error('The database did not answer.');
  return {
    minute: (Date.now() - startedAt) / 60_000,
    rssMb: await rssOf(server.process.pid),
    heapMb: lowestHeapMb,
    connections: Number(row.connections),
    jobs: Number(row.jobs),
    relays: Number(row.relays),
    redeems: Number(row.redeems),
    purchases: Number(row.purchases),
  };
}

async function drain(): Promise<void> {
  const end = Date.now() + DRAIN_LIMIT_MS;
  for (;;) {
    const { relays, redeems, purchases } = await takeSample();
    if (relays + redeems + purchases === 0) return;
    if (Date.now() > end) {
      failures.push(`not drained: ${relays} relays, ${redeems} redeems, ${purchases} purchases`);
      return;
    }
    await pause(1_000);
  }
}

async function report(): Promise<void> {
  const third = Math.floor(samples.length / 3);
  const heap = (from: number, to: number) => median(samples.slice(from, to).map(({ heapMb }) => heapMb));
  for (const violation of await findBrokenInvariants(db)) failures.push(`ledger: ${JSON.stringify(violation)}`);
  for (const line of errorLines(server.output())) failures.push(`log: ${JSON.stringify(line)}`);
  console.log(`\n${[...counts].map(([name, count]) => `${name} ${count}`).join(', ')}`);
  if (third > 0) {
    const growth = heap(-third, samples.length) / heap(third, 2 * third);
    console.log(`heap: last third ${growth.toFixed(2)} of the middle third`);
    if (growth > MAX_GROWTH) failures.push(`the heap grew by a factor of ${growth.toFixed(2)}`);
  }
  for (const failure of failures.slice(0, 20)) console.log(failure);
  console.log(failures.length === 0 ? 'nothing failed' : `failures: ${failures.length}`);
  if (failures.length > 0) process.exitCode = 1;
}
