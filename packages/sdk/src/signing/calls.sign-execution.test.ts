import { ANY_CALLER, chainIds, outsideExecutionTypedData, selector, starkKey, verify } from '@svc/starknet';
import { typedData as starknetJs, type TypedData } from 'starknet';
import { describe, expect, it } from 'vitest';
import { SvcKeyError } from '../client/errors.ts';
import { signExecution } from './calls.ts';

const execution = {
  caller: ANY_CALLER,
  nonce: 7n,
  executeAfter: 1n,
  executeBefore: 2n,
  calls: [{ to: 0x70ce2n, selector: selector('transfer'), calldata: [0xb0bn, 5n, 0n] }],
};
const signer = { account: 0xacc0n, chainId: chainIds.SN_SEPOLIA, privateKey: 0x1234n };

describe('the signature of an execution', () => {
  it("is the account's, over the hash that wallets compute", () => {
    const { r, s } = signExecution(execution, signer);
    const typedData = outsideExecutionTypedData(execution, signer.chainId) as TypedData;
    const hash = BigInt(starknetJs.getMessageHash(typedData, '0xacc0'));
    expect(verify(hash, starkKey(signer.privateKey), BigInt(r), BigInt(s))).toBe(true);
    const elsewhere = BigInt(starknetJs.getMessageHash(typedData, '0xacc1'));
    expect(verify(elsewhere, starkKey(signer.privateKey), BigInt(r), BigInt(s))).toBe(false);
  });

  it('is refused for an invalid private key, without revealing it', () => {
    for (const privateKey of [0n, 2n ** 252n]) {
      const attempt = () => signExecution(execution, { ...signer, privateKey });
      expect(attempt).toThrow(SvcKeyError);
      expect(attempt).toThrow(/^This is not a private key of the Stark curve\.$/);
    }
  });
});
