// Transfers a second that the sandbox's Starknet node takes over HTTP, every signature checked, stored before the
// answer. Also where the time of one goes, and whether the thread that serves HTTP notices. npm run bench:sandbox
import {
  type Call,
  contractAddress,
  invokeHash,
  selector,
  starkKey,
  starknetKeccak,
  toHex,
  verify,
} from '@svc/starknet';
import { connect, sql, startEmbedded } from '@svc/store';
import { invocation, type Payment, payment, Sandbox, type Sender } from '../tests/support/sandbox.ts';
import { newDataDir, startServer } from '../tests/support/server.ts';
import { STRK, UDC } from '../tests/support/starknet-client.ts';
import { type Load, load } from './support/load.ts';
import { median } from './support/median.ts';
import { openPoster } from './support/post.ts';

const CLIENTS = 32;
const ROUNDS = 5;
const WARM_UP = 30;
const ONE_CLIENT = 300;
const EACH_OF_MANY = 25;
const HEALTH_MS = 5_000;
/** An idle session of PostgreSQL reports what it did after ten seconds at the latest. */
const SESSIONS_REPORT_MS = 11_000;
/** In whole STRK, for fees. */
const STARTING_STRK = 1_000n;
/** What a check of a signature and the hash of its transaction were measured to cost with the usual library, in ms. */
const USUAL_CRYPTOGRAPHY = { from: 4 + 3, to: 9 + 7 };

interface Client extends Sender {
  nonce: number;
}

interface Round {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly each: number;
  readonly cryptographyEach: number;
}

interface Measured {
  readonly rounds: readonly Round[];
  readonly databaseEach: number;
}

const dataDir = await newDataDir();
const postgres = await startEmbedded({ dataDir });
const service = await startServer({ dataDir, env: { DATABASE_URL: postgres.url } });
const sandbox = new Sandbox(service);
const db = connect(postgres.url, { max: 1 });
try {
  const clients = await openAccounts(CLIENTS);
  await prepare(clients, WARM_UP)();
  report('one client', await measure(clients.slice(0, 1), ONE_CLIENT));
  const many = await measure(clients, EACH_OF_MANY);
  report(`${CLIENTS} clients`, many);
  await health(clients, median(many.rounds.map(({ perSecond }) => perSecond)));
} finally {
  await db.close();
  await service.end();
  await postgres.stop();
}

/** Accounts with STRK, deployed and paid by a relayer in one transaction, so that every client has nonces of its own. */
async function openAccounts(count: number): Promise<Client[]> {
  const relayer = await sandbox.account('relayer 1');
  const { result } = await sandbox.rpc('getClassHashAt', ['latest', relayer.address]);
  const classHash = BigInt(String(result));
  const accounts = Array.from({ length: count }, (_, index) => {
    const privateKey = starknetKeccak(`bench ${index}`);
    const salt = starkKey(privateKey);
    const address = contractAddress({ salt, classHash, constructorCalldata: [salt], deployer: 0n });
    return { privateKey, salt, address };
  });
  const calls = accounts.flatMap(({ salt, address }): Call[] => [
    { to: BigInt(UDC), selector: selector('deploy_contract'), calldata: [classHash, salt, 0n, 1n, salt] },
    { to: BigInt(STRK), selector: selector('transfer'), calldata: [address, STARTING_STRK * 10n ** 18n, 0n] },
  ]);
  const poster = await openPoster(sandbox.rpcUrl);
  await send(poster.post, invocation(relayer, 0, calls));
  poster.close();
  return accounts.map(({ address, privateKey }) => ({
    address: toHex(address),
    privateKey: toHex(privateKey),
    nonce: 0,
  }));
}

function sign(client: Client, count: number): Payment[] {
  const to = BigInt(client.address) + 1n;
  return Array.from({ length: count }, () => payment(client, client.nonce++, to));
}

/** Each client sends one transfer after the other; they are signed now, before the clock starts. Answers the time in ms. */
function prepare(clients: readonly Client[], each: number): () => Promise<number> {
  const queues = clients.map((client) => sign(client, each));
  return async () => {
    const posters = await Promise.all(clients.map(() => openPoster(sandbox.rpcUrl)));
    const startedAt = performance.now();
    await Promise.all(
      posters.map(async ({ post, close }, index) => {
        for (const one of queues[index] ?? []) await send(post, one);
        close();
      }),
    );
    return performance.now() - startedAt;
  };
}

async function measure(clients: readonly Client[], each: number): Promise<Measured> {
  const count = clients.length * each;
  const databaseBefore = await databaseMs();
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const ms = await prepare(clients, each)();
    rounds.push({ perSecond: count / (ms / 1_000), each: ms / count, cryptographyEach: cryptographyEach() });
  }
  return { rounds, databaseEach: ((await databaseMs()) - databaseBefore) / (count * ROUNDS) };
}

async function send(post: (body: string) => Promise<string>, { hash, body }: Payment): Promise<void> {
  const answer = await post(body);
  if (!answer.includes(`"transaction_hash":"${hash}"`)) throw new Error(`A transfer was not taken: ${answer}`);
}

async function databaseMs(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, SESSIONS_REPORT_MS));
  const [row] = await db.rows<{ ms: number }>(
    sql`select active_time::float8 as ms from pg_stat_database where datname = current_database()`,
  );
  return row?.ms ?? 0;
}

/** The hash and the check of a signature for as many transfers, alone: what no node can do without. */
function cryptographyEach(): number {
  const client = { address: '0x1', privateKey: toHex(starknetKeccak('bench cryptography')) };
  const publicKey = starkKey(BigInt(client.privateKey));
  const all = Array.from({ length: ONE_CLIENT }, (_, nonce) => payment(client, nonce, 2n));
  const check = () => {
    for (const { fields, signature } of all) {
      if (!verify(invokeHash(fields), publicKey, signature.r, signature.s)) throw new Error('A signature is not good.');
    }
  };
  check();
  const startedAt = performance.now();
  check();
  return (performance.now() - startedAt) / all.length;
}

function report(name: string, { rounds, databaseEach: database }: Measured): void {
  const of = (pick: (round: Round) => number) => median(rounds.map(pick));
  const [each, crypto] = [of((round) => round.each), of((round) => round.cryptographyEach)];
  const besides = each - crypto;
  const share = (ms: number) => `${ms.toFixed(2)} ms (${((100 * ms) / each).toFixed(0)} %)`;
  console.log(`${name}: ${of((round) => round.perSecond).toFixed(0)} transfers/s, ${each.toFixed(2)} ms each`);
  console.log(`  rounds ${rounds.map(({ perSecond }) => perSecond.toFixed(0)).join(' ')}`);
  console.log(`  cryptography ${share(crypto)}, database ${share(database)}, rest ${share(besides - database)}`);
  console.log(`  besides cryptography ${besides.toFixed(2)} ms: ${(besides / crypto).toFixed(2)} of ours,`);
  const [most, least] = Object.values(USUAL_CRYPTOGRAPHY).map((usual) => (besides / usual).toFixed(2));
  console.log(`  ${least} to ${most} of the usual library's; the aim is a third`);
}

async function health(clients: readonly Client[], perSecond: number): Promise<void> {
  const url = `${service.origin}/healthz`;
  await load(url, {}, 1, HEALTH_MS / 5);
  const idle = await load(url, {}, 1, HEALTH_MS);
  // Somewhat more than the time needs, so that the transfers do not end first.
  const each = Math.ceil((perSecond * HEALTH_MS * 1.5) / 1_000 / clients.length);
  const run = prepare(clients, each);
  const [busy] = await Promise.all([load(url, {}, 1, HEALTH_MS), run()]);
  console.log('GET /healthz on one connection');
  console.log(`  beside nothing ${latencies(idle)}`);
  console.log(`  beside ${clients.length} clients ${latencies(busy)}`);
}

function latencies({ latencies: sorted }: Load): string {
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(2);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`;
}
