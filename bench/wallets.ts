// Wallets created and sponsored transfers sent a second, through HTTP, with the chain inside. What share of a transfer
// is cryptography, waiting for the chain, and the database. And whether the thread that serves HTTP notices: reading a
// SKU alone and while wallets are created at full speed. npm run bench:wallets
import { connect, sql, startEmbedded } from '@svc/store';
import { App, Owner, transferOf } from '../tests/support/app.ts';
import { keyHeaders } from '../tests/support/client.ts';
import { Sandbox } from '../tests/support/sandbox.ts';
import { newDataDir, startServer } from '../tests/support/server.ts';
import { USDC } from '../tests/support/starknet-client.ts';
import { load } from './support/load.ts';
import { median } from './support/median.ts';
import { openPoster } from './support/post.ts';

const CLIENTS = 16;
const WARM_UP = 32;
const ONE_CLIENT = 100;
const EACH_OF_MANY = 320;
const ROUNDS = 3;
const SKU_MS = 4_000;
const SKU_CONNECTIONS = [1, 4, 16];
/** More than are created while SKUs are read, were nothing held back. */
const BESIDE_SKUS = 240;
/** Often enough to see short statements, seldom enough to cost nothing. */
const SAMPLE_EVERY_MS = 5;

const dataDir = await newDataDir();
const postgres = await startEmbedded({ dataDir });
const service = await startServer({
  dataDir,
  env: { DATABASE_URL: postgres.url, RATE_LIMIT_PER_MINUTE: '1000000000', LOG_LEVEL: 'warn' },
});
const db = connect(postgres.url, { max: 1, applicationName: 'bench' });
const app = new App(service);
const sandbox = new Sandbox(service);
try {
  const payers = await openPayers();
  await drive(CLIENTS, await creations(WARM_UP));
  await drive(CLIENTS, await transfers(payers, WARM_UP));
  await report('wallets created, one client', 1, () => creations(ONE_CLIENT));
  await report(`wallets created, ${CLIENTS} clients`, CLIENTS, () => creations(EACH_OF_MANY));
  await report('sponsored transfers, one client', 1, () => transfers(payers, ONE_CLIENT));
  await report(`sponsored transfers, ${CLIENTS} clients`, CLIENTS, () => transfers(payers, EACH_OF_MANY));
  for (const connections of SKU_CONNECTIONS) await besideCreations(connections);
} finally {
  await db.close();
  await service.end();
  await postgres.stop();
}

interface Requests {
  readonly path: string;
  readonly bodies: readonly string[];
}

async function openPayers(): Promise<Owner[]> {
  const owners = Array.from({ length: CLIENTS }, () => new Owner());
  for (const [index, owner] of owners.entries()) {
    await app.createWallet(owner, `payer ${index}`);
    await sandbox.faucet(owner.address, 'USDC', '1000');
  }
  return owners;
}

/** Prepared and signed now, before the clock starts: what is measured is the request that creates. */
async function creations(count: number): Promise<Requests> {
  const bodies: string[] = [];
  for (let made = 0; made < count; made++) {
    const owner = new Owner();
    bodies.push(JSON.stringify(await app.creation(owner, `user ${owner.address}`)));
  }
  return { path: '/svc-wallets', bodies };
}

async function transfers(payers: readonly Owner[], count: number): Promise<Requests> {
  const bodies: string[] = [];
  for (let made = 0; made < count; made++) {
    const owner = payers[made % payers.length] as Owner;
    const typedData = await app.prepare(owner.address, [transferOf(USDC, '0xb0b', 1n)]);
    bodies.push(JSON.stringify({ publicKey: owner.address, typedData, userSignature: owner.sign(typedData) }));
  }
  return { path: '/transactions/execute-sponsored-transaction', bodies };
}

/** So many at the same time, until all are done. Answers milliseconds. */
async function drive(clients: number, { path, bodies }: Requests, onAnswer: () => void = () => {}): Promise<number> {
  const url = service.credentials.baseUrl + path;
  const posters = await Promise.all(Array.from({ length: clients }, () => openPoster(url, app.headers)));
  const queue = [...bodies];
  const startedAt = performance.now();
  await Promise.all(
    posters.map(async ({ post, close }) => {
      for (let body = queue.shift(); body !== undefined; body = queue.shift()) {
        const answer = await post(body);
        if (!answer.includes('ash":"0x')) throw new Error(`${path}: ${answer}`);
        onAnswer();
      }
      close();
    }),
  );
  return performance.now() - startedAt;
}

async function report(name: string, clients: number, make: () => Promise<Requests>): Promise<void> {
  const rates: number[] = [];
  const shares = { cryptography: 0, chain: 0, database: 0, ms: 0, count: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const requests = await make();
    await idle();
    const before = await meters();
    const sampler = sampleDatabase();
    const ms = await drive(clients, requests);
    const busy = await sampler.stop();
    const after = await meters();
    rates.push(requests.bodies.length / (ms / 1_000));
    shares.cryptography += after.cryptographyMs - before.cryptographyMs;
    shares.chain += after.chainMs - before.chainMs;
    shares.database += busy * ms;
    shares.ms += ms;
    shares.count += requests.bodies.length;
  }
  const each = (ms: number) => `${(ms / shares.count).toFixed(1)} ms`;
  console.log(`${name}: ${median(rates).toFixed(0)}/s (rounds ${rates.map((rate) => rate.toFixed(0)).join(' ')})`);
  console.log(`  each: ${each(shares.ms * clients)} from request to answer, of it`);
  console.log(`  cryptography ${each(shares.cryptography)}, waiting for the chain ${each(shares.chain)},`);
  console.log(`  database ${each(shares.database)} (statements of the service, watchers included)`);
}

/** Until the watchers have ended everything, so that one round does not pay for the one before. */
async function idle(): Promise<void> {
  for (;;) {
    const row = await db.one<{ open: bigint }>(
      sql`select count(*) as open from relays where state in ('STORED', 'SENT')`,
    );
    if (row?.open === 0n) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function meters(): Promise<{ cryptographyMs: number; chainMs: number }> {
  const text = await (await fetch(`${service.origin}/metrics`)).text();
  const read = (name: string) => 1_000 * Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  return { cryptographyMs: read('svc_cryptography_seconds'), chainMs: read('svc_chain_requests_seconds') };
}

function sampleDatabase(): { stop(): Promise<number> } {
  let samples = 0;
  let active = 0;
  let stopped = false;
  const sampling = (async () => {
    while (!stopped) {
      const row = await db.one<{ active: bigint }>(sql`
        select count(*) as active from pg_stat_activity
         where datname = current_database() and state = 'active' and application_name like 'svc%'
           and application_name <> 'svc sandbox'`);
      samples += 1;
      active += Number(row?.active ?? 0n);
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_EVERY_MS));
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await sampling;
      return active / samples;
    },
  };
}

async function besideCreations(connections: number): Promise<void> {
  const url = `${service.credentials.baseUrl}/skus/telmex-recibo`;
  const headers = keyHeaders(service);
  const read = async (ms: number) => {
    const { requests, seconds } = await load(url, headers, connections, ms);
    return requests / seconds;
  };
  const ratios: number[] = [];
  console.log(`GET /v1/skus/{id}, connections: ${connections}`);
  for (let round = 0; round < ROUNDS; round++) {
    const requests = await creations(BESIDE_SKUS);
    await idle();
    await read(SKU_MS / 4);
    const alone = await read(SKU_MS);
    let created = 0;
    const creating = drive(CLIENTS, requests, () => {
      created += 1;
    });
    const beside = await read(SKU_MS);
    const perSecond = (created / (SKU_MS / 1_000)).toFixed(0);
    await creating;
    ratios.push(beside / alone);
    console.log(`  ${alone.toFixed(0)}/s alone, ${beside.toFixed(0)}/s beside ${perSecond} wallets/s`);
  }
  console.log(`  ratio ${median(ratios).toFixed(2)} (rounds ${ratios.map((ratio) => ratio.toFixed(2)).join(' ')})`);
}
