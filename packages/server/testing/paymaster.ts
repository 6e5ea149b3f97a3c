import { type Database, sql } from '@svc/store';
import { expect } from 'vitest';
import { Networks } from '../src/chains/networks.ts';
import { padAddress, type StarknetChain } from '../src/chains/starknet/chain.ts';
import { enqueueMany, type JobContext, type JobHandler, type JobLog } from '../src/jobs/job.ts';
import type { RelayOutcome } from '../src/relayer/outcome.ts';
import { createPaymasterClient } from '../src/relayer/paymaster/client.ts';
import { type PaymasterDeps, paymasterJobs } from '../src/relayer/paymaster/follow.ts';
import { createPaymasterSponsor } from '../src/relayer/paymaster/sponsor.ts';
import type { Relayed, RelayState, Sponsor, Sponsorship } from '../src/relayer/relay.ts';
import { newWallet, relayer, startSandbox, type TestWallet, testCrypto, tokenAddress, transferCall } from './chain.ts';
import { serverDatabase } from './database.ts';
import { type Fault, type Snip29Server, startSnip29 } from './snip29-server.ts';

export const API_KEY = 'pm-test-key';

export interface RelayRow {
  readonly id: string;
  readonly state: RelayState;
  readonly hash: string | null;
  readonly block_number: bigint | null;
}

export interface PaymasterFixture {
  readonly db: Database;
  readonly chain: StarknetChain;
  readonly server: Snip29Server;
  readonly rpcUrl: string;
  readonly deps: PaymasterDeps;
  readonly sponsor: Sponsor;
  /** What outcome handlers were told, in order. */
  readonly outcomes: RelayOutcome[];
  /** Which transactions were told for relays, in order. */
  readonly hashes: { readonly relayId: string; readonly hash: bigint }[];
  readonly complaints: string[];
  /** The same service with other parts, as after a restart. */
  sponsorWith(changes: Partial<PaymasterDeps>): Sponsor;
  /** Runs every job that waits, as if its time had come. */
  runJobs(changes?: Partial<PaymasterDeps>): Promise<void>;
  /** The same when every job is lost, and only the recurring one is left. */
  sweep(): Promise<void>;
  /** As if some minutes had passed since anything was sent. */
  rest(): Promise<void>;
  relay(wallet: TestWallet): Promise<RelayRow>;
  control(path: string, body: unknown): Promise<unknown>;
  /** In units of USDC. */
  balance(owner: bigint): Promise<bigint>;
  fund(owner: bigint): Promise<void>;
  /** One that stands on the chain, with 1,000 units of USDC. */
  wallet(): Promise<TestWallet>;
  stop(): Promise<void>;
}

/** The service's side, a paymaster behind HTTP, and a sandbox, on a database of their own. */
export async function startPaymasterFixture(): Promise<PaymasterFixture> {
  const database = await serverDatabase();
  const { db, url } = database;
  const sandbox = await startSandbox({ databaseUrl: url });
  const server = await startSnip29({ rpcUrl: sandbox.rpcUrl, apiKey: API_KEY, account: relayer(2) });
  const place = { url: sandbox.url, publicUrl: sandbox.url, paymentAddress: 0x99n };
  const networks = new Networks({ starknet: undefined, evmRpcUrls: {} }, place);
  const { chain } = networks.starknet('development');
  const [outcomes, hashes, complaints]: [RelayOutcome[], { relayId: string; hash: bigint }[], string[]] = [[], [], []];
  const tell = async (_tx: unknown, outcome: RelayOutcome) => void outcomes.push(outcome);
  const complain = (_fields: object, message: string) => void complaints.push(message);
  const log: JobLog = { info() {}, warn: complain, error: complain };
  const deps: PaymasterDeps = {
    db,
    networks,
    crypto: testCrypto,
    paymaster: createPaymasterClient({ url: server.url, apiKey: API_KEY }),
    outcomes: { wallet: tell, upgrade: tell, calls: tell, payout: tell, burn: tell, refund: tell },
    onHash: async (_tx, relayId, hash) => void hashes.push({ relayId, hash }),
    log,
  };
  const sponsor = createPaymasterSponsor(deps);
  const control: PaymasterFixture['control'] = (path, body) => post(`${sandbox.url}/${path}`, body);
  const fund: PaymasterFixture['fund'] = async (owner) => {
    await control('faucet', { address: padAddress(owner), token: 'USDC', amount: '0.001' });
  };
  return {
    db,
    chain,
    server,
    rpcUrl: sandbox.rpcUrl,
    deps,
    sponsor,
    outcomes,
    hashes,
    complaints,
    sponsorWith: (changes) => createPaymasterSponsor({ ...deps, ...changes }),
    runJobs: (changes) => runJobs({ ...deps, ...changes }),
    sweep: async () => {
      await db.run(sql`delete from jobs`);
      const tasks = paymasterJobs(deps).recurring.map(({ task }) => ({ task, payload: {} }));
      await enqueueMany(db, tasks);
      await runJobs(deps);
      await runJobs(deps);
    },
    rest: async () => void (await db.run(sql`update relays set updated_at = updated_at - interval '5 minutes'`)),
    relay: (wallet) => relayOf(db, wallet),
    control,
    balance: (owner) => chain.balanceOf(tokenAddress('USDC'), owner, 'pre_confirmed'),
    fund,
    wallet: async () => {
      const wallet = newWallet();
      await sponsor.sponsor(await wallet.prepared(sponsor, [], { deploy: true }), async () => {});
      await fund(wallet.address);
      await db.run(sql`delete from jobs`);
      await db.run(sql`delete from relay_attempts`);
      await db.run(sql`delete from relays`);
      for (const list of [outcomes, hashes, complaints, server.calls]) list.length = 0;
      return wallet;
    },
    stop: async () => {
      await server.stop();
      await sandbox.stop();
      await database.drop();
    },
  };
}

async function runJobs(deps: PaymasterDeps): Promise<void> {
  const { handlers } = paymasterJobs(deps);
  const rows = await deps.db.rows<{ id: bigint; task: string; payload: never }>(sql`
    with taken as (delete from jobs returning id, task, payload) select * from taken order by id`);
  for (const { id, task, payload } of rows) {
    const context: JobContext = { attempt: 1, maxAttempts: 1, jobId: `${id}`, signal: new AbortController().signal };
    const handler = handlers[task] as JobHandler<unknown> | undefined;
    if (!handler) throw new Error(`Nobody does ${task}.`);
    await handler(payload, context);
  }
}

async function relayOf(db: Database, { address }: TestWallet): Promise<RelayRow> {
  const rows = await db.rows<RelayRow>(sql`
    select id, state, hash, block_number from relays where wallet = ${padAddress(address)}`);
  const [row] = rows;
  if (!row || rows.length > 1) throw new Error(`The wallet has ${rows.length} relays.`);
  return row;
}

async function post(url: string, body: unknown): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url}: ${await answer.text()}`);
  return answer.json();
}

const BOB = 0xb0bn;
const EXECUTE = 'paymaster_executeTransaction';

export interface Payment {
  readonly wallet: TestWallet;
  readonly request: Sponsorship;
  send(): Promise<Relayed>;
  /** What has arrived. */
  paid(): Promise<bigint>;
  state(): Promise<string>;
}

export const pay = (amount: bigint) => [transferCall('USDC', BOB, amount)];
export const nothing = async () => {};

/** A wallet that is about to pay 3 units. */
export async function aPayment(fixture: PaymasterFixture): Promise<Payment> {
  const wallet = await fixture.wallet();
  const before = await fixture.balance(BOB);
  const request = await wallet.prepared(fixture.sponsor, pay(3n));
  return {
    wallet,
    request,
    send: () => fixture.sponsor.sponsor(request, nothing),
    paid: async () => (await fixture.balance(BOB)) - before,
    state: async () => (await fixture.relay(wallet)).state,
  };
}

export function order({ server }: PaymasterFixture, fault: Omit<Fault, 'method'>): void {
  server.order({ method: EXECUTE, ...fault });
}

/** How often the paymaster was asked to execute something. */
export const sendings = ({ server }: PaymasterFixture): number =>
  server.calls.filter((method) => method === EXECUTE).length;

export async function expectUnavailable(attempt: Promise<unknown>): Promise<void> {
  await expect(attempt).rejects.toMatchObject({ code: 'chain_unavailable' });
}

/** Time passes, and jobs run, until everything has ended that can. */
export async function finish(fixture: PaymasterFixture): Promise<void> {
  await fixture.rest();
  await fixture.runJobs();
  await fixture.runJobs();
}
