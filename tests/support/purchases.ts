import { randomBytes } from 'node:crypto';
import type { Environment, Transaction } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { enqueue } from '../../packages/server/src/jobs/job.ts';
import { findPurchase, orderJob } from '../../packages/server/src/purchases/purchase.ts';
import { newId } from '../../packages/server/src/util/ids.ts';
import { type StoredOrder, storeOrder } from '../../packages/server/testing/stored-purchases.ts';
import { App, field, hashOf, Owner, transferOf } from './app.ts';
import { keyHeaders, type Reply, send } from './client.ts';
import { eventually } from './eventually.ts';
import { Sandbox } from './sandbox.ts';
import type { RunningServer } from './server.ts';
import type { TestService } from './service.ts';
import { USDC } from './starknet-client.ts';

export interface StoredPurchase {
  readonly organizationId: string;
  /** Default: development. */
  readonly environment?: Environment;
  /** Who paid, and is paid back. */
  readonly buyer: string;
  readonly paymentAddress: string;
  readonly status: 'PENDING' | 'FAILED';
  /** A transfer of a cent or more, without which nothing is given back. Default: one that the chain does not know. */
  readonly hash?: string;
}

/** A cent, so that many can be given back. */
export const PAID_RAW = 10_000;

/** A purchase as one finds it a while after it was recorded: its payment unknown, or due for refund. Answers its id. */
export async function storePurchase(db: Db, purchase: StoredPurchase): Promise<string> {
  const { organizationId, environment = 'development', buyer, paymentAddress, status } = purchase;
  const [id, refund] = [newId('txn'), status === 'FAILED' ? 'DUE' : null];
  const { hash = newHash() } = purchase;
  const called = status === 'FAILED' ? new Date() : null;
  await db.tx(async (tx) => {
    await tx.run(sql`
      insert into transactions (id, organization_id, environment, api_public_key, type, chain, transaction_hash,
        sender_address, destination_address, token, token_address, amount, sku_id, sku_reference, sku_purchase_amount,
        sku_purchase_currency, status, refund_status, created_at, updated_at)
      values (${id}, ${organizationId}, ${environment}, 'pk_dev_test', 'SKU_PURCHASE', 'STARKNET', ${hash},
        ${normal(buyer)}, ${normal(paymentAddress)}, 'USDC', ${normal(USDC)}, ${PAID_RAW}, 'pase-recarga',
        'IMDM28417936', 0.18, 'MXN', ${status}, ${refund}, now(), now())`);
    await tx.run(sql`
      insert into sku_purchases (id, provider_id, catalogue, sku_name, price_micros, paid_at, block_time, ordered_at)
      values (${id}, 'movilidad-mx', 'deployment', 'PASE: recarga de tag', ${PAID_RAW}, ${called}, ${called}, ${called})`);
  });
  return id;
}

const newHash = () => `0x1${randomBytes(30).toString('hex')}`;
const normal = (address: string) => `0x${address.slice(2).padStart(64, '0').toLowerCase()}`;

/** 50 pesos are 2.702703 dollars in development. */
export const PRICE_RAW = 2_702_703n;
const SKU = { skuId: 'totalplay-recibo', currencyAmount: 50, chain: 'STARKNET', token: 'USDC' };
const STARTING_USDC = '5000';
/** A purchase passes through a few jobs; after a kill they are taken over in some seconds. */
const PATIENCE_MS = 60_000;
/** References, by what the provider of development does with them. */
export const references = { quick: '5512345678', failing: '5512340000', slow: '5512341111' } as const;

/** What the provider of development keeps of an order. */
export interface Ordered {
  readonly orderId: string;
  readonly status: string;
  readonly fileNumber?: string;
  readonly asked: number;
  readonly delivered: number;
}

export interface Mail {
  readonly id: number;
  readonly to: string;
  readonly subject: string;
}

const ENDS: readonly string[] = ['SUCCESS', 'FAILED', 'CANCELLED'];

/** An app that sells services, and a wallet of a user of it that buys them. Every step is a request. */
export class PurchaseFixture {
  readonly service: TestService;
  readonly app: App;
  readonly sandbox: Sandbox;
  readonly buyer: Owner;
  readonly paymentAddress: string;

  static async open(service: TestService): Promise<PurchaseFixture> {
    const [app, buyer] = [new App(service.server), new Owner()];
    await app.createWallet(buyer, 'buyer');
    await new Sandbox(service.server).faucet(buyer.address, 'USDC', STARTING_USDC);
    return new PurchaseFixture(service, app, buyer, field<string>(await app.get('/config'), 'paymentAddress'));
  }

  private constructor(service: TestService, app: App, buyer: Owner, paymentAddress: string) {
    this.service = service;
    this.app = app;
    this.buyer = buyer;
    this.paymentAddress = paymentAddress;
    this.sandbox = new Sandbox(service.server);
  }

  /** Answers the hash. */
  async pay(amount = PRICE_RAW): Promise<string> {
    return hashOf(await this.app.execute(this.buyer, [transferOf(USDC, this.paymentAddress, amount)]));
  }

  body(transactionHash: string, skuReference: string): object {
    return { ...SKU, transactionHash, skuReference, walletAddress: this.buyer.address };
  }

  /** Pays and records. */
  async buy(skuReference: string): Promise<Transaction> {
    const reply = await this.app.post('/sku-purchases', this.body(await this.pay(), skuReference));
    if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`);
    return reply.body as Transaction;
  }

  async read(id: string): Promise<Transaction> {
    return (await this.app.get(`/sku-purchases/${id}`)).body as Transaction;
  }

  until(id: string, fits: (purchase: Transaction) => boolean): Promise<Transaction> {
    return eventually(() => this.read(id), fits, PATIENCE_MS);
  }

  ended(id: string): Promise<Transaction> {
    return this.until(id, ({ status }) => ENDS.includes(status));
  }

  async bought(skuReference: string): Promise<Transaction> {
    return this.ended((await this.buy(skuReference)).id);
  }

  cancel(id: string, headers = keyHeaders(this.service.server)): Promise<Reply> {
    return send(`${this.app.baseUrl}/sku-purchases/${id}/cancel`, { method: 'POST', headers });
  }

  refund(id: string, body: object = {}, server: RunningServer = this.service.server): Promise<Reply> {
    return new App(server, this.app.headers).post(`/sku-purchases/${id}/refund`, body);
  }

  /** What the provider knows of an order; undefined when it has never seen it. */
  async ordered(id: string): Promise<Ordered | undefined> {
    return (await this.sandbox.ask<{ orders: Ordered[] }>(`/provider/orders?orderId=${id}`)).orders[0];
  }

  balance(): Promise<bigint> {
    return this.app.balance(this.buyer.address, 'USDC');
  }

  /** The mails to an address that name a purchase, once there are so many. */
  async mails(to: string, purchaseId: string, count: number): Promise<(Mail & { text: string })[]> {
    const read = async () => {
      const { mails } = await this.sandbox.ask<{ mails: Mail[] }>(`/mailbox?to=${encodeURIComponent(to)}`);
      const whole = mails.map(({ id }) => this.sandbox.ask<Mail & { text: string }>(`/mailbox/${id}`));
      return (await Promise.all(whole)).filter(({ text }) => text.includes(purchaseId));
    };
    return eventually(read, (mails) => mails.length >= count, PATIENCE_MS);
  }
}

/** A purchase whose payment was just confirmed: its provider is called next. Answers its id. */
export async function placeOrder(db: Db, order: Omit<StoredOrder, 'isOrdered'>): Promise<string> {
  const id = await storeOrder(db, { ...order, isOrdered: false });
  const purchase = await findPurchase(db, id);
  if (!purchase) throw new Error(`Purchase ${id} was not stored.`);
  await enqueue(db, orderJob(purchase));
  return id;
}
