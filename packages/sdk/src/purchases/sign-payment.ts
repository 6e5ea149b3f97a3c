import type { ChainToken } from '@svc/protocol';
import type { BearerToken, Client } from '../client/client.ts';
import { getConfig } from '../client/get-config.ts';
import { signCalls } from '../signing/sign-calls.ts';
import type { SvcWallet } from '../signing/wallet.ts';
import { transferCall } from '../transfers/transfer.ts';
import type { PurchaseState } from './purchase-state.ts';
import { quotePurchase } from './quote-purchase.ts';

export interface PaymentAsked {
  readonly encryptKey: string;
  readonly wallet: SvcWallet;
  readonly skuId: string;
  readonly skuReference: string;
  readonly currencyAmount?: number | undefined;
  readonly maxUsdAmount?: string | number | undefined;
  readonly token: ChainToken;
}

/** Quotes the purchase and signs its payment. Nothing moves until the payment is sent. */
export async function signPayment(
  client: Client,
  asked: PaymentAsked,
  bearerToken?: BearerToken,
): Promise<PurchaseState> {
  const { encryptKey, wallet, skuId, skuReference, token } = asked;
  const walletAddress = wallet.publicKey;
  const { currencyAmount, amount } = await quotePurchase(client, { ...asked, walletAddress }, bearerToken);
  const { paymentAddress: recipient } = await getConfig(client);
  const calls = [await transferCall(client, { amount, token, recipient })];
  return {
    version: 1,
    purchase: { walletAddress, skuId, skuReference, currencyAmount, chain: 'STARKNET', token },
    amount,
    payment: await signCalls(client, { wallet, encryptKey, calls }, bearerToken),
  };
}
