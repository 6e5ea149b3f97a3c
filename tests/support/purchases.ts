import type { Transaction } from '@svc/protocol';
import type { Db } from '@svc/store';
import { enqueue } from '../../packages/server/src/jobs/job.ts';
import { findPurchase, orderJob } from '../../packages/server/src/purchases/purchase.ts';
import { type StoredPurchase, storePurchase } from '../../packages/server/testing/stored-purchases.ts';
import { type App, field, hashOf, type Owner, transferOf } from './app.ts';
import { keyHeaders, type Reply, send } from './client.ts';
import { eventually } from './eventually.ts';
import type { Sandbox } from './sandbox.ts';
import type { ServerAddress } from './server.ts';
import type { AnyService } from './service.ts';
import { USDC } from './starknet-client.ts';

/** 50 pesos are 2.702703 dollars in development. */
export const PRICE_RAW = 2_702_703n;
const SKU = { skuId: 'totalplay-recibo', currencyAmount: 50, chain: 'STARKNET', token: 'USDC' };
const STARTING_USDC = '5000';
/** A purchase passes through a few jobs; after a kill others take them over within seconds. */
const END_LIMIT_MS = 60_000;
/** References, by what the sandbox's provider does with them. */
export const references = { quick: '5512345678', failing: '5512340000', slow: '5512341111' } as const;

export interface ProviderOrder {
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

export class PurchaseFixture {
  readonly service: AnyService;
  readonly app: App;
  readonly sandbox: Sandbox;
  readonly buyer: Owner;
  readonly paymentAddress: string;

  static async start(service: AnyService): Promise<PurchaseFixture> {
    const buyer = await service.wallet({ user: 'buyer', usdc: STARTING_USDC });
    return new PurchaseFixture(service, buyer, field<string>(await service.app.get('/config'), 'paymentAddress'));
  }

  private constructor(service: AnyService, buyer: Owner, paymentAddress: string) {
    this.service = service;
    this.app = service.app;
    this.sandbox = service.sandbox;
    this.buyer = buyer;
    this.paymentAddress = paymentAddress;
  }

  async pay(amount = PRICE_RAW): Promise<string> {
    return hashOf(await this.app.execute(this.buyer, [transferOf(USDC, this.paymentAddress, amount)]));
  }

  body(transactionHash: string, skuReference: string): object {
    return { ...SKU, transactionHash, skuReference, walletAddress: this.buyer.address };
  }

  async buy(skuReference: string): Promise<Transaction> {
    const reply = await this.app.post('/sku-purchases', this.body(await this.pay(), skuReference));
    if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`);
    return reply.body as Transaction;
  }

  async read(id: string): Promise<Transaction> {
    return (await this.app.get(`/sku-purchases/${id}`)).body as Transaction;
  }

  until(id: string, fits: (purchase: Transaction) => boolean): Promise<Transaction> {
    return eventually(() => this.read(id), fits, END_LIMIT_MS);
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

  refund(id: string, body: object = {}, server: ServerAddress = this.service.server): Promise<Reply> {
    return this.app.at(server).post(`/sku-purchases/${id}/refund`, body);
  }

  /** Undefined when the provider has never seen it. */
  async providerOrder(id: string): Promise<ProviderOrder | undefined> {
    return (await this.sandbox.ask<{ orders: ProviderOrder[] }>(`/provider/orders?orderId=${id}`)).orders[0];
  }

  balance(): Promise<bigint> {
    return this.app.balance(this.buyer.address, 'USDC');
  }

  async mails(to: string, purchaseId: string, count: number): Promise<(Mail & { text: string })[]> {
    const read = async () => {
      const { mails } = await this.sandbox.ask<{ mails: Mail[] }>(`/mailbox?to=${encodeURIComponent(to)}`);
      const whole = mails.map(({ id }) => this.sandbox.ask<Mail & { text: string }>(`/mailbox/${id}`));
      return (await Promise.all(whole)).filter(({ text }) => text.includes(purchaseId));
    };
    return eventually(read, (mails) => mails.length >= count, END_LIMIT_MS);
  }
}

/** A purchase whose provider is called next; answers its id. */
export async function placeOrder(db: Db, given: Omit<StoredPurchase, 'status' | 'isOrdered'>): Promise<string> {
  const id = await storePurchase(db, { ...given, status: 'PROCESSING', isOrdered: false });
  const purchase = await findPurchase(db, id);
  if (!purchase) throw new Error(`Purchase ${id} was not stored.`);
  await enqueue(db, orderJob(purchase));
  return id;
}
