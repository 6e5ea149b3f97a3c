import { type OutsideExecution, outsideExecutionHash, sign, toHex } from '@svc/starknet';
import { SvcKeyError } from '../client/errors.ts';

export interface Signer {
  readonly account: bigint;
  readonly chainId: bigint;
  readonly privateKey: bigint;
}

/** Signs what `checkTypedData` let through. The hash is made here, from the values that were checked. */
export function signExecution(
  execution: OutsideExecution,
  { account, chainId, privateKey }: Signer,
): { r: string; s: string } {
  const { r, s } = signHash(outsideExecutionHash(2, execution, account, chainId), privateKey);
  return { r: toHex(r), s: toHex(s) };
}

/** Without the cause: what the curve says of a bad key could contain it. */
function signHash(hash: bigint, privateKey: bigint) {
  try {
    return sign(hash, privateKey);
  } catch {
    throw new SvcKeyError('wrong_key', 'This is not a private key of the Stark curve.');
  }
}
