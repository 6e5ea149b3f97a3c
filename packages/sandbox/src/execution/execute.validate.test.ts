import { describe, expect, it } from 'vitest';
import { STRK, signature, TestChain, transfer } from '../../testing/test-chain.ts';
import { predeployed } from '../contracts/predeployed.ts';
import { validate } from './execute.ts';

const [relayer, other] = predeployed.relayers;

describe('validate', () => {
  it('takes a nonce that is ahead by no more than the gap, and none that is behind', async () => {
    const chain = new TestChain();
    await chain.must(relayer, []);
    const check = async (nonce: bigint, maxNonceGap?: bigint) => {
      const tx = await chain.invocation(relayer, [transfer(STRK, 1n, 1n)], { nonce });
      return validate(chain, chain.block, tx, maxNonceGap === undefined ? {} : { maxNonceGap });
    };
    expect(await check(1n)).toBeUndefined();
    expect(await check(2n)).toMatchObject({ refused: 'INVALID_NONCE' });
    expect(await check(201n, 200n)).toBeUndefined();
    expect(await check(202n, 200n)).toMatchObject({ refused: 'INVALID_NONCE' });
    expect(await check(0n, 200n)).toMatchObject({ refused: 'INVALID_NONCE' });
  });

  it('looks at the signature without running the calls', async () => {
    const chain = new TestChain();
    const tx = await chain.invocation(relayer, [transfer(0x123n, 1n, 1n)]);
    expect(await validate(chain, chain.block, tx)).toBeUndefined();
    const forged = { ...tx, signature: signature(tx.hash, other.privateKey) };
    expect(await validate(chain, chain.block, forged)).toMatchObject({
      refused: 'VALIDATION_FAILURE',
      error: { error: expect.stringContaining('Account: invalid signature') },
    });
  });

  it('builds a new account first, so that its own code can judge', async () => {
    const chain = new TestChain();
    const tx = chain.deployment(0x5eedn, await chain.classHashAt(relayer.address), [5n]);
    expect(await validate(chain, chain.block, tx, { skipFee: true })).toMatchObject({ refused: 'VALIDATION_FAILURE' });
    const { salt, classHash } = tx;
    const good = chain.deployment(0x5eedn, classHash, [salt]);
    expect(await validate(chain, chain.block, good, { skipFee: true })).toBeUndefined();
    expect(await validate(chain, chain.block, good)).toMatchObject({ refused: 'INSUFFICIENT_BALANCE' });
  });
});
