import { accountAddress, contractAddress, invokeHash, outsideExecutionHash, sign, verify } from '@svc/starknet';
import type { Crypto } from '../src/crypto/crypto.ts';

/** In this thread: tests sign a handful of things, and threads take a while to start. */
export const testCrypto: Crypto = {
  async signInvoke(fields, privateKey) {
    const hash = invokeHash(fields);
    const { r, s } = sign(hash, privateKey);
    return { hash, signature: [r, s] };
  },
  async checkExecution({ execution, account, chainId, keys, signature }) {
    const hash = outsideExecutionHash(2, execution, account, chainId);
    return { hash, signer: keys.find((key) => verify(hash, key, signature.r, signature.s)) };
  },
  executionHash: async (execution, account, chainId) => outsideExecutionHash(2, execution, account, chainId),
  contractAddress: async (deployment) => contractAddress(deployment),
  accountAddresses: async (classHashes, publicKey) => classHashes.map((hash) => accountAddress(hash, publicKey)),
  stop: async () => {},
};
