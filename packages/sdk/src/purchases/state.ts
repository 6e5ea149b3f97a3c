import type { ChainToken } from '@svc/protocol';
import { type OutsideExecution, parseFelt, parseOutsideExecutionTypedData } from '@svc/starknet';
import type { BearerToken, Client } from '../client/client.ts';
import { SvcError, SvcInputError } from '../client/errors.ts';
import { readAddress } from '../client/values.ts';
import type { SignedCalls } from '../signing/calls.ts';

/**
 * Progress of a purchase, as plain JSON. It contains no key: its signature is valid for this one payment, once,
 * within an hour.
 */
export interface PurchaseState {
  readonly version: 1;
  /** To be recorded. */
  readonly purchase: {
    readonly walletAddress: string;
    readonly skuId: string;
    readonly skuReference: string;
    readonly currencyAmount: number;
    readonly chain: 'STARKNET';
    readonly token: ChainToken;
  };
  /** In whole tokens. */
  readonly amount: string;
  readonly payment: SignedCalls;
  /** Set once the service has accepted the payment. */
  readonly transactionHash?: string | undefined;
}

/** The parameters that a stored state must match. */
export interface PurchaseAsked {
  readonly walletAddress: string;
  readonly skuId: string;
  readonly skuReference: string;
  readonly currencyAmount?: number | undefined;
  readonly token: ChainToken;
}

/** A stored state, validated and matched with the parameters. */
export function readPurchaseState(state: PurchaseState, params: PurchaseAsked): PurchaseState {
  if (state?.version !== 1 || !state.purchase || !state.payment) refuse('is not what onProgress was given');
  const { walletAddress, skuId, skuReference, currencyAmount, token } = state.purchase;
  const account = readAddress(walletAddress, 'walletAddress of resume');
  const isSame =
    account === readAddress(params.walletAddress, 'publicKey of the wallet') &&
    account === readAddress(state.payment.publicKey, 'publicKey of resume') &&
    skuId === params.skuId &&
    skuReference === params.skuReference &&
    token === params.token &&
    (params.currencyAmount === undefined || params.currencyAmount === currencyAmount);
  if (!isSame) refuse('belongs to another purchase: pass what it was begun with');
  if (state.transactionHash !== undefined && !parseFelt(state.transactionHash).ok)
    refuse('has no hash as transactionHash');
  executionOf(state);
  return state;
}

export function executionOf({ payment }: PurchaseState): OutsideExecution {
  const typedData = parseOutsideExecutionTypedData(payment.typedData);
  if (!typedData.ok) refuse(`is damaged: ${typedData.reason}`);
  return typedData.value.execution;
}

function refuse(reason: string): never {
  throw new SvcInputError('invalid_input', `resume ${reason}.`);
}

/**
 * - `payment_refused`: the service rejected the payment, for example for lack of funds; not paid so far
 * - `payment_unclear`: it is unknown whether the payment was made
 * - `payment_failed`: the payment was reverted; nothing was paid
 * - `purchase_not_recorded`: the payment was sent; the service is unreachable or does not see it yet
 * - `purchase_refused`: paid, but the service does not accept it for this SKU; see `cause`
 */
export type PurchaseErrorCode =
  | 'payment_refused'
  | 'payment_unclear'
  | 'payment_failed'
  | 'purchase_not_recorded'
  | 'purchase_refused';

/**
 * A purchase stopped after its payment was signed. Do not start a new one: call `purchaseSku` with `resume:
 * error.state`, which never pays twice.
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

export interface PurchaseContext {
  readonly client: Client;
  readonly bearerToken: BearerToken | undefined;
  /** An earlier run may be further than its state. */
  readonly resumed: boolean;
  readonly save: (state: PurchaseState) => Promise<void>;
}

export type PaidState = PurchaseState & { readonly transactionHash: string };
