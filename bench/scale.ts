// How throughput grows with processes on one PostgreSQL, what an operation costs in processor time of service and
// database, in statements and rows, and where rows are hot: the ledger of one environment, the nonces of a relayer.
// Server, database and load share the machine, so costs count and rates are lower bounds. npm run bench:scale
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { connect, type Database, sql, startEmbedded } from '@svc/store';
import { credit } from '../packages/server/src/ledger/ledger.ts';
import { createOrganization, generateKey, issueKey } from '../packages/server/src/organizations/api-keys.ts';
import { App, giftBody, Owner, transferOf } from '../tests/support/app.ts';
import { keyHeaders } from '../tests/support/client.ts';
import { Sandbox } from '../tests/support/sandbox.ts';
import { newDataDir, type ServerProcess, startServer } from '../tests/support/server.ts';
import { USDC } from '../tests/support/starknet-client.ts';
import { newCodes, stockGifts } from './support/gift-stock.ts';
import { load } from './support/load.ts';
import { openPoster } from './support/post.ts';
import { type Cost, Meter } from './support/process-cost.ts';
import { redeemPaid } from './support/redeem-load.ts';

const SECONDS = Number(process.env.SECONDS_EACH ?? 4);
const CLIENTS = 32;
const PROCESSES = [1, 2, 4] as const;
const ORGANIZATIONS = 8;
const REDEEMS = 480;
const TRANSFERS = 192;
const PAYERS = 16;
const CREDITS = 1_000_000_000_000n;

const LIMITS = {
  TRUST_PROXY: '1',
  RATE_LIMIT_PER_MINUTE: '1000000000',
  CLAIM_LIMIT_PER_MINUTE: '1000000000',
  CHOSEN_CODES_PER_MINUTE: '1000000000',
  SPONSORED_PER_SECOND: '100000',
  LOG_LEVEL: 'warn',
  CRYPTO_THREADS: '1',
  SVC_DEV_PUBLIC_KEY: generateKey('public', 'development'),
  SVC_DEV_SECRET_KEY: generateKey('secret', 'development'),
};

type Headers = Record<string, string>;

const dataDir = await newDataDir();
const postgres = await startEmbedded({
  dataDir,
  settings: { max_connections: '300', shared_preload_libraries: 'pg_stat_statements' },
});
const db: Database = connect(postgres.url, { max: 4, applicationName: 'bench' });
const servers: ServerProcess[] = [];
try {
  await db.run(sql`create extension pg_stat_statements`);
  console.log(`${availableParallelism()} cores, ${CLIENTS} clients, ${SECONDS} s each`);
  const first = await start('api');
  await start('worker');
  const owner = { organizationId: first.credentials.organizationId, environment: 'development' } as const;
  await credit(db, { ...owner, type: 'GRANT', amount: CREDITS, reference: 'bench' });
  const tenants = await newTenants();
  await measure('redeem paid, 1 API 1 worker', () => redeems(first));
  await start('worker');
  await measure('redeem paid, 1 API 2 workers', () => redeems(first));
  for (const count of PROCESSES) {
    const apis = await atLeast('api', count);
    await measure(`read, ${count} API`, () => reads(apis, '/organization'));
    await measure(`list of 25 redeems, ${count} API`, () => reads(apis, '/gifts/history/redeems?limit=25'));
    await measure(`gift, one environment, ${count} API`, () => createGifts(apis, [keyHeaders(first)]));
    await measure(`gift, ${ORGANIZATIONS} environments, ${count} API`, () => createGifts(apis, tenants));
  }
  for (const relayers of ['1', '4']) {
    const api = await start('all', { SANDBOX_RELAYERS: relayers });
    await measure(`transfer, ${relayers} of 4 relayers`, await transfers(api));
    await stop(api);
  }
} finally {
  for (const server of servers.splice(0)) await server.stop();
  await db.close();
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function start(role: 'api' | 'worker' | 'all', env: Headers = {}): Promise<ServerProcess> {
  const server = await startServer({ env: { DATABASE_URL: postgres.url, SVC_ROLE: role, ...LIMITS, ...env } });
  // A worker listens too, and its address is not for clients.
  servers.push(Object.assign(server, { role }));
  return server;
}

async function stop(server: ServerProcess): Promise<void> {
  servers.splice(servers.indexOf(server), 1);
  await server.stop();
}

async function atLeast(role: 'api', count: number): Promise<ServerProcess[]> {
  const have = () => servers.filter((server) => 'role' in server && server.role === role);
  while (have().length < count) await start(role);
  return have();
}

async function newTenants(): Promise<Headers[]> {
  return Promise.all(
    Array.from({ length: ORGANIZATIONS }, async (_, index) => {
      const organizationId = await createOrganization(db, `Bench ${index}`);
      const owner = { organizationId, environment: 'development' } as const;
      await credit(db, { ...owner, type: 'GRANT', amount: CREDITS, reference: 'bench' });
      const publicKey = await issueKey(db, { ...owner, kind: 'public' });
      const secretKey = await issueKey(db, { ...owner, kind: 'secret' });
      return { 'x-api-key': publicKey.value, authorization: `Bearer ${secretKey.value}` };
    }),
  );
}

interface Done {
  readonly operations: number;
  readonly seconds: number;
}

async function reads(apis: readonly ServerProcess[], path: string): Promise<Done> {
  const loads = await Promise.all(
    apis.map((api) => load(api.credentials.baseUrl + path, keyHeaders(api), CLIENTS / apis.length, SECONDS * 1_000)),
  );
  const failures = loads.reduce((sum, each) => sum + each.failures, 0);
  if (failures > 0) throw new Error(`${failures} requests failed.`);
  return { operations: loads.reduce((sum, each) => sum + each.requests, 0), seconds: SECONDS };
}

/** For a time, over all processes and organisations in turn. */
async function createGifts(apis: readonly ServerProcess[], owners: readonly Headers[]): Promise<Done> {
  const posters = await Promise.all(
    Array.from({ length: CLIENTS }, (_, place) => {
      const api = apis[place % apis.length] as ServerProcess;
      return openPoster(`${api.credentials.baseUrl}/gifts`, owners[place % owners.length]);
    }),
  );
  const until = performance.now() + SECONDS * 1_000;
  let operations = 0;
  const body = JSON.stringify({ ...giftBody({ amount: 1 }), code: undefined, cctpFast: false });
  await Promise.all(
    posters.map(async ({ post, close }) => {
      while (performance.now() < until) {
        const answer = await post(body);
        if (!answer.includes('"id":"gift_')) throw new Error(answer);
        operations += 1;
      }
      close();
    }),
  );
  return { operations, seconds: SECONDS };
}

async function redeems(api: ServerProcess): Promise<Done> {
  const codes = newCodes(REDEEMS);
  const owner = { organizationId: api.credentials.organizationId, environment: 'development' } as const;
  await stockGifts(db, owner, codes);
  const { perSecond } = await redeemPaid(api, codes, CLIENTS);
  return { operations: REDEEMS, seconds: REDEEMS / perSecond };
}

/** Signed before the clock starts. */
async function transfers(api: ServerProcess): Promise<() => Promise<Done>> {
  const [app, sandbox] = [new App(api), new Sandbox(api)];
  const owners = Array.from({ length: PAYERS }, () => new Owner());
  for (const owner of owners) {
    await app.createWallet(owner, `payer ${randomUUID()}`);
    await sandbox.faucet(owner.address, 'USDC', '1000');
  }
  const bodies: string[] = [];
  for (let made = 0; made < TRANSFERS; made++) {
    const owner = owners[made % PAYERS] as Owner;
    const typedData = await app.prepare(owner.address, [transferOf(USDC, '0xb0b', 1n)]);
    bodies.push(JSON.stringify({ publicKey: owner.address, typedData, userSignature: owner.sign(typedData) }));
  }
  return async () => {
    const url = `${api.credentials.baseUrl}/transactions/execute-sponsored-transaction`;
    const posters = await Promise.all(Array.from({ length: PAYERS }, () => openPoster(url, keyHeaders(api))));
    const startedAt = performance.now();
    await Promise.all(
      posters.map(async ({ post, close }) => {
        for (let body = bodies.shift(); body !== undefined; body = bodies.shift()) {
          const answer = await post(body);
          if (!answer.includes('"transactionHash"')) throw new Error(answer);
        }
        close();
      }),
    );
    return { operations: TRANSFERS, seconds: (performance.now() - startedAt) / 1_000 };
  };
}

async function measure(name: string, run: () => Promise<Done>): Promise<void> {
  const meter = await Meter.start(
    db,
    servers.map(({ process }) => process.pid ?? 0),
  );
  const { operations, seconds } = await run();
  const cost = await meter.stop();
  console.log(show(name, operations, seconds, cost));
}

function show(name: string, operations: number, seconds: number, cost: Cost): string {
  const each = (value: number, digits = 2) => (value / operations).toFixed(digits);
  const busy = (cost.serviceMs + cost.databaseMs + cost.loadMs) / (seconds * 1_000);
  return [
    name.padEnd(36),
    `${(operations / seconds).toFixed(0)}/s`.padStart(8),
    `service ${each(cost.serviceMs)} ms`,
    `database ${each(cost.databaseMs)} ms`,
    `load ${each(cost.loadMs)} ms`,
    `statements ${each(cost.statements, 1)}`,
    `rows read ${each(cost.rowsRead, 1)} written ${each(cost.rowsWritten, 1)}`,
    `WAL ${each(cost.walBytes / 1_024, 1)} kB`,
    `locks ${(cost.lockWaits * 100).toFixed(0)} %`,
    `cores ${busy.toFixed(2)}`,
  ].join('  ');
}
