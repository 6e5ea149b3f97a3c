import { describe, expect, it } from 'vitest';
import recorded from '../testing/tongo-proofs.json' with { type: 'json' };
import { decodeFund, decodeTransfer, decryptHint, encryptHint, publicPoint } from './index.ts';

const privateKey = BigInt(recorded.privateKey);
const recipientKey = BigInt(recorded.recipientKey);
const pool = BigInt(recorded.pool);
const nonce = BigInt(recorded.nonce);
const own = { privateKey, publicKey: publicPoint(privateKey), pool, nonce: nonce + 1n };
const fund = decodeFund(recorded.calldata.fund.map(BigInt));
const transfer = decodeTransfer(recorded.calldata.transfer.map(BigInt));
if (!fund || !transfer) throw new Error('The recorded calldata is well formed.');

describe('a hint', () => {
  it("of Tongo's own package is read by the owner, and that of a transfer by both sides", async () => {
    expect(await decryptHint(own, fund.hint)).toBe(14n);
    expect(await decryptHint(own, transfer.hintLeftover)).toBe(8n);
    const forward = { privateKey, publicKey: publicPoint(recipientKey), pool, nonce };
    const backward = { privateKey: recipientKey, publicKey: publicPoint(privateKey), pool, nonce };
    expect(await decryptHint(forward, transfer.hintTransfer)).toBe(5n);
    expect(await decryptHint(backward, transfer.hintTransfer)).toBe(5n);
  });

  it('is read again, and differs each time', async () => {
    for (const amount of [0n, 1n, 2n ** 32n - 1n]) {
      const [first, second] = [await encryptHint(own, amount), await encryptHint(own, amount)];
      expect([await decryptHint(own, first), await decryptHint(own, second)]).toEqual([amount, amount]);
      expect(first).not.toEqual(second);
    }
    await expect(encryptHint(own, 2n ** 32n)).rejects.toThrow(RangeError);
  });

  it('is not read with another key, pool or nonce, or changed', async () => {
    const hint = await encryptHint(own, 7n);
    expect(await decryptHint({ ...own, privateKey: recipientKey }, hint)).toBeUndefined();
    expect(await decryptHint({ ...own, pool: pool + 1n }, hint)).toBeUndefined();
    expect(await decryptHint({ ...own, nonce }, hint)).toBeUndefined();
    expect(await decryptHint(own, { ...hint, ciphertext: hint.ciphertext ^ 1n })).toBeUndefined();
    expect(await decryptHint(own, { ...hint, nonce: hint.nonce ^ 1n })).toBeUndefined();
    expect(await decryptHint(own, { ...hint, nonce: 1n << 200n })).toBeUndefined();
  });
});
