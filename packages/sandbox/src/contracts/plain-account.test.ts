import { interfaceIds, VALID } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { call, STRK, signature, TestChain, transfer } from '../../testing/test-chain.ts';
import { predeployed } from './predeployed.ts';

const [relayer, other] = predeployed.relayers;

describe('the plain account', () => {
  const chain = new TestChain();

  it('answers for messages of its key', async () => {
    const good = signature(0x77n, relayer.privateKey);
    expect(await chain.read(relayer.address, 'is_valid_signature', [0x77n, 2n, ...good])).toEqual([VALID]);
    expect(await chain.read(other.address, 'is_valid_signature', [0x77n, 2n, ...good])).toEqual([0n]);
    expect(await chain.ask(relayer.address, 'isValidSignature')).toMatchObject({ kind: 'ENTRYPOINT_NOT_FOUND' });
  });

  it('is an account that takes no outside execution', async () => {
    const ids = Object.values(interfaceIds);
    const asked = await Promise.all(ids.map((id) => chain.read(relayer.address, 'supports_interface', [id])));
    expect(asked).toEqual([[1n], [1n], [0n], [0n]]);
  });

  it('cannot be made to act by another contract', async () => {
    const inner = call(other.address, '__execute__', [1n, ...Object.values(transfer(STRK, 1n, 1n)).flat()]);
    const outcome = await chain.simulate(relayer.address, [call(other.address, '__execute__', [0n]), inner]);
    expect(outcome.revertReason).toContain("('Invalid argument')");
  });
});
