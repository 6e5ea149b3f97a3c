import { ApiError, type Environment } from '@svc/protocol';
import { type Call, selector, toHex } from '@svc/starknet';
import { type Database, sql } from '@svc/store';
import type { Bridge, BridgeProgress, Burn, MintCheck, ReportedMint } from '../src/bridge/bridge.ts';
import { cctpPlaces } from '../src/bridge/cctp-message.ts';
import type { StarknetNetwork } from '../src/chains/networks.ts';
import { padAddress } from '../src/chains/starknet/chain.ts';
import type { Token } from '../src/chains/tokens.ts';
import {
  type BridgedRedeem,
  type BridgeRedeemDeps,
  bridgeRedeem,
  burnOutcomes,
  findBridged,
} from '../src/gifts/bridge-redeem.ts';
import { BRIDGE_TASK } from '../src/gifts/redeem.ts';
import type { Caller } from '../src/http/call.ts';
import type { PayAnswer, Payer, PayOrder } from '../src/relayer/payer.ts';
import type { StoreWithRelay } from '../src/relayer/relay.ts';
import { writeCalls } from '../src/relayer/relay-store.ts';
import { newId } from '../src/util/ids.ts';
import { TestClock } from './chain.ts';
import { useDatabase } from './database.ts';
import { BRIDGE, GiftFixture } from './gifts.ts';
import { findBrokenInvariants } from './ledger.ts';

export const MANAGER = 0x3a3an;
export const NONCE = `0x${'ab'.repeat(32)}`;
export const MINT = '5wHu1qwD7q4bLrWbV7CbKZ2FNVy5zR5CdE5oA7gS5NfT';

export class FakeBridge implements Bridge {
  current: BridgeProgress = { state: 'UNSEEN' };
  feeNow = 1_000n;
  error: Error | undefined;
  /** What nodes of Solana show; undefined: none is asked. */
  minted: MintCheck | undefined;
  nodeError: Error | undefined;
  readonly checked: ReportedMint[] = [];
  readonly requests: Burn[] = [];
  readonly renewed: string[] = [];

  serves(): boolean {
    return true;
  }

  usdcMint() {
    return cctpPlaces.sandbox.usdcMint;
  }

  async feeCeiling(): Promise<bigint> {
    return this.#answer(this.feeNow * 2n);
  }

  async fee(): Promise<bigint> {
    return this.#answer(this.feeNow);
  }

  burnCalls(_: Environment, order: Burn['order']): Call[] {
    const approve = { to: USDC, selector: selector('approve'), calldata: [1n, order.amount, 0n] };
    return [{ to: 1n, selector: 2n, calldata: [order.amount, order.maxFee] }, approve];
  }

  async progress(_: Environment, burn: Burn): Promise<BridgeProgress> {
    this.requests.push(burn);
    return this.#answer(this.current);
  }

  async reattest(_: Environment, nonce: string): Promise<void> {
    this.renewed.push(this.#answer(nonce));
  }

  async checkMint(_: Environment, mint: ReportedMint): Promise<MintCheck | undefined> {
    this.checked.push(mint);
    if (this.nodeError) throw this.nodeError;
    return this.minted;
  }

  attest(forwardState?: 'PENDING' | 'COMPLETE' | 'FAILED'): void {
    const receiveHash = forwardState === 'COMPLETE' ? MINT : undefined;
    const content = { nonce: NONCE, message: '0xaa', attestation: '0xbb', feeExecuted: 650n };
    this.current = { state: 'ATTESTED', ...content, forwardState, receiveHash };
  }

  #answer<T>(value: T): T {
    if (this.error) throw this.error;
    return value;
  }
}

/** Stores payments like the real payer; the test plays the chain. */
export class FakePayer implements Payer {
  readonly orders: PayOrder[] = [];
  refusal: string | undefined;
  error: ApiError | undefined;
  readonly #db: () => Database;
  #nonce = 0n;

  constructor(db: () => Database) {
    this.#db = db;
  }

  manager(): bigint {
    return MANAGER;
  }

  publicKey(): undefined {
    return undefined;
  }

  signExecution(): Promise<never> {
    return Promise.reject(new Error('It has no key.'));
  }

  async requireReconciled(): Promise<void> {}

  async isFailureFinal(): Promise<boolean> {
    return false;
  }

  async pay(order: PayOrder, store: StoreWithRelay): Promise<PayAnswer> {
    if (this.error) throw this.error;
    if (this.refusal !== undefined) return { ok: false, reason: this.refusal };
    const known = await this.#known(order.purpose);
    if (known) return known;
    const id = `rly_${order.purpose}`;
    const hash = await this.#db().tx(async (tx) => {
      await tx.run(sql`select pg_advisory_xact_lock(1)`);
      this.#nonce += 1n;
      const hash = 0x1000n + this.#nonce;
      await tx.run(sql`
        insert into relays (id, environment, chain_id, kind, purpose, message_hash, wallet, not_after, account, nonce, content, hash)
        values (${id}, ${order.environment}, '0x1', ${order.kind}, ${order.purpose}, '0x0', '0x3a3a', '9999-01-01T00:00:00Z',
                ${padAddress(MANAGER)}, ${this.#nonce}, ${JSON.stringify(writeCalls(order.calls))}::jsonb, ${toHex(hash)})`);
      await store(tx, { id, hash });
      return hash;
    });
    this.orders.push(order);
    return { ok: true, relayId: id, hash };
  }

  async #known(purpose: string): Promise<PayAnswer | undefined> {
    const row = await this.#db().one<{ id: string; hash: string }>(
      sql`select id, hash from relays where purpose = ${purpose}`,
    );
    return row && { ok: true, relayId: row.id, hash: BigInt(row.hash) };
  }
}

export class Killed extends Error {}

/** Lets so many things happen, then nothing more: the last one before or after it was done. Answers what makes an object die so. */
export function dying(steps: number, when: 'before' | 'after'): <T extends object>(target: T) => T {
  let left = steps;
  const mortal = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (object, name) => {
        const found: unknown = Reflect.get(object, name, object);
        if (name === 'reads') return mortal(found as object);
        if (typeof found !== 'function') return found;
        return (...given: unknown[]) => {
          left -= 1;
          if (left < 0 || (left === 0 && when === 'before')) throw new Killed();
          const done: unknown = Reflect.apply(found, object, given);
          if (left > 0) return done;
          if (!(done instanceof Promise)) throw new Killed();
          return done.then(() => Promise.reject(new Killed()));
        };
      },
    });
  return mortal;
}

export const unavailable = (): ApiError => new ApiError('chain_unavailable');

export const WALLET = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
const USDC = 0x5dcn;
const PLENTY = 1_000_000_000_000n;
const TRANSFER = 0x99cd8bde557814842a3121e8ddfd433a539b8c9f14bf31ebf108d12e6196e9n;

interface GiftOptions {
  readonly cctpFast?: boolean;
  readonly maxRedeems?: number;
  readonly address?: string;
}

/** Redeems to Solana with a fake bridge, a fake payer and a clock that tests move. */
export class BridgeFixture {
  readonly gifts: GiftFixture;
  bridge = new FakeBridge();
  payer: FakePayer;
  readonly warnings: string[] = [];
  /** The manager's USDC on Starknet. */
  balance = PLENTY;
  readonly clock = new TestClock();
  readonly #db: () => Database;

  constructor(db: () => Database) {
    this.#db = db;
    this.gifts = new GiftFixture(db);
    this.payer = new FakePayer(db);
  }

  get db(): Database {
    return this.#db();
  }

  deps(changes: Partial<BridgeRedeemDeps> = {}): BridgeRedeemDeps {
    const warn = (_: object, message: string) => void this.warnings.push(message);
    const log = { info: () => {}, warn, error: warn };
    const { db, bridge, payer } = this;
    return { db, networks: this.#networks(), bridge, payer, log, now: this.clock.now, ...changes };
  }

  #networks(): BridgeRedeemDeps['networks'] {
    const chain = { chainId: 1n, balanceOf: async () => this.balance };
    return {
      starknet: () => ({ chain }) as unknown as StarknetNetwork,
      token: () => ({ address: toHex(USDC) }) as unknown as Token,
    };
  }

  /** The present time, a new bridge and a payer without faults. */
  reset(): void {
    this.clock.reset();
    this.bridge = new FakeBridge();
    this.payer.refusal = undefined;
    this.payer.error = undefined;
    this.balance = PLENTY;
  }

  /** A gift of 5 dollars, and a redeem of it that waits to be burned. */
  async redeem(options: GiftOptions = {}): Promise<{ id: string; giftId: string; caller: Caller }> {
    const { cctpFast = true, maxRedeems = 2, address = WALLET } = options;
    const caller = await this.gifts.caller(100n);
    const gift = await this.gifts.create(caller, { cctpFast, maxRedeems });
    return { id: await this.reserve(gift.id, address), giftId: gift.id, caller };
  }

  async reserve(giftId: string, address = WALLET): Promise<string> {
    const id = newId('rdm');
    await this.db.tx(async (tx) => {
      await tx.run(sql`update gifts set total_redeems = total_redeems + 1 where id = ${giftId}`);
      await tx.run(sql`
        insert into gift_users as known (gift_id, address, redeems) values (${giftId}, ${address}, 1)
        on conflict (gift_id, address) do update set redeems = known.redeems + 1`);
      await tx.run(sql`
        insert into gift_redeems (id, gift_id, organization_id, environment, destination_chain, address, shown_address,
                                  amount_micros, share_micros, hold_id)
        select ${id}, id, organization_id, environment, 'solana', ${address}, ${address}, amount_micros,
               amount_micros + gas_micros + bridge_micros, hold_id from gifts where id = ${giftId}`);
    });
    return id;
  }

  step(id: string, changes: Partial<BridgeRedeemDeps> = {}): Promise<void> {
    return bridgeRedeem(this.deps(changes), id);
  }

  async row(id: string): Promise<BridgedRedeem> {
    const redeem = await findBridged(this.db, id);
    if (!redeem) throw new Error('There is no such redeem.');
    return redeem;
  }

  async executed(id: string, result: 'SUCCEEDED' | 'REVERTED' | 'VOIDED' | 'INCOMPLETE' = 'SUCCEEDED'): Promise<void> {
    const { relayId, transactionHash, amount, facts, environment } = await this.row(id);
    const taken = result === 'SUCCEEDED' ? amount + BigInt(facts.maxFee ?? 0) : 0n;
    const hash = result === 'VOIDED' ? undefined : BigInt(transactionHash ?? 0x77);
    const events = [{ from: USDC, keys: [TRANSFER, MANAGER, 9n], data: [taken, 0n] }];
    const placed = { blockNumber: 1, blockHash: 1n, fee: 0n, accepted: true, revertReason: undefined, events };
    const { burn } = burnOutcomes(this.deps());
    const outcome = { relayId: relayId ?? '', kind: 'burn' as const, environment, account: MANAGER, hash };
    const state = result === 'INCOMPLETE' ? 'SUCCEEDED' : result;
    await this.db.tx(async (tx) => {
      await tx.run(sql`update relays set state = ${state} where id = ${outcome.relayId}`);
      await burn(tx, {
        ...outcome,
        result: state,
        revertReason: result === 'REVERTED' ? 'out of luck' : undefined,
        receipt: hash === undefined ? undefined : { transactionHash: hash, status: 'ACCEPTED_ON_L2', ...placed },
        confirmedAt: new Date(),
      });
    });
  }

  /** Whether a reorganisation would not have the burn sent again. */
  async isAbandoned(id: string): Promise<boolean> {
    const { relayId } = await this.row(id);
    return (await this.db.one(sql`select from relays where id = ${relayId} and not_after < now()`)) !== undefined;
  }

  async burned(options: GiftOptions = {}): Promise<Awaited<ReturnType<BridgeFixture['redeem']>>> {
    const redeem = await this.redeem(options);
    await this.step(redeem.id);
    await this.executed(redeem.id);
    return redeem;
  }

  /** Undefined without a job. */
  async nextRunSeconds(id: string): Promise<number | undefined> {
    const row = await this.db.one<{ seconds: number }>(sql`
      select round(extract(epoch from run_at - now()))::integer as seconds from jobs
       where task = ${BRIDGE_TASK} and key = ${id}`);
    return row?.seconds;
  }

  async deleteJobs(): Promise<void> {
    await this.db.run(sql`delete from jobs`);
  }

  /** In micros; fails where the ledger breaks an invariant. */
  async balances(caller: Caller): Promise<{ spent: bigint; held: bigint; available: bigint }> {
    const violations = (await findBrokenInvariants(this.db)).map(({ invariant }) => invariant);
    if (violations.length > 0) throw new Error(violations.join(' '));
    const row = await this.db.one<{ spent: bigint; held: bigint; available: bigint }>(sql`
      select spent, held, available from ledger_balances
       where organization_id = ${caller.organizationId} and environment = ${caller.environment}`);
    return { spent: row?.spent ?? 0n, held: row?.held ?? 0n, available: row?.available ?? 0n };
  }

  async redeemCounts(giftId: string): Promise<{ total: number; redeemed: bigint }> {
    const row = await this.db.one<{ total: number; redeemed: bigint }>(sql`
      select total_redeems as total, redeemed_micros as redeemed from gifts where id = ${giftId}`);
    return row ?? { total: -1, redeemed: -1n };
  }
}

export function useBridge(): BridgeFixture {
  return new BridgeFixture(useDatabase().db);
}

/** One fast redeem of 5 dollars: the amount, gas and the bridge. */
export const FAST_SHARE = 5_000_000n + 10_000n + BRIDGE;
