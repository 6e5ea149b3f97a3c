import type { Affine } from '../curve/curve.ts';
import { shortString } from '../felt.ts';
import { poseidonMany } from '../poseidon.ts';
import type { CipherBalance } from './cipher-balance.ts';
import { felts } from './points.ts';

/** What a proof is good for: one chain, one pool, one caller, one nonce of the account, and its balance at that nonce. */
export interface ProofContext {
  readonly chainId: bigint;
  readonly pool: bigint;
  /** The contract that calls the pool: the wallet, also in a sponsored transaction. */
  readonly sender: bigint;
  readonly nonce: bigint;
  readonly balance: CipherBalance;
  readonly bits: number;
}

export type OperationName = 'fund' | 'withdraw' | 'ragequit' | 'transfer' | 'rollover';

export function prefixOf(context: ProofContext, operation: OperationName, inputs: readonly bigint[]): bigint {
  return poseidonMany([context.chainId, context.pool, context.sender, shortString(operation), ...inputs]);
}

export function feltsOf(...balances: readonly CipherBalance[]): bigint[] {
  return felts(balances.flatMap(({ L, R }): Affine[] => [L, R]));
}

/** The randomness with which the contract itself encrypts a public amount. */
export const FUND_RANDOMNESS = shortString('fund');
export const WITHDRAW_RANDOMNESS = shortString('withdraw');
