import type { Db } from '@svc/store';
import { type App, field, hashOf, type Owner, transferOf } from './app.ts';
import type { Sandbox } from './sandbox.ts';
import { USDC } from './sandbox-client.ts';
import { PAID_RAW, type StoredPurchase, storePurchase } from './stored-purchase.ts';

/** What was bought, and what waits to be ended. */
export interface PurchaseWorld {
  /** A body of `createSkuPurchase` that was recorded. */
  readonly body: PurchaseBody;
  /** What it bought. */
  readonly id: string;
  /** Purchases whose payment the chain does not know, so that they stay PENDING. */
  readonly pending: string[];
  /** Failed purchases whose payment is due for refund. */
  readonly refundable: string[];
}

export interface PurchaseBody {
  readonly transactionHash: string;
  readonly walletAddress: string;
  readonly skuId: string;
  readonly skuReference: string;
  readonly currencyAmount: number;
  readonly chain: string;
  readonly token: string;
}

/** 500 pesos are 27.027027 dollars in development. */
export const SERVICE = { skuId: 'pase-recarga', skuReference: 'IMDM28417936', currencyAmount: 500 };
const PRICE_RAW = 27_027_027n;
/** The price, and somewhat more. */
const FUNDS = '28';
/** More than are cancelled, and more than are refunded, in a suite. The chain is asked again and again for those that are pending. */
const PENDING = 8;
const REFUNDABLE = 40;

/** The buyer's wallet must be of the app. */
export async function preparePurchases(db: Db, app: App, sandbox: Sandbox, buyer: Owner): Promise<PurchaseWorld> {
  await sandbox.faucet(buyer.address, 'USDC', FUNDS);
  const paymentAddress = field<string>(await app.get('/config'), 'paymentAddress');
  const transactionHash = hashOf(await app.execute(buyer, [transferOf(USDC, paymentAddress, PRICE_RAW)]));
  const place = { walletAddress: buyer.address, chain: 'STARKNET', token: 'USDC' };
  const body = { transactionHash, ...SERVICE, ...place };
  const id = field<string>(await app.post('/sku-purchases', body), 'id');
  const organizationId = field<string>(await app.get('/organization'), 'id');
  const stored = { organizationId, buyer: buyer.address, paymentAddress };
  const hash = hashOf(await app.execute(buyer, [transferOf(USDC, paymentAddress, BigInt(PAID_RAW))]));
  const several = (what: Pick<StoredPurchase, 'status' | 'hash'>, length: number) =>
    Promise.all(Array.from({ length }, () => storePurchase(db, { ...stored, ...what })));
  return {
    body,
    id,
    pending: await several({ status: 'PENDING' }, PENDING),
    refundable: await several({ status: 'FAILED', hash }, REFUNDABLE),
  };
}
