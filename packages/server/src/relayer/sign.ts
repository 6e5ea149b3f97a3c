import { type Call, encodeCalls, type InvokeFields, TRANSACTION_VERSION } from '@svc/starknet';
import type { SignedInvoke } from '../chains/starknet/chain.ts';
import { type RawInvoke, rawInvoke } from '../chains/starknet/raw-invoke.ts';
import type { Crypto } from '../crypto/crypto.ts';
import { type Fee, NO_FEE } from './fees.ts';
import type { RelayerKey } from './parts.ts';

export interface Transaction {
  readonly chainId: bigint;
  readonly sender: bigint;
  readonly nonce: bigint;
  readonly calls: readonly Call[];
}

export async function signTransaction(
  crypto: Crypto,
  { privateKey }: RelayerKey,
  transaction: Transaction,
  fee: Fee,
): Promise<SignedInvoke> {
  const fields = fieldsOf(transaction, fee);
  const { hash, signature } = await crypto.signInvoke(fields, privateKey);
  return { hash, transaction: rawInvoke(fields, signature) };
}

/** To be estimated: without a signature. */
export function unsigned(transaction: Transaction): RawInvoke {
  return rawInvoke(fieldsOf(transaction, NO_FEE), []);
}

function fieldsOf({ chainId, sender, nonce, calls }: Transaction, { tip, bounds }: Fee): InvokeFields {
  return {
    version: TRANSACTION_VERSION,
    chainId,
    sender,
    nonce,
    calldata: encodeCalls(calls),
    tip,
    resourceBounds: bounds,
    paymasterData: [],
    accountDeploymentData: [],
    nonceDataAvailabilityMode: 0,
    feeDataAvailabilityMode: 0,
  };
}
