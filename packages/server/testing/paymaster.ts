import { sql } from '@svc/store';
import { expect } from 'vitest';
import { padAddress } from '../src/chains/starknet/chain.ts';
import { enqueueMany, type JobHandler, type JobLog } from '../src/jobs/job.ts';
import type { RelayOutcome } from '../src/relayer/outcome.ts';
import { createPaymasterClient } from '../src/relayer/paymaster/client.ts';
import { createPaymasterSponsor, type PaymasterDeps, paymasterJobs } from '../src/relayer/paymaster/sponsor.ts';
import type { Relayed, RelayState, Sponsor, Sponsorship } from '../src/relayer/relay.ts';
import {
  ChainFixture,
  newWallet,
  type OpenChain,
  openChain,
  relayer,
  type TestWallet,
  testCrypto,
  transferCall,
} from './chain.ts';
import { contextOfJob } from './jobs.ts';
import { type Fault, type Snip29Server, startSnip29 } from './snip29-server.ts';

export const API_KEY = 'pm-test-key';

export interface RelayRow {
  readonly id: string;
  readonly state: RelayState;
  readonly hash: string | null;
  readonly block_number: bigint | null;
}

/** The paymaster sponsor and its jobs, a paymaster behind HTTP, and a sandbox. */
export class PaymasterFixture extends ChainFixture {
  readonly server: Snip29Server;
  readonly deps: PaymasterDeps;
  readonly sponsor: Sponsor;
  readonly outcomes: RelayOutcome[] = [];
  readonly hashes: { readonly relayId: string; readonly hash: bigint }[] = [];
  readonly warnings: string[] = [];

  static async start(): Promise<PaymasterFixture> {
    const open = await openChain();
    const server = await startSnip29({ rpcUrl: open.server.rpcUrl, apiKey: API_KEY, account: relayer(2) });
    return new PaymasterFixture(open, server);
  }

  private constructor(open: OpenChain, server: Snip29Server) {
    super(open);
    this.server = server;
    const record = async (_tx: unknown, outcome: RelayOutcome) => void this.outcomes.push(outcome);
    const warn = (_fields: object, message: string) => void this.warnings.push(message);
    const log: JobLog = { info() {}, warn, error: warn };
    this.deps = {
      db: this.db,
      networks: this.networks,
      crypto: testCrypto,
      paymaster: createPaymasterClient({ url: server.url, apiKey: API_KEY }),
      outcomes: {
        ...{ wallet: record, upgrade: record, calls: record, sweep: record },
        ...{ payout: record, burn: record, refund: record, treasury: record },
        ...{ 'treasury-deployment': record, 'solana-transfer': record },
      },
      onHash: async (_tx, relayId, hash) => void this.hashes.push({ relayId, hash }),
      log,
    };
    this.sponsor = createPaymasterSponsor(this.deps);
  }

  /** A sponsor with other dependencies, as after a restart. */
  sponsorWith(changes: Partial<PaymasterDeps>): Sponsor {
    return createPaymasterSponsor({ ...this.deps, ...changes });
  }

  /** Runs every job that waits, as if it were due. */
  runJobs(changes: Partial<PaymasterDeps> = {}): Promise<void> {
    return runJobs({ ...this.deps, ...changes });
  }

  /** Deletes every job, then runs the recurring ones and what they enqueue. */
  async sweep(): Promise<void> {
    await this.db.run(sql`delete from jobs`);
    const tasks = paymasterJobs(this.deps).recurring.map(({ task }) => ({ task, payload: {} }));
    await enqueueMany(this.db, tasks);
    await this.runJobs();
    await this.runJobs();
  }

  /** As if five minutes had passed since the last change of every relay. */
  async ageRelays(): Promise<void> {
    await this.db.run(sql`update relays set updated_at = updated_at - interval '5 minutes'`);
  }

  /** Runs jobs until everything has ended that can. */
  async finish(): Promise<void> {
    await this.ageRelays();
    await this.runJobs();
    await this.runJobs();
  }

  async relay({ address }: TestWallet): Promise<RelayRow> {
    const rows = await this.db.rows<RelayRow>(sql`
      select id, state, hash, block_number from relays where wallet = ${padAddress(address)}`);
    const [row] = rows;
    if (!row || rows.length > 1) throw new Error(`The wallet has ${rows.length} relays.`);
    return row;
  }

  /** A deployed wallet with 1,000 units of USDC; no relays or jobs besides. */
  async wallet(): Promise<TestWallet> {
    const wallet = newWallet();
    await this.sponsor.sponsor(await wallet.prepared(this.sponsor, [], { deploy: true }), async () => {});
    await this.sandbox.fund(wallet.address);
    await this.db.run(sql`delete from jobs`);
    await this.db.run(sql`delete from relay_attempts`);
    await this.db.run(sql`delete from relays`);
    for (const list of [this.outcomes, this.hashes, this.warnings, this.server.calls]) list.length = 0;
    return wallet;
  }

  override async stop(): Promise<void> {
    await this.server.stop();
    await super.stop();
  }
}

async function runJobs(deps: PaymasterDeps): Promise<void> {
  const { handlers } = paymasterJobs(deps);
  const rows = await deps.db.rows<{ id: bigint; task: string; payload: never }>(sql`
    with taken as (delete from jobs returning id, task, payload) select * from taken order by id`);
  for (const { id, task, payload } of rows) {
    const handler = handlers[task] as JobHandler<unknown> | undefined;
    if (!handler) throw new Error(`No handler for ${task}.`);
    await handler(payload, contextOfJob({ jobId: `${id}` }));
  }
}

const BOB = 0xb0bn;
const EXECUTE = 'paymaster_executeTransaction';

export interface Payment {
  readonly wallet: TestWallet;
  readonly request: Sponsorship;
  send(): Promise<Relayed>;
  paid(): Promise<bigint>;
  state(): Promise<string>;
}

export const pay = (amount: bigint) => [transferCall('USDC', BOB, amount)];
export const nothing = async () => {};

/** A wallet with a signed payment of 3 units. */
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

export const sendings = ({ server }: PaymasterFixture): number =>
  server.calls.filter((method) => method === EXECUTE).length;

export async function expectUnavailable(attempt: Promise<unknown>): Promise<void> {
  await expect(attempt).rejects.toMatchObject({ code: 'chain_unavailable' });
}
