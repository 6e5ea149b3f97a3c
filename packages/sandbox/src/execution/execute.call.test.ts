import { encodeCalls, selector } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { panicOf, STRK, TestChain, transfer, USDC } from '../../testing/test-chain.ts';
import { predeployed } from '../contracts/predeployed.ts';

const [relayer] = predeployed.relayers;

describe('callContract', () => {
  const chain = new TestChain();

  it('answers what the contract says', async () => {
    expect(await chain.ask(USDC, 'decimals')).toEqual({ ok: true, result: [6n] });
  });

  it('tells a missing contract from a missing function', async () => {
    expect(await chain.ask(0x123n, 'decimals')).toMatchObject({ ok: false, kind: 'CONTRACT_NOT_FOUND' });
    expect(await chain.ask(USDC, 'isValidSignature')).toEqual({
      ok: false,
      kind: 'ENTRYPOINT_NOT_FOUND',
      error: `Entry point 0x${selector('isValidSignature').toString(16)} not found in contract`,
    });
  });

  it('gives a panic as objects in objects', async () => {
    expect(await chain.ask(USDC, 'balance_of', [])).toEqual({
      ok: false,
      kind: 'REVERTED',
      error: {
        contract_address: `0x${USDC.toString(16)}`,
        class_hash: `0x${(await chain.classHashAt(USDC)).toString(16)}`,
        selector: `0x${selector('balance_of').toString(16)}`,
        error: panicOf('Failed to deserialize param #1'),
      },
    });
  });

  it('acts for no account', async () => {
    const calldata = encodeCalls([transfer(STRK, 1n, 1n)]);
    expect(await chain.ask(relayer.address, '__execute__', calldata)).toMatchObject({
      kind: 'REVERTED',
      error: { error: panicOf('Account: invalid tx version') },
    });
  });
});
