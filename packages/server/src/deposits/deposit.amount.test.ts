import { ApiError } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { MAX_DEPOSIT, requireAmount } from './deposit.ts';

const [USDC, OTHER_TOKEN, PAYMENT, OWN, ANA, EVA] = [1n, 2n, 10n, 0xabcn, 20n, 21n];
const recipient = { usdc: USDC, address: OWN, paymentAddress: PAYMENT };
const transfer = (from: bigint, to: bigint, amount: bigint, token: bigint | undefined = USDC) => {
  return { token, from, to, amount, eventIndex: 0 };
};

describe('what a transaction deposits', () => {
  it('is the sum of the USDC that others sent to the deposit address', () => {
    const transfers = [
      transfer(ANA, OWN, 5n),
      transfer(ANA, EVA, 100n),
      transfer(EVA, OWN, 7n),
      transfer(ANA, PAYMENT, 1_000n),
      transfer(ANA, OWN, 1_000n, OTHER_TOKEN),
      { ...transfer(ANA, OWN, 1_000n), token: undefined },
      transfer(OWN, OWN, 10_000n),
    ];
    expect(requireAmount({ transfers }, recipient)).toBe(12n);
  });

  const NOTHING = `it brings no USDC to your deposit address 0x${'0'.repeat(61)}abc`;
  it.each([
    ['without transfers', [], NOTHING],
    ['to another account', [transfer(ANA, EVA, 5n)], NOTHING],
    ['of another token', [transfer(ANA, OWN, 5n, OTHER_TOKEN)], NOTHING],
    ['from the deposit address to itself', [transfer(OWN, OWN, 5n)], NOTHING],
    ['of nothing', [transfer(ANA, OWN, 0n)], NOTHING],
    ['of more than there is', [transfer(ANA, OWN, MAX_DEPOSIT + 1n)], 'too large to be credited'],
    [
      'to the payment address',
      [transfer(ANA, PAYMENT, 5n)],
      `Send USDC to your deposit address 0x${'0'.repeat(61)}abc`,
    ],
  ])('is refused %s', (_, transfers, message) => {
    const read = () => requireAmount({ transfers }, recipient);
    expect(read).toThrow(ApiError);
    expect(read).toThrow(message);
  });
});
