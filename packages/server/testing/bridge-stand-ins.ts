import { ApiError, type Environment } from '@svc/protocol';
import { type Database, sql } from '@svc/store';
import type { Bridge, BridgeProgress, Burn } from '../src/bridge/bridge.ts';
import type { PayAnswer, Payer, PayOrder } from '../src/relayer/payer.ts';
import type { StoreWithRelay } from '../src/relayer/relay.ts';

export const MANAGER = 0x3a3an;
export const NONCE = `0x${'ab'.repeat(32)}`;
export const MINT = '5wHu1qwD7q4bLrWbV7CbKZ2FNVy5zR5CdE5oA7gS5NfT';

/** A bridge that shows what it is told to. */
export class FakeBridge implements Bridge {
  shows: BridgeProgress = { state: 'UNSEEN' };
  feeNow = 1_000n;
  trouble: Error | undefined;
  readonly asked: Burn[] = [];
  readonly renewed: string[] = [];

  serves(): boolean {
    return true;
  }

  async feeCeiling(): Promise<bigint> {
    return this.#answer(this.feeNow * 2n);
  }

  async fee(): Promise<bigint> {
    return this.#answer(this.feeNow);
  }

  burnCalls(_: Environment, order: Burn['order']) {
    return [{ to: 1n, selector: 2n, calldata: [order.amount, order.maxFee] }];
  }

  async progress(_: Environment, burn: Burn): Promise<BridgeProgress> {
    this.asked.push(burn);
    return this.#answer(this.shows);
  }

  async reattest(_: Environment, nonce: string): Promise<void> {
    this.renewed.push(this.#answer(nonce));
  }

  attest(forwardState?: 'PENDING' | 'COMPLETE' | 'FAILED'): void {
    const receiveHash = forwardState === 'COMPLETE' ? MINT : undefined;
    const content = { nonce: NONCE, message: '0xaa', attestation: '0xbb', feeExecuted: 650n };
    this.shows = { state: 'ATTESTED', ...content, forwardState, receiveHash };
  }

  #answer<T>(value: T): T {
    if (this.trouble) throw this.trouble;
    return value;
  }
}

/** Stores a payment as the real one does, and leaves the chain to the test. */
export class FakePayer implements Payer {
  readonly orders: PayOrder[] = [];
  refusal: string | undefined;
  trouble: ApiError | undefined;
  readonly #db: () => Database;
  #nonce = 0n;

  constructor(db: () => Database) {
    this.#db = db;
  }

  manager(): bigint {
    return MANAGER;
  }

  async isOverForGood(): Promise<boolean> {
    return false;
  }

  async pay(order: PayOrder, store: StoreWithRelay): Promise<PayAnswer> {
    if (this.trouble) throw this.trouble;
    if (this.refusal !== undefined) return { ok: false, reason: this.refusal };
    const known = await this.#known(order.purpose);
    if (known) return known;
    this.#nonce += 1n;
    const [id, hash] = [`rly_${order.purpose}`, 0x1000n + this.#nonce];
    await this.#db().tx(async (tx) => {
      await tx.run(sql`
        insert into relays (id, environment, chain_id, kind, purpose, message_hash, wallet, not_after, account, nonce, content, hash)
        values (${id}, ${order.environment}, '0x1', ${order.kind}, ${order.purpose}, '0x0', '0x3a3a', '9999-01-01T00:00:00Z', '0x3a3a',
                ${this.#nonce}, '{}', ${`0x${hash.toString(16)}`})`);
      await store(tx, { id, hash });
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

export const unavailable = (): ApiError => new ApiError('chain_unavailable');
