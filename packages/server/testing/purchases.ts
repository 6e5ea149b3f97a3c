import path from 'node:path';
import type { BodyOf, ChainToken, endpoints, Transaction } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import { DEFAULT_DEVELOPMENT_RATE, parseRate } from '../src/exchanges/exchange.ts';
import type { Call, Caller } from '../src/http/call.ts';
import type { Provider } from '../src/purchases/provider.ts';
import { createPurchase, type PurchaseDeps } from '../src/purchases/record-purchase.ts';
import { loadCatalogue } from '../src/skus/skus.ts';
import { TransactionFixture, transferOf } from './transactions.ts';
import { type OpenWallets, Owner, openWallets } from './wallets.ts';

type CreateCall = Call<typeof endpoints.createSkuPurchase>;
export type PurchaseBody = BodyOf<typeof endpoints.createSkuPurchase>;

const CATALOGUE = path.resolve(import.meta.dirname, '../catalogue/mexico.json');

/** 185 pesos are ten dollars. */
export const PESOS = 185;
export const PRICE_RAW = 10_000_000n;

export const unusedProvider: Provider = {
  order: () => Promise.reject(new Error('No order is expected.')),
  lookUp: () => Promise.reject(new Error('No order is expected.')),
};

export class PurchaseFixture extends TransactionFixture {
  /** With a thousand of every dollar token. */
  readonly ana: Owner;
  readonly payments: string;

  static override async start(): Promise<PurchaseFixture> {
    const open = await openWallets();
    await loadCatalogue(open.database.db, CATALOGUE);
    const fixture = new PurchaseFixture(open, new Owner());
    await fixture.wallet(fixture.ana, 'ana');
    await fixture.sandbox.faucet(fixture.ana.address, 'STRK', '100');
    for (const token of ['USDC', 'USDC_E', 'USDT', 'DAI'] as const) {
      await fixture.sandbox.faucet(fixture.ana.address, token, '1000');
    }
    return fixture;
  }

  private constructor(open: OpenWallets, ana: Owner) {
    super(open);
    this.ana = ana;
    this.payments = this.networks.starknet('development').paymentAddress;
  }

  deps(changes: Partial<PurchaseDeps> = {}): PurchaseDeps {
    const { db, networks } = this;
    const exchange = ratesOf(DEFAULT_DEVELOPMENT_RATE);
    return { db, networks, exchange, providers: () => unusedProvider, pause: async () => {}, ...changes };
  }

  pay(amount = PRICE_RAW, token: ChainToken = 'USDC'): Promise<string> {
    const address = this.networks.token('development', 'STARKNET', token)?.address ?? '';
    return this.execute(this.ana, [transferOf(this.payments, amount, address)]);
  }

  body(transactionHash: string, changes: Partial<PurchaseBody> = {}): PurchaseBody {
    return {
      transactionHash,
      walletAddress: this.ana.address,
      skuId: 'pase-recarga',
      skuReference: 'IMDM28417936',
      currencyAmount: PESOS,
      chain: 'STARKNET',
      token: 'USDC',
      ...changes,
    };
  }

  record(
    body: PurchaseBody,
    { caller = this.caller(), deps }: { caller?: Caller; deps?: Partial<PurchaseDeps> } = {},
  ): Promise<Transaction> {
    const call = { caller, body, transact: this.db.tx } as unknown as CreateCall;
    return createPurchase(this.deps(deps), call) as Promise<Transaction>;
  }

  recordIn(tx: Db, body: PurchaseBody): Promise<Transaction> {
    const transact = (work: (tx: Db) => Promise<unknown>) => work(tx);
    const call = { caller: this.caller(), body, transact };
    return createPurchase(this.deps(), call as unknown as CreateCall) as Promise<Transaction>;
  }

  /** Every row that the recording of a payment leaves. */
  async traces(hash: string): Promise<object> {
    const { db } = this;
    return {
      uses: await db.rows(sql`
        select purpose, reference from used_payments where transaction_hash = ${toHex(BigInt(hash))}`),
      purchases: await db.rows(sql`
        select id, provider_id, catalogue, sku_name, price_micros
          from sku_purchases join transactions using (id) where transaction_hash = ${toHex(BigInt(hash))}`),
      jobs: await db.rows(sql`
        select key, payload from jobs
         where task = 'confirm-purchase-payment'
           and key in (select id from transactions where transaction_hash = ${toHex(BigInt(hash))})`),
    };
  }
}

export function ratesOf(...rates: readonly string[]): PurchaseDeps['exchange'] {
  const inForce = rates.map((text) => {
    const rate = parseRate(text);
    if (!rate.ok) throw new Error(rate.reason);
    return { mxnPerUsd: rate.value, source: 'fixed' };
  });
  return { ratesOfLast: async () => inForce };
}
