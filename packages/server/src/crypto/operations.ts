import { accountAddress, contractAddress, invokeHash, outsideExecutionHash, sign, verify } from '@svc/starknet';
import type { Crypto } from './crypto.ts';

type Operation = Exclude<keyof Crypto, 'stop'>;

/** What the threads can do: the same names and arguments, answered at once. */
export type Operations = {
  readonly [Name in Operation]: (...args: Parameters<Crypto[Name]>) => Awaited<ReturnType<Crypto[Name]>>;
};

export const operations: Operations = {
  signInvoke(fields, privateKey) {
    const hash = invokeHash(fields);
    const { r, s } = signQuietly(hash, privateKey);
    return { hash, signature: [r, s] };
  },

  checkExecution({ execution, account, chainId, keys, signature: { r, s } }) {
    const hash = outsideExecutionHash(2, execution, account, chainId);
    return { hash, signer: keys.find((key) => verify(hash, key, r, s)) };
  },

  executionHash: (execution, account, chainId) => outsideExecutionHash(2, execution, account, chainId),
  contractAddress,
  accountAddresses: (classHashes, publicKey) => classHashes.map((classHash) => accountAddress(classHash, publicKey)),
};

/** The curve's library writes a key that it refuses into its message, so nothing of that error is passed on. */
function signQuietly(hash: bigint, privateKey: bigint) {
  try {
    return sign(hash, privateKey);
  } catch {
    throw new RangeError('The private key or the hash is out of range');
  }
}
