import type { endpoints, LedgerEntry } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import type { StarknetChain } from '../src/chains/starknet/chain.ts';
import { type CreateDepositDeps, createDeposit, depositWatcher } from '../src/deposits/deposit.ts';
import { depositAddress, type SweepDeps, sweepDeposits, sweepOutcomes } from '../src/deposits/deposit-address.ts';
import type { Call, Caller } from '../src/http/call.ts';
import { indexChain } from '../src/indexer/index-blocks.ts';
import { indexedChain } from '../src/indexer/indexer.ts';
import { balance, type Entry, listEntries } from '../src/ledger/ledger.ts';
import { createOrganization } from '../src/organizations/api-keys.ts';
import { createPayer } from '../src/relayer/payer.ts';
import { type ChainChanges, manager, relayer, testCrypto, transferCall, wrapChain } from './chain.ts';
import { RelayerFixture } from './relayer.ts';

/** A funded account that is not a wallet. */
export const outsider = relayer(3);

/** Deposits on a sandbox: an indexer, a relay worker and sweeps that run when a test says so. */
export class DepositFixture {
  readonly relayers: RelayerFixture;
  confirmations = 1;

  static async start(): Promise<DepositFixture> {
    const fixture = new DepositFixture(await RelayerFixture.start());
    await fixture.relayers.sandbox.faucet(toHex(outsider.address), 'USDC', '100000');
    await fixture.index();
    return fixture;
  }

  private constructor(relayers: RelayerFixture) {
    this.relayers = relayers;
  }

  stop(): Promise<void> {
    return this.relayers.stop();
  }

  get db() {
    return this.relayers.db;
  }

  get sandbox() {
    return this.relayers.sandbox;
  }

  get chain() {
    return this.relayers.chain;
  }

  depsWith(chain: ChainChanges = {}): CreateDepositDeps & SweepDeps {
    const { db, deps, sponsor, clock } = this.relayers;
    const networks = this.relayers.networksWith(chain);
    const payer = createPayer({ ...deps, networks, managerKey: () => manager });
    const crediting = { db, networks, crypto: testCrypto, payer, confirmations: () => this.confirmations };
    return { ...crediting, sponsor, log: deps.log, now: clock.now, pause: async () => {} };
  }

  /** Indexes up to the head, and has the ledger follow. */
  async index(chain: StarknetChain = this.chain, deps = this.depsWith()): Promise<void> {
    const { db, networks, clock } = this.relayers;
    const followed = { ...indexedChain(networks, 'development'), chain };
    const context = { ...followed, db, now: clock.now, log: deps.log, watcher: depositWatcher(deps) };
    await indexChain(context, new AbortController().signal);
  }

  /** The service as another process would run it. */
  chainWith(changes: ChainChanges): StarknetChain {
    return wrapChain(this.chain, changes);
  }

  async newCaller(environment: Caller['environment'] = 'development'): Promise<Caller> {
    const organizationId = await createOrganization(this.db, 'Tienda Azul');
    const key = { keyId: 'key_1', apiPublicKey: 'pk_dev_1', proof: 'secret key', externalUserId: undefined } as const;
    return { organizationId, environment, ...key };
  }

  async addressOf(caller: Caller): Promise<bigint> {
    const own = await depositAddress(this.depsWith(), caller);
    if (!own) throw new Error('There is no deposit address.');
    return BigInt(own.address);
  }

  /** A transfer of USDC units from elsewhere; answers the hash. */
  pay(to: bigint, ...amounts: bigint[]): Promise<string> {
    return this.relayers.sendFrom(
      outsider,
      amounts.map((amount) => transferCall('USDC', to, amount)),
    );
  }

  /** What `POST /organization/deposits` does. */
  async offer(hash: string, caller: Caller, changes: Partial<CreateDepositDeps> = {}, chain = 'STARKNET') {
    const call = { caller, body: { transactionHash: hash, chain }, transact: this.db.tx };
    const deps = { ...this.depsWith(), ...changes };
    return (await createDeposit(deps, call as unknown as Call<typeof endpoints.createDeposit>)) as LedgerEntry;
  }

  async total(caller: Caller): Promise<bigint> {
    return (await balance(this.db, caller)).total;
  }

  async entries(caller: Caller): Promise<Entry[]> {
    return [...(await listEntries(this.db, caller, { limit: 100, offset: 0 })).entries].reverse();
  }

  sweep(changes: Partial<SweepDeps> = {}): Promise<void> {
    return sweepDeposits({ ...this.depsWith(), ...changes }, 'development');
  }

  /** Runs the relay worker until nothing is open. */
  finish(): Promise<void> {
    return this.relayers.finish({}, this.#worker());
  }

  #worker() {
    return { outcomes: { ...this.relayers.deps.outcomes, ...sweepOutcomes() } };
  }

  /** Everything that was postponed is due now. */
  async makeDue(): Promise<void> {
    await this.db.run(sql`update deposit_addresses set sweep_at = now() where sweep_at is not null`);
    await this.db.run(sql`update deposits set tried_at = null`);
  }
}
