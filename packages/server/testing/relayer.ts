import { sql } from '@svc/store';
import { padAddress } from '../src/chains/starknet/chain.ts';
import type { JobLog } from '../src/jobs/job.ts';
import { firstFee, relayedCalls, requireEstimate, signTransaction } from '../src/relayer/invoke.ts';
import type { RelayOutcome } from '../src/relayer/outcome.ts';
import type { Sponsor, Sponsorship } from '../src/relayer/relay.ts';
import { createRelayerSponsor, type RelayerSponsorDeps } from '../src/relayer/relayer-sponsor.ts';
import type { RelayWorkerDeps } from '../src/relayer/worker/context.ts';
import { recheckUnexecuted } from '../src/relayer/worker/reconcile.ts';
import { type PassResult, processAccount } from '../src/relayer/worker/worker.ts';
import {
  type ChainChanges,
  ChainFixture,
  newWallet,
  type OpenChain,
  openChain,
  relayer,
  type TestWallet,
  testCrypto,
} from './chain.ts';

export type { ChainChanges } from './chain.ts';

/** As many as the jobs run in a minute. */
const MAX_PASSES = 60;

/** Relayer accounts, and a relay worker that runs when a test says so. */
export class RelayerFixture extends ChainFixture {
  readonly deps: RelayWorkerDeps;
  /** Runs passes while a request waits, as the workers would. */
  readonly sponsor: Sponsor;
  readonly outcomes: RelayOutcome[] = [];
  readonly warnings: string[] = [];
  #recipients = 0xb0b0n;

  static async start({ accounts = 1 }: { accounts?: number } = {}): Promise<RelayerFixture> {
    return new RelayerFixture(await openChain(), accounts);
  }

  private constructor(open: OpenChain, accounts: number) {
    super(open);
    const keys = Array.from({ length: accounts }, (_, index) => relayer(index + 1));
    const record = async (_tx: unknown, outcome: RelayOutcome) => void this.outcomes.push(outcome);
    const warn = (_fields: object, message: string) => void this.warnings.push(message);
    const log: JobLog = { info() {}, warn, error: warn };
    this.deps = {
      db: this.db,
      networks: this.networksWith({}),
      crypto: testCrypto,
      keys: () => keys,
      outcomes: {
        ...{ wallet: record, upgrade: record, calls: record, sweep: record },
        ...{ payout: record, burn: record, refund: record, treasury: record },
        ...{ 'treasury-deployment': record, 'solana-transfer': record },
      },
      log,
      now: this.clock.now,
    };
    this.sponsor = this.sponsorWith({});
  }

  /** No relays, no faults, the present time; answers a deployed wallet with 1,000 units of USDC. */
  async begin(): Promise<TestWallet> {
    await this.sandbox.reset();
    await this.#deleteRelays();
    // A test may leave nonces behind that were assigned and never used.
    await this.db.run(sql`delete from relayer_accounts`);
    this.clock.reset();
    const wallet = newWallet();
    const setup = this.sponsorWith({});
    await setup.sponsor(await wallet.prepared(setup, [], { deploy: true }), async () => {});
    await this.finish();
    await this.sandbox.fund(wallet.address);
    await this.#deleteRelays();
    this.outcomes.length = 0;
    this.warnings.length = 0;
    return wallet;
  }

  async #deleteRelays(): Promise<void> {
    await this.db.run(sql`delete from relay_attempts`);
    await this.db.run(sql`delete from relays`);
    await this.db.run(sql`delete from sponsored_days`);
    await this.db.run(sql`delete from sponsored_user_days`);
  }

  sponsorWith(changes: Partial<RelayerSponsorDeps>, chain: ChainChanges = {}): Sponsor {
    const pause = async (ms: number) => {
      this.clock.advance(ms);
      await this.runPass();
    };
    return createRelayerSponsor({ ...this.deps, networks: this.networksWith(chain), pause, ...changes });
  }

  /** `isSent` as in the job of a request that has sent: receipts come first. */
  runPass(chain: ChainChanges = {}, changes: Partial<RelayWorkerDeps> = {}, isSent = false): Promise<PassResult[]> {
    const deps = { ...this.deps, networks: this.networksWith(chain), ...changes };
    return Promise.all(
      deps
        .keys('development')
        .map(({ address }) => processAccount(deps, 'development', padAddress(address), { isSent })),
    );
  }

  /** Runs passes until no relay is open; the clock advances between them. */
  async finish(chain: ChainChanges = {}, changes: Partial<RelayWorkerDeps> = {}, isSent = false): Promise<void> {
    for (let passes = 0; passes < MAX_PASSES; passes += 1) {
      if ((await this.runPass(chain, changes, isSent)).every(({ open }) => !open)) return;
      this.clock.advance(1_000);
    }
    throw new Error(`Relays are open after ${MAX_PASSES} passes.`);
  }

  async states(): Promise<string[]> {
    const rows = await this.db.rows<{ state: string }>(sql`select state from relays order by account, nonce`);
    return rows.map(({ state }) => state);
  }

  newAddress(): bigint {
    this.#recipients += 1n;
    return this.#recipients;
  }

  /** A third party who has seen the signature submits it. Answers the hash. */
  async executeByThirdParty(sponsorship: Sponsorship): Promise<bigint> {
    const { chain } = this;
    const key = relayer(4);
    const nonce = (await chain.nonceAt(key.address, 'pre_confirmed')) ?? 0n;
    const transaction = { chainId: chain.chainId, sender: key.address, nonce, calls: relayedCalls(sponsorship) };
    const estimate = await requireEstimate(chain, transaction);
    const signed = await signTransaction(testCrypto, key, transaction, firstFee(estimate));
    const { outcome } = await chain.send(signed);
    if (outcome !== 'sent') throw new Error(`It was not sent: ${outcome}`);
    return signed.hash;
  }

  recheckUnexecuted(chain: ChainChanges = {}): Promise<void> {
    return recheckUnexecuted({ ...this.deps, networks: this.networksWith(chain) }, 'development');
  }

  /** The nonce of the first account. */
  async nonce(): Promise<bigint> {
    return (await this.chain.nonceAt(relayer(1).address)) ?? 0n;
  }
}
