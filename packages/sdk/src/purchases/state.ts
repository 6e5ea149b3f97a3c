import type { ChainToken } from '@svc/protocol';
import { type OutsideExecution, parseFelt, parseOutsideExecutionTypedData } from '@svc/starknet';
import type { BearerToken, Client } from '../client/client.ts';
import { SvcError, SvcInputError } from '../client/errors.ts';
import { readAddress } from '../client/input.ts';
import type { SignedCalls } from '../signing/calls.ts';

/**
 * How far a purchase is, as plain JSON for your storage. It holds no key: the signature in it is good for this one payment, once, within an hour.
 */
export interface PurchaseState {
  readonly version: 1;
  /** What will be recorded. */
  readonly purchase: {
    readonly walletAddress: string;
    readonly skuId: string;
    readonly skuReference: string;
    readonly currencyAmount: number;
    readonly chain: 'STARKNET';
    readonly token: ChainToken;
  };
  /** What is paid, in whole tokens. */
  readonly amount: string;
  readonly payment: SignedCalls;
  /** Known once the service has taken the payment. */
  readonly transactionHash?: string | undefined;
}

/** The parts of a purchase that a stored state must agree with. */
export interface PurchaseAsked {
  readonly walletAddress: string;
  readonly skuId: string;
  readonly skuReference: string;
  readonly currencyAmount?: number | undefined;
  readonly token: ChainToken;
}

/** A stored state, provided that it is one and belongs to what is asked for. */
export function readPurchaseState(state: PurchaseState, asked: PurchaseAsked): PurchaseState {
  if (state?.version !== 1 || !state.purchase || !state.payment) refuse('is not what onProgress was given');
  const { walletAddress, skuId, skuReference, currencyAmount, token } = state.purchase;
  const account = readAddress(walletAddress, 'walletAddress of resume');
  const isSame =
    account === readAddress(asked.walletAddress, 'publicKey of the wallet') &&
    account === readAddress(state.payment.publicKey, 'publicKey of resume') &&
    skuId === asked.skuId &&
    skuReference === asked.skuReference &&
    token === asked.token &&
    (asked.currencyAmount === undefined || asked.currencyAmount === currencyAmount);
  if (!isSame) refuse('belongs to another purchase: pass what it was begun with');
  if (state.transactionHash !== undefined && !parseFelt(state.transactionHash).ok)
    refuse('has no hash as transactionHash');
  executionOf(state);
  return state;
}

/** What the wallet's owner signed. */
export function executionOf({ payment }: PurchaseState): OutsideExecution {
  const typedData = parseOutsideExecutionTypedData(payment.typedData);
  if (!typedData.ok) refuse(`is damaged: ${typedData.reason}`);
  return typedData.value.execution;
}

function refuse(reason: string): never {
  throw new SvcInputError('invalid_input', `resume ${reason}.`);
}

/**
 * - `payment_refused`: the service did not take the payment, for example because the wallet has too little: not paid so far
 * - `payment_unclear`: whether the payment was made is not known yet
 * - `payment_failed`: the payment was reverted on the chain: nothing was paid
 * - `purchase_not_recorded`: the payment was sent; the service could not be told yet, or does not see it yet
 * - `purchase_refused`: paid, and the service does not accept it as the price of this service; see `cause`
 */
export type PurchaseErrorCode =
  | 'payment_refused'
  | 'payment_unclear'
  | 'payment_failed'
  | 'purchase_not_recorded'
  | 'purchase_refused';

/**
 * A purchase stopped after its payment was signed. Do not start it anew: call `purchaseSku` with `resume: error.state`, which never
 * pays twice.
 */
export class SvcPurchaseError extends SvcError {
  override readonly name = 'SvcPurchaseError';
  declare readonly code: PurchaseErrorCode;
  readonly state: PurchaseState;

  constructor(code: PurchaseErrorCode, message: string, state: PurchaseState, cause?: unknown) {
    super(code, message, cause === undefined ? {} : { cause });
    this.state = state;
  }
}

/** What every step of one purchase needs. */
export interface PurchaseContext {
  readonly client: Client;
  readonly bearerToken: BearerToken | undefined;
  /** Whether an earlier run may have been further than its state says. */
  readonly resumed: boolean;
  /** Answers when the app has stored it. */
  readonly save: (state: PurchaseState) => Promise<void>;
}

export type PaidState = PurchaseState & { readonly transactionHash: string };
