import { ApiError } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { depositsIn, sumOf } from './create-deposit.ts';

const [USDC, OTHER_TOKEN, PAYMENT, MANAGER, ANA, EVA] = [1n, 2n, 10n, 11n, 20n, 21n];
const deposit = { usdc: USDC, paymentAddress: PAYMENT, own: [MANAGER] };
const transfer = (from: bigint, to: bigint, amount: bigint, token: bigint | undefined = USDC) => {
  return { token, from, to, amount, eventIndex: 0 };
};

describe('what a transaction deposits', () => {
  it('is the sum of what others sent to the payment address in USDC', () => {
    const transfers = [
      transfer(ANA, PAYMENT, 5n),
      transfer(ANA, EVA, 100n),
      transfer(EVA, PAYMENT, 7n),
      transfer(ANA, PAYMENT, 1_000n, OTHER_TOKEN),
      { ...transfer(ANA, PAYMENT, 1_000n), token: undefined },
      transfer(MANAGER, PAYMENT, 10_000n),
      transfer(PAYMENT, PAYMENT, 10_000n),
    ];
    expect(sumOf(depositsIn(transfers, deposit))).toBe(12n);
  });

  it.each([
    ['without transfers', [], 'moves no USDC to the payment address'],
    ['to another address', [transfer(ANA, EVA, 5n)], 'moves no USDC to the payment address'],
    ['of another token', [transfer(ANA, PAYMENT, 5n, OTHER_TOKEN)], 'moves no USDC to the payment address'],
    ['from the payment address to itself', [transfer(PAYMENT, PAYMENT, 5n)], 'an account of the service itself'],
    ['from the account that pays out', [transfer(MANAGER, PAYMENT, 5n)], 'an account of the service itself'],
    ['of nothing', [transfer(ANA, PAYMENT, 0n)], 'came from an account of the service itself or is nothing'],
  ])('is refused %s', (_, transfers, message) => {
    const read = () => depositsIn(transfers, deposit);
    expect(read).toThrow(ApiError);
    expect(read).toThrow(message);
  });
});
