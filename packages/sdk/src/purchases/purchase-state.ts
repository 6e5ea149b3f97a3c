import type { ChainToken } from '@svc/protocol';
import { type OutsideExecution, parseFelt, parseOutsideExecutionTypedData } from '@svc/starknet';
import { SvcInputError } from '../client/errors.ts';
import { readAddress } from '../signing/read-address.ts';
import type { SignedCalls } from '../signing/sign-calls.ts';

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
