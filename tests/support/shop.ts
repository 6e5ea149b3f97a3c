import type { Transaction } from '@svc/protocol';
import { App, field, hashOf, Owner, transferOf } from './app.ts';
import { keyHeaders, type Reply, send } from './client.ts';
import { eventually } from './eventually.ts';
import { Sandbox } from './sandbox.ts';
import { USDC } from './sandbox-client.ts';
import type { RunningServer } from './server.ts';
import type { TestService } from './service.ts';

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
export class Shop {
  readonly service: TestService;
  readonly app: App;
  readonly sandbox: Sandbox;
  readonly buyer: Owner;
  readonly paymentAddress: string;

  static async open(service: TestService): Promise<Shop> {
    const [app, buyer] = [new App(service.server), new Owner()];
    await app.createWallet(buyer, 'buyer');
    await new Sandbox(service.server).faucet(buyer.address, 'USDC', STARTING_USDC);
    return new Shop(service, app, buyer, field<string>(await app.get('/config'), 'paymentAddress'));
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
