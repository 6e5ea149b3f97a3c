import type { endpoints, RefundStatus, Transaction, TxStatus } from '@svc/protocol';
import type { Call } from '@svc/starknet';
import { type Sql, sql } from '@svc/store';
import type { Networks } from '../src/chains/networks.ts';
import type { Caller, Call as HttpCall } from '../src/http/call.ts';
import { createOrganization } from '../src/organizations/api-keys.ts';
import { confirmPayment, type FulfilmentDeps } from '../src/purchases/confirm-payment.ts';
import { orderPurchase } from '../src/purchases/fulfilment.ts';
import type { OrderResult, Provider, ProviderOrder } from '../src/purchases/provider.ts';
import type { ToConfirm } from '../src/purchases/purchase.ts';
import { type RefundDeps, refundOutcomes, refundSkuPurchase } from '../src/purchases/refunds.ts';
import { createPayer } from '../src/relayer/payer.ts';
import { manager, PAYMENT_ADDRESS, relayer, TestClock, tokenAddress, transfer } from './chain.ts';
import { type ChainChanges, RelayerFixture } from './relayer.ts';
import { storePurchase } from './stored-purchases.ts';

/** The result of a call: an answer, or a throw before or after the order arrived. */
export type OrderOutcome = OrderResult | 'lost' | 'answer lost';

export const COMPLETED = { state: 'completed', fileNumber: 'F-1' } as const;
export const REFUSED = { state: 'failed', reason: 'No such number.' } as const;
export const ACCEPTED = { state: 'accepted' } as const;

export class StubProvider implements Provider {
  /** Results of the next calls of `order`; after that each is completed. */
  readonly outcomes: OrderOutcome[] = [];
  readonly calls: string[] = [];
  readonly orders = new Map<string, ProviderOrder>();
  readonly results = new Map<string, OrderResult>();
  onOrder: (order: ProviderOrder) => Promise<void> = async () => {};
  onLookUp: () => Promise<void> = async () => {};
  isDown = false;

  reset(): void {
    this.outcomes.length = 0;
    this.calls.length = 0;
    this.orders.clear();
    this.results.clear();
    this.onOrder = async () => {};
    this.onLookUp = async () => {};
    this.isDown = false;
  }

  async order(order: ProviderOrder): Promise<OrderResult> {
    this.calls.push('order');
    await this.onOrder(order);
    const outcome = this.outcomes.shift() ?? COMPLETED;
    if (outcome === 'lost' || this.isDown) throw new Error('The connection was closed.');
    this.orders.set(order.orderId, order);
    const result = typeof outcome === 'string' ? COMPLETED : outcome;
    this.results.set(order.orderId, this.results.get(order.orderId) ?? result);
    if (outcome === 'answer lost') throw new Error('The connection was closed.');
    return result;
  }

  async lookUp(orderId: string): Promise<OrderResult | { readonly state: 'unknown' }> {
    this.calls.push('lookUp');
    await this.onLookUp();
    if (this.isDown) throw new Error('The connection was closed.');
    return this.results.get(orderId) ?? { state: 'unknown' };
  }
}

/** In units of USDC. */
export const PAID = 100n;
export const payer = relayer(3);

export interface PurchaseRow {
  readonly status: TxStatus;
  readonly refund: RefundStatus | null;
  readonly reason: string | null;
  readonly fileNumber: string | null;
}

/** Purchases on a sandbox, with a stub provider and a clock that tests move. */
export class FulfilmentFixture {
  readonly relayers: RelayerFixture;
  readonly provider = new StubProvider();
  readonly organizationId: string;
  readonly logged: { readonly level: string; readonly message: string; readonly fields: object }[] = [];
  readonly clock = new TestClock();

  static async start(): Promise<FulfilmentFixture> {
    const relayers = await RelayerFixture.start();
    const organizationId = await createOrganization(relayers.db, 'Tienda Azul');
    await relayers.db.run(sql`
      update environments set notification_email = 'ventas@shop.example' where organization_id = ${organizationId}`);
    return new FulfilmentFixture(relayers, organizationId);
  }

  private constructor(relayers: RelayerFixture, organizationId: string) {
    this.relayers = relayers;
    this.organizationId = organizationId;
  }

  get db() {
    return this.relayers.db;
  }

  get caller(): Caller {
    const proof = { proof: 'secret key', apiPublicKey: undefined, externalUserId: undefined } as const;
    return { organizationId: this.organizationId, environment: 'development', keyId: 'key_1', ...proof };
  }

  stop(): Promise<void> {
    return this.relayers.stop();
  }

  /** No faults, no jobs, the present time, and a payer with USDC. */
  async begin(): Promise<void> {
    await this.relayers.sandbox.reset();
    await this.relayers.sandbox.fund(payer.address);
    await this.db.run(sql`delete from jobs`);
    this.provider.reset();
    this.logged.length = 0;
    this.clock.reset();
  }

  networks(chain: ChainChanges = {}): Networks {
    return this.relayers.networksWith(chain);
  }

  /** Receipts with the first `keptEvents` events alone. */
  withoutEvents(keptEvents = 0): ChainChanges {
    const { chain } = this.relayers;
    return {
      receipt: async (hash) => {
        const whole = await chain.receipt(hash);
        return whole && { ...whole, events: whole.events.slice(0, keptEvents) };
      },
    };
  }

  deps(chain: ChainChanges = {}): FulfilmentDeps & RefundDeps {
    const networks = this.networks(chain);
    const note = (level: string) => (fields: object, message: string) =>
      void this.logged.push({ level, message, fields });
    return {
      db: this.db,
      networks,
      providers: () => this.provider,
      payer: createPayer({ ...this.relayers.deps, networks, managerKey: () => manager }),
      log: { info: note('info'), warn: note('warn'), error: note('error') },
      now: this.clock.now,
      pause: async () => {},
    };
  }

  send(calls: readonly Call[], from = payer): Promise<string> {
    return this.relayers.sendFrom(from, calls);
  }

  pay(amount = PAID): Promise<string> {
    return this.send([transfer('USDC', PAYMENT_ADDRESS, amount)]);
  }

  /** A PENDING purchase, paid on the chain unless a hash is given; answers its id. */
  async purchase(given: { hash?: string; amount?: bigint; organizationId?: string } = {}): Promise<string> {
    const { amount = PAID, organizationId = this.organizationId } = given;
    return storePurchase(this.db, {
      status: 'PENDING',
      organizationId,
      hash: given.hash ?? (await this.pay(amount)),
      buyer: payer.address,
      paymentAddress: PAYMENT_ADDRESS,
      tokenAddress: tokenAddress('USDC'),
      paid: amount,
      price: PAID,
      sku: { id: 'TELCEL', name: 'Recarga Telcel', providerId: 'taecel', catalogue: 'organization', pesos: '50.5' },
    });
  }

  /** A purchase whose provider is called next. */
  async paid(): Promise<string> {
    const id = await this.purchase();
    await this.confirm(id);
    return id;
  }

  /** A purchase that its provider refused. */
  async due(): Promise<string> {
    const id = await this.paid();
    this.provider.outcomes.push({ state: 'failed', reason: 'No such number.' });
    await this.order(id);
    return id;
  }

  confirm(purchaseId: string, toConfirm: Partial<ToConfirm> = {}, chain: ChainChanges = {}): Promise<void> {
    return confirmPayment(this.deps(chain), { purchaseId, ...toConfirm });
  }

  order(purchaseId: string, changes: Partial<FulfilmentDeps> = {}): Promise<void> {
    return orderPurchase({ ...this.deps(), ...changes }, { purchaseId }, new AbortController().signal);
  }

  async row(id: string): Promise<PurchaseRow | undefined> {
    return this.db.one<PurchaseRow>(sql`
      select status, refund_status as refund, revert_reason as reason, sku_file_number as "fileNumber"
        from transactions where id = ${id}`);
  }

  async notifications(id: string): Promise<{ events: string[]; mails: string[] }> {
    const names = async (query: Sql) => (await this.db.rows<{ name: string }>(query)).map(({ name }) => name);
    return {
      events: await names(sql`select type as name from events where subject = ${id} order by id`),
      mails: await names(sql`select template as name from mails where content ->> 'purchaseId' = ${id} order by id`),
    };
  }

  /** Waiting jobs, with seconds of the test's clock. */
  async jobs(id: string): Promise<{ task: string; inSeconds: number; payload: ToConfirm }[]> {
    const rows = await this.db.rows<{ task: string; at: Date; payload: ToConfirm }>(sql`
      select task, run_at as at, payload from jobs where key = ${id} and worker is null order by task`);
    const now = this.clock.now();
    return rows.map(({ task, at, payload }) => ({
      task,
      payload,
      inSeconds: Math.round((at.getTime() - now) / 1_000),
    }));
  }

  /** Runs passes until no relay of the manager is open. */
  finish(chain: ChainChanges = {}): Promise<void> {
    const outcomes = { ...this.relayers.deps.outcomes, ...refundOutcomes(this.deps()) };
    return this.relayers.finish(chain, { keys: () => [manager], outcomes });
  }

  balance(): Promise<bigint> {
    return this.relayers.balance(payer.address);
  }
}

interface RefundRequest {
  readonly hash?: string;
  readonly chain?: ChainChanges;
  readonly caller?: FulfilmentFixture['caller'];
  readonly deps?: Partial<RefundDeps>;
}

export function refund(fixture: FulfilmentFixture, id: string, request: RefundRequest = {}): Promise<Transaction> {
  const { hash, chain = {}, caller = fixture.caller, deps = {} } = request;
  const body = hash === undefined ? {} : { transactionHash: hash };
  const call = { caller, params: { id }, body, transact: fixture.db.tx };
  const httpCall = call as unknown as HttpCall<typeof endpoints.refundSkuPurchase>;
  return refundSkuPurchase({ ...fixture.deps(chain), ...deps }, httpCall) as Promise<Transaction>;
}
