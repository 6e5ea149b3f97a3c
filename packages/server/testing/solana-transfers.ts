import type { Environment, SolanaTransfer } from '@svc/protocol';
import type { BurnOrder } from '../src/bridge/bridge.ts';
import { burnCalls } from '../src/bridge/cctp-bridge.ts';
import { cctpPlaces } from '../src/bridge/cctp-message.ts';
import type { WithStatus } from '../src/http/call.ts';
import type { RelayOutcome } from '../src/relayer/outcome.ts';
import { followTransfer, transferOutcomes } from '../src/solana-transfers/follow-transfer.ts';
import { createTransfer, getTransfer, quoteTransfer, type TransferDeps } from '../src/solana-transfers/transfer.ts';
import { transactionOutcomes } from '../src/transactions/relay-outcome.ts';
import { FakeBridge, WALLET } from './bridge.ts';
import { TestClock } from './chain.ts';
import { type ExecuteBody, TransactionFixture, USDC } from './transactions.ts';
import { type Owner, openWallets } from './wallets.ts';

/** With the calls of the real one: the sandbox's contracts take them. */
export class BurningBridge extends FakeBridge {
  override burnCalls(_: Environment, order: BurnOrder) {
    return burnCalls(cctpPlaces.sandbox, BigInt(USDC), order);
  }
}

/** Transfers on a chain of its own, with a bridge that the test plays. */
export class SolanaTransferFixture extends TransactionFixture {
  bridge = new BurningBridge();
  readonly bridgeClock = new TestClock();
  readonly messages: string[] = [];

  static override async start(): Promise<SolanaTransferFixture> {
    return new SolanaTransferFixture(await openWallets());
  }

  get transferDeps(): TransferDeps {
    const { db, crypto, sponsor, bridge } = this;
    return { db, networks: this.networksWith({}), crypto, sponsor, bridge };
  }

  get log() {
    const note = (_: object, message: string) => void this.messages.push(message);
    return { info: () => {}, warn: note, error: note };
  }

  get followDeps() {
    return { db: this.db, bridge: this.bridge, log: this.log, now: this.bridgeClock.now };
  }

  async order(owner: Owner, amount = '5', recipient = WALLET): Promise<ExecuteBody> {
    const body = { publicKey: owner.address, recipient, amount };
    const { calls } = plain(await quoteTransfer(this.transferDeps, { caller: this.caller(), body }));
    return this.signed(owner, calls);
  }

  async create(body: ExecuteBody): Promise<SolanaTransfer> {
    return ((await createTransfer(this.transferDeps, { caller: this.caller(), body })) as WithStatus<SolanaTransfer>)
      .body;
  }

  read(id: string): Promise<SolanaTransfer> {
    return getTransfer(this.transferDeps, this.caller(), id);
  }

  step(id: string, changes: Partial<SolanaTransferFixture['followDeps']> = {}): Promise<void> {
    return followTransfer({ ...this.followDeps, ...changes }, id);
  }

  /** Applies the outcome of the burn, as the chain shows it but for the changes. */
  async burned({ transactionHash }: SolanaTransfer, changes: Partial<RelayOutcome> = {}): Promise<void> {
    const outcome = { ...(await this.sponsor.outcomeOf(transactionHash ?? '')), ...changes };
    const outcomes = transactionOutcomes(transferOutcomes({ networks: this.networks, log: this.log }));
    await this.db.tx((tx) => outcomes['solana-transfer'](tx, outcome));
  }

  async bridging(owner: Owner): Promise<SolanaTransfer> {
    const transfer = await this.create(await this.order(owner));
    await this.burned(transfer);
    return transfer;
  }
}

const plain = <T>(answer: T | WithStatus<T>): T => answer as T;
