import type { ApiError } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { STRK, stranger, USDC } from '../../testing/transactions.ts';
import { findToken, type Token, tokensOf } from '../chains/tokens.ts';
import { type ChainTransfer, type ExpectedTransfer, requireTransfer } from './chain-transaction.ts';

const tokens = tokensOf('sandbox', 'STARKNET');
const [ana, luis, eva] = [stranger(), stranger(), stranger()];
const expected: ExpectedTransfer = {
  chain: 'STARKNET',
  hash: '0x1',
  sender: ana,
  recipient: luis,
  token: findToken('sandbox', 'STARKNET', 'USDC') as Token,
  amount: 2_500_000n,
};
const transfer = (
  changes: Partial<Record<'token' | 'from' | 'to', string>> = {},
  amount = 2_500_000n,
): ChainTransfer => ({
  token: BigInt(changes.token ?? USDC),
  from: BigInt(changes.from ?? ana),
  to: BigInt(changes.to ?? luis),
  amount,
  eventIndex: 0,
});

function mismatch(transfers: readonly ChainTransfer[], changes: Partial<ExpectedTransfer> = {}): string {
  try {
    requireTransfer({ ...expected, ...changes }, transfers, tokens);
  } catch (error) {
    expect(error).toMatchObject({ code: 'transaction_mismatch', status: 400 });
    return (error as ApiError).message;
  }
  throw new Error('The transfer was found.');
}

describe('an expected transfer', () => {
  it('is the first of the transaction’s that is as expected in every field', () => {
    const found = { ...transfer(), eventIndex: 4 };
    const others = [transfer({ token: STRK }), transfer({ from: eva }), transfer({ to: eva }), transfer({}, 1n)];
    expect(requireTransfer(expected, [...others, found, { ...found, eventIndex: 5 }], tokens)).toBe(found);
  });

  it('of another token is a mismatch that names what was moved instead', () => {
    const unknown = stranger();
    expect(mismatch([])).toBe('expectedToken does not match: the transaction moves no USDC.');
    expect(mismatch([transfer({ token: STRK }), transfer({ token: unknown })])).toBe(
      `expectedToken does not match: the transaction moves STRK, ${unknown}, not USDC.`,
    );
  });

  it('of another sender is a mismatch that names who it was', () => {
    const message = mismatch([transfer({ from: eva }), transfer({ from: ana, token: STRK })]);
    expect(message).toBe(`expectedSender does not match: the USDC came from ${eva}.`);
  });

  it('to another recipient is a mismatch that names who it was', () => {
    const message = mismatch([transfer({ to: eva }), transfer({ from: eva, to: luis })]);
    expect(message).toBe(`expectedRecipient does not match: the USDC went to ${eva}.`);
  });

  it('of another amount is a mismatch that names what it was, in whole tokens', () => {
    const message = mismatch([transfer({}, 2_400_000n), transfer({ to: eva })]);
    expect(message).toBe('expectedAmount does not match: the transaction moved 2.4 USDC.');
  });

  it('names a few of many', () => {
    const many = [1n, 1n, 2n, 3n, 4n, 5n].map((amount) => transfer({}, amount));
    expect(mismatch(many)).toContain('moved 0.000001, 0.000002, 0.000003 and others USDC.');
  });

  it('on an EVM chain knows the chain’s own coin and spells addresses as that chain does', () => {
    const coin = { chain: 'BASE', token: 'ETH', address: null, decimals: 18 } as const;
    const base = { ...expected, chain: 'BASE', token: coin, sender: '0x0a', recipient: '0x0b', amount: 7n } as const;
    const found: ChainTransfer = { token: undefined, from: 10n, to: 11n, amount: 7n, eventIndex: undefined };
    expect(requireTransfer(base, [found], [coin])).toBe(found);
    expect(mismatch([{ ...found, to: 12n }], base)).toContain(`the ETH went to 0x${'c'.padStart(40, '0')}.`);
    expect(mismatch([found], { chain: 'BASE' })).toContain('moves its own coin, not USDC');
  });
});
