import { type Database, sql } from '@svc/store';
import { chainTime, Networks } from '../src/chains/networks.ts';
import { padAddress, type StarknetChain } from '../src/chains/starknet/chain.ts';
import type { JobLog } from '../src/jobs/job.ts';
import type { RelayerDeps } from '../src/relayer/accounts.ts';
import { requireEstimate, firstFee, relayedCalls, signTransaction } from '../src/relayer/invoke.ts';
import type { RelayOutcome } from '../src/relayer/outcome.ts';
import type { Sponsor, Sponsorship } from '../src/relayer/relay.ts';
import { createRelayerSponsor, type RelayerSponsorDeps } from '../src/relayer/relayer-sponsor.ts';
import type { RelayWorkerDeps } from '../src/relayer/worker/context.ts';
import { recheckUnexecuted } from '../src/relayer/worker/reconcile.ts';
import { type PassResult, processAccount } from '../src/relayer/worker/worker.ts';
import { Controls, newWallet, relayer, startSandbox, type TestWallet, testCrypto, tokenAddress } from './chain.ts';
import { serverDatabase } from './database.ts';

/** Methods of the chain that do something else. */
export type ChainChanges = Partial<StarknetChain>;

/** As many looks as a minute of working jobs would take. */
const MAX_LOOKS = 60;

/** Relayer accounts on a database and a sandbox of their own, with a clock that tests move. */
export class RelayerFixture {
  readonly db: Database;
  readonly url: string;
  readonly chain: StarknetChain;
  readonly controls: Controls;
  readonly deps: RelayWorkerDeps;
  /** Looks after the accounts while a request waits, as the workers would. */
  readonly sponsor: Sponsor;
  /** Everything that outcome handlers were told, in order. */
  readonly outcomes: RelayOutcome[] = [];
  /** What was logged as a warning or worse. */
  readonly complaints: string[] = [];
  readonly #networks: Networks;
  readonly #stop: () => Promise<void>;
  #aheadMs = 0;
  #recipients = 0xb0b0n;

  static async start({ accounts = 1 }: { accounts?: number } = {}): Promise<RelayerFixture> {
    const database = await serverDatabase();
    const sandbox = await startSandbox({ databaseUrl: database.url });
    const stop = async () => {
      await sandbox.stop();
      await database.drop();
    };
    return new RelayerFixture(database.db, sandbox.url, accounts, stop);
  }

  private constructor(db: Database, sandboxUrl: string, accounts: number, stop: () => Promise<void>) {
    this.db = db;
    this.url = db.url;
    this.#stop = stop;
    this.controls = new Controls(sandboxUrl);
    const place = { url: sandboxUrl, publicUrl: sandboxUrl, paymentAddress: 0x99n };
    this.#networks = new Networks({ starknet: undefined, evmRpcUrls: {} }, place);
    this.chain = this.#networks.starknet('development').chain;
    const keys = Array.from({ length: accounts }, (_, index) => relayer(index + 1));
    const tell = async (_tx: unknown, outcome: RelayOutcome) => void this.outcomes.push(outcome);
    const complain = (_fields: object, message: string) => void this.complaints.push(message);
    const log: JobLog = { info() {}, warn: complain, error: complain };
    this.deps = {
      db,
      networks: this.networksWith({}),
      crypto: testCrypto,
      keys: () => keys,
      outcomes: { wallet: tell, upgrade: tell, calls: tell, payout: tell, burn: tell, refund: tell },
      log,
      now: () => Date.now() + this.#aheadMs,
    };
    this.sponsor = this.sponsorWith({});
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  /** A clean start for a test: nothing under way, nothing ordered, and a wallet that stands on the chain with 1,000 units of USDC. */
  async begin(): Promise<TestWallet> {
    await this.controls.reset();
    await this.db.run(sql`delete from relay_attempts`);
    await this.db.run(sql`delete from relays`);
    // A test may leave nonces behind that are given out and never used.
    await this.db.run(sql`delete from relayer_accounts`);
    this.#aheadMs = 0;
    const wallet = newWallet();
    const setup = this.sponsorWith({});
    await setup.sponsor(await wallet.prepared(setup, [], { deploy: true }), async () => {});
    await this.finish();
    await this.controls.fund(wallet.address);
    await this.db.run(sql`delete from relay_attempts`);
    await this.db.run(sql`delete from relays`);
    this.outcomes.length = 0;
    this.complaints.length = 0;
    return wallet;
  }

  sponsorWith(changes: Partial<RelayerSponsorDeps>, chain: ChainChanges = {}): Sponsor {
    const pause = async (ms: number) => {
      this.wait(ms);
      await this.look();
    };
    return createRelayerSponsor({ ...this.deps, networks: this.networksWith(chain), pause, ...changes });
  }

  /** Moves the clock. */
  wait(ms: number): void {
    this.#aheadMs += ms;
  }

  /** One look at each account, with the chain as it is or as told. */
  look(chain: ChainChanges = {}, changes: Partial<RelayWorkerDeps> = {}): Promise<PassResult[]> {
    const deps = { ...this.deps, networks: this.networksWith(chain), ...changes };
    return Promise.all(
      deps.keys('development').map(({ address }) => processAccount(deps, 'development', padAddress(address))),
    );
  }

  /** Looks until nothing is open; the clock moves on between. */
  async finish(): Promise<void> {
    for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
      if ((await this.look()).every(({ open }) => !open)) return;
      this.wait(1_000);
    }
    throw new Error('Something stays open.');
  }

  /** The states of all relays, by account and nonce. */
  async states(): Promise<string[]> {
    const rows = await this.db.rows<{ state: string }>(sql`select state from relays order by account, nonce`);
    return rows.map(({ state }) => state);
  }

  /** Somebody who has nothing yet. */
  someone(): bigint {
    this.#recipients += 1n;
    return this.#recipients;
  }

  balance(owner: bigint): Promise<bigint> {
    return this.chain.balanceOf(tokenAddress('USDC'), owner, 'pre_confirmed');
  }

  /** Somebody who has seen the signature sends it with an account of their own. Answers the hash. */
  async executeElsewhere(asked: Sponsorship): Promise<bigint> {
    const { chain } = this;
    const key = relayer(4);
    const nonce = (await chain.nonceAt(key.address, 'pre_confirmed')) ?? 0n;
    const transaction = { chainId: chain.chainId, sender: key.address, nonce, calls: relayedCalls(asked) };
    const estimate = await requireEstimate(chain, transaction);
    const signed = await signTransaction(testCrypto, key, transaction, firstFee(estimate));
    const { outcome } = await chain.send(signed);
    if (outcome !== 'sent') throw new Error(`It was not sent: ${outcome}`);
    return signed.hash;
  }

  /** What a recurring job does: looks whether what counts as lost was executed. */
  watch(chain: ChainChanges = {}): Promise<void> {
    return recheckUnexecuted({ ...this.deps, networks: this.networksWith(chain) }, 'development');
  }

  /** The nonce of the first account. */
  async nonce(): Promise<bigint> {
    return (await this.chain.nonceAt(relayer(1).address)) ?? 0n;
  }

  networksWith(changes: ChainChanges): RelayerDeps['networks'] {
    const networks = this.#networks;
    return {
      starknet: (environment) => {
        const network = networks.starknet(environment);
        // Never remembered: tests travel in time.
        const time = chainTime(network.chain, () => Date.now() + this.#aheadMs);
        return { ...network, time, chain: changed(network.chain, changes) };
      },
      token: networks.token.bind(networks),
    };
  }
}

/** The methods of the chain need it as their `this`, so it is not copied. */
function changed(chain: StarknetChain, changes: ChainChanges): StarknetChain {
  return new Proxy(chain, {
    get(target, name: keyof StarknetChain) {
      const found = changes[name] ?? target[name];
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
}
