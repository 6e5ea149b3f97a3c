// Sponsored transfers and wallets a second with 16 clients, plain transfers of the same sandbox beside them, and requests
// to the node for each until it is final. BENCH_OTHER names the checkout of another version, measured in turns with this
// one; BENCH_PROFILE a folder for profiles of the processor. npm run bench:relays
import path from 'node:path';
import { connect, type Database, sql, startEmbedded } from '@svc/store';
import { App, Owner, transferOf } from '../tests/support/app.ts';
import { payment, Sandbox, type Sender } from '../tests/support/sandbox.ts';
import { newDataDir, type ServerProcess, startServer } from '../tests/support/server.ts';
import { USDC } from '../tests/support/starknet-client.ts';
import { median } from './support/median.ts';
import { openPoster } from './support/post.ts';

const CLIENTS = 16;
const WARM_UP = 96;
const EACH = Number(process.env.BENCH_EACH ?? 320);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const IDLE_MS = 2_000;
const { BENCH_OTHER, BENCH_PROFILE } = process.env;

interface Side {
  readonly name: string;
  readonly service: ServerProcess;
  readonly db: Database;
  readonly app: App;
  readonly payers: readonly Owner[];
  stop(): Promise<void>;
}

interface Measured {
  readonly perSecond: number;
  readonly requestsEach: number;
}

type Kind = 'wallets' | 'transfers';
const senders: (Sender & { nonce: number })[] = [];
const own = await open('this version', undefined);
const sides = [own];
if (BENCH_OTHER) sides.push(await open('the other', path.resolve(BENCH_OTHER)));
try {
  await openSenders();
  for (const side of sides) {
    for (const kind of ['wallets', 'transfers'] as const) await measure(side, kind, WARM_UP);
  }
  await plain(WARM_UP);
  const results = new Map(sides.map(({ name }) => [name, noResults()]));
  const plainRates: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of ['wallets', 'transfers'] as const) {
      for (const side of sides) results.get(side.name)?.[kind].push(await measure(side, kind, EACH));
    }
    plainRates.push(await plain(2 * EACH));
  }
  console.log(`plain transfers: ${median(plainRates).toFixed(0)}/s (${shown(plainRates)})`);
  for (const kind of ['wallets', 'transfers'] as const) report(kind, results, plainRates);
} finally {
  for (const side of sides) await side.stop();
}

function noResults(): Record<Kind, Measured[]> {
  return { wallets: [], transfers: [] };
}

/** Each version with the database that it starts itself. */
async function open(name: string, checkout: string | undefined): Promise<Side> {
  const dataDir = await newDataDir();
  const store =
    checkout && ((await import(path.join(checkout, 'packages/store/src/index.ts'))) as typeof import('@svc/store'));
  const postgres = await (store ? store.startEmbedded : startEmbedded)({ dataDir });
  const profile = BENCH_PROFILE && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${BENCH_PROFILE}/${name.split(' ')[1]}` };
  const service = await startServer({
    dataDir,
    ...(checkout && { main: path.join(checkout, 'packages/server/src/main.ts') }),
    env: { DATABASE_URL: postgres.url, RATE_LIMIT_PER_MINUTE: '1000000000', LOG_LEVEL: 'warn', ...profile },
  });
  const db = connect(postgres.url, { max: 1, applicationName: 'bench' });
  const app = new App(service);
  const payers = Array.from({ length: CLIENTS }, () => new Owner());
  for (const [index, owner] of payers.entries()) {
    await app.createWallet(owner, `payer ${index}`);
    await new Sandbox(service).faucet(owner.address, 'USDC', '1000');
  }
  const stop = async () => {
    await db.close();
    await service.end();
    await postgres.stop();
  };
  return { name, service, db, app, payers, stop };
}

/** Prepared and signed before the clock starts; preparing is counted among the requests. */
async function measure(side: Side, kind: Kind, count: number): Promise<Measured> {
  const background = await backgroundOf(side);
  const [startedAt, before] = [performance.now(), await chainRequests(side)];
  const bodies = kind === 'wallets' ? await creations(side, count) : await transfers(side, count);
  const url = `/${kind === 'wallets' ? 'svc-wallets' : 'transactions/execute-sponsored-transaction'}`;
  const seconds = await drive(side.service.credentials.baseUrl + url, side.app.headers, bodies, 'ash":"0x');
  await idle(side);
  const passed = (performance.now() - startedAt) / 1_000;
  const requests = (await chainRequests(side)) - before - background * passed;
  return { perSecond: count / seconds, requestsEach: requests / count };
}

async function creations({ app }: Side, count: number): Promise<string[]> {
  const owners = Array.from({ length: count }, () => new Owner());
  return inTurns(owners, async (owner) => JSON.stringify(await app.creation(owner, `user ${owner.address}`)));
}

async function transfers({ app, payers }: Side, count: number): Promise<string[]> {
  const rounds = Array.from({ length: Math.ceil(count / payers.length) }, () => payers);
  const all = rounds.flat().slice(0, count);
  return inTurns(all, async (owner) => {
    const typedData = await app.prepare(owner.address, [transferOf(USDC, '0xb0b', 1n)]);
    return JSON.stringify({ publicKey: owner.address, typedData, userSignature: owner.sign(typedData) });
  });
}

async function inTurns<T>(items: readonly T[], make: (item: T) => Promise<string>): Promise<string[]> {
  const bodies: string[] = [];
  for (const item of items) bodies.push(await make(item));
  return bodies;
}

/** As many at the same time as there are clients. Answers seconds. */
async function drive(url: string, headers: Record<string, string>, bodies: readonly string[], sign: string) {
  const posters = await Promise.all(Array.from({ length: CLIENTS }, () => openPoster(url, headers)));
  const queue = [...bodies];
  const startedAt = performance.now();
  await Promise.all(
    posters.map(async ({ post, close }) => {
      for (let body = queue.shift(); body !== undefined; body = queue.shift()) {
        const answer = await post(body);
        if (!answer.includes(sign)) throw new Error(`${url}: ${answer}`);
      }
      close();
    }),
  );
  return (performance.now() - startedAt) / 1_000;
}

/** Until everything is final. */
async function idle({ db }: Side): Promise<void> {
  for (;;) {
    const row = await db.one<{ open: bigint }>(
      sql`select count(*) as open from relays where state in ('STORED', 'SENT')`,
    );
    if (row?.open === 0n) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** What the service asks a second when nothing happens. */
async function backgroundOf(side: Side): Promise<number> {
  await idle(side);
  const before = await chainRequests(side);
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  return ((await chainRequests(side)) - before) / (IDLE_MS / 1_000);
}

async function chainRequests({ service }: Side): Promise<number> {
  const text = await (await fetch(`${service.origin}/metrics`, { headers: { connection: 'close' } })).text();
  return Number(/^svc_chain_requests (\S+)$/m.exec(text)?.[1] ?? Number.NaN);
}

/** Wallets with STRK, so that every client has nonces of its own. */
async function openSenders(): Promise<void> {
  const { app, service } = own;
  for (let index = 0; index < CLIENTS; index++) {
    const owner = new Owner();
    const { address, privateKey } = owner;
    await app.createWallet(owner, `sender ${index}`);
    await new Sandbox(service).faucet(address, 'STRK', '1000');
    senders.push({ address, privateKey, nonce: 0 });
  }
}

/** Of the sandbox alone, over JSON-RPC: each sends one transfer after the other. Answers transfers a second. */
async function plain(count: number): Promise<number> {
  const { rpcUrl } = new Sandbox(own.service);
  const each = Math.floor(count / CLIENTS);
  const queues = senders.map((sender) =>
    Array.from({ length: each }, () => payment(sender, sender.nonce++, BigInt(sender.address) + 1n)),
  );
  const posters = await Promise.all(senders.map(() => openPoster(rpcUrl)));
  const startedAt = performance.now();
  await Promise.all(
    posters.map(async ({ post, close }, index) => {
      for (const { body, hash } of queues[index] ?? []) {
        const answer = await post(body);
        if (!answer.includes(hash)) throw new Error(answer);
      }
      close();
    }),
  );
  return (each * CLIENTS * 1_000) / (performance.now() - startedAt);
}

function report(kind: Kind, results: ReadonlyMap<string, Record<Kind, Measured[]>>, plainRates: readonly number[]) {
  const rates = [...results].map(([name, all]) => {
    const each = all[kind].map(({ perSecond }) => perSecond);
    const requests = median(all[kind].map(({ requestsEach }) => requestsEach));
    const ofPlain = median(each.map((rate, round) => rate / (plainRates[round] ?? Number.NaN)));
    console.log(
      `${kind}, ${name}: ${median(each).toFixed(0)}/s (${shown(each)}), ${requests.toFixed(2)} requests each, ${ofPlain.toFixed(2)} of plain`,
    );
    return each;
  });
  const [own = [], other] = rates;
  if (!other) return;
  const ratios = own.map((rate, round) => rate / (other[round] ?? Number.NaN));
  console.log(`${kind}: ${median(ratios).toFixed(2)} of the other (${ratios.map((r) => r.toFixed(2)).join(' ')})`);
}

function shown(rates: readonly number[]): string {
  return rates.map((rate) => rate.toFixed(0)).join(' ');
}
