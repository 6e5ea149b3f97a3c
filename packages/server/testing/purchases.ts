import path from 'node:path';
import type { BodyOf, ChainToken, endpoints, Transaction } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import { DEFAULT_DEVELOPMENT_RATE, parseRate } from '../src/exchanges/exchange.ts';
import type { Call, Caller } from '../src/http/call.ts';
import type { Provider } from '../src/purchases/provider.ts';
import { createPurchase, type PurchaseDeps } from '../src/purchases/record-purchase.ts';
import { loadCatalogue } from '../src/skus/catalogue.ts';
import { openTransactionFixture, type TransactionFixture, transferOf } from './transactions.ts';
import type { Owner } from './wallets.ts';

type CreateCall = Call<typeof endpoints.createSkuPurchase>;
export type PurchaseBody = BodyOf<typeof endpoints.createSkuPurchase>;

const CATALOGUE = path.resolve(import.meta.dirname, '../catalogue/mexico.json');

/** 185 pesos are ten dollars. */
export const PESOS = 185;
export const PRICE_RAW = 10_000_000n;

export interface PurchaseFixture extends TransactionFixture {
  /** With a thousand of every token of a dollar. */
  readonly ana: Owner;
  readonly payments: string;
  deps(changes?: Partial<PurchaseDeps>): PurchaseDeps;
  /** A transaction of ana that pays. */
  pay(amount?: bigint, token?: ChainToken): Promise<string>;
  /** A body that is right in everything, with changes. */
  body(transactionHash: string, changes?: Partial<PurchaseBody>): PurchaseBody;
  record(body: PurchaseBody, options?: { caller?: Caller; deps?: Partial<PurchaseDeps> }): Promise<Transaction>;
  /** The same within a transaction. */
  recordIn(tx: Db, body: PurchaseBody): Promise<Transaction>;
  /** Everything that the recording of a payment leaves. */
  traces(transactionHash: string): Promise<object>;
}

export const aProvider: Provider = {
  order: () => Promise.reject(new Error('Nobody orders here.')),
  lookUp: () => Promise.reject(new Error('Nobody orders here.')),
};

/** The rooms below for real, with a provider that nobody calls and rates as the tests say. */
export async function openPurchaseFixture(): Promise<PurchaseFixture> {
  const transactions = await openTransactionFixture();
  const { db, networks } = transactions;
  await loadCatalogue(db, CATALOGUE);
  const ana = await transactions.funded('ana');
  for (const token of ['USDC', 'USDC_E', 'USDT', 'DAI']) {
    await transactions.control('/faucet', { address: ana.address, token, amount: '1000' });
  }
  const payments = networks.starknet('development').paymentAddress;
  const fixture: PurchaseFixture = {
    ...transactions,
    ana,
    payments,
    deps: (changes = {}) => ({
      db,
      networks,
      exchange: ratesOf(DEFAULT_DEVELOPMENT_RATE),
      providers: () => aProvider,
      pause: async () => {},
      ...changes,
    }),
    pay: (amount = PRICE_RAW, token = 'USDC') => {
      const address = networks.token('development', 'STARKNET', token)?.address ?? '';
      return transactions.execute(ana, [transferOf(payments, amount, address)]);
    },
    body: (transactionHash, changes = {}) => ({
      transactionHash,
      walletAddress: ana.address,
      skuId: 'pase-recarga',
      skuReference: 'IMDM28417936',
      currencyAmount: PESOS,
      chain: 'STARKNET',
      token: 'USDC',
      ...changes,
    }),
    record: (body, { caller = transactions.caller(), deps } = {}) => {
      const call = { caller, body, transact: db.tx } as unknown as CreateCall;
      return createPurchase(fixture.deps(deps), call) as Promise<Transaction>;
    },
    recordIn: (tx, body) => {
      const transact = (work: (tx: Db) => Promise<unknown>) => work(tx);
      const call = { caller: transactions.caller(), body, transact };
      return createPurchase(fixture.deps(), call as unknown as CreateCall) as Promise<Transaction>;
    },
    traces: async (hash) => ({
      uses: await db.rows(sql`
        select purpose, reference from used_payments where transaction_hash = ${toHex(BigInt(hash))}`),
      purchases: await db.rows(sql`
        select id, provider_id, catalogue, sku_name, price_micros
          from sku_purchases join transactions using (id) where transaction_hash = ${toHex(BigInt(hash))}`),
      jobs: await db.rows(sql`
        select key, payload from jobs
         where task = 'confirm-purchase-payment'
           and key in (select id from transactions where transaction_hash = ${toHex(BigInt(hash))})`),
    }),
  };
  return fixture;
}

/** An exchange at which these rates were in force within the last minutes. */
export function ratesOf(...rates: readonly string[]): PurchaseDeps['exchange'] {
  const inForce = rates.map((text) => {
    const rate = parseRate(text);
    if (!rate.ok) throw new Error(rate.reason);
    return { mxnPerUsd: rate.value, source: 'fixed' };
  });
  return { ratesOfLast: async () => inForce };
}
