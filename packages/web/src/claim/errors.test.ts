import { catalogue, endpoints } from '@svc/protocol';
import { SvcApiError, SvcConnectionError } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { errorCodeOf, errorCodeOfReason, errorCodeOn, isRefusal, isTransient } from './errors.ts';

const refusal = (code: string, status: number) => new SvcApiError(code, code, { status });
const giftCodes = Object.keys(catalogue).filter((code) =>
  /^gift_(?!code_taken)/.test(code),
) as (keyof typeof catalogue)[];

describe('the error code', () => {
  it.each(giftCodes)('is the same for a claim and a redeem: %s', (code) => {
    const errorCode = errorCodeOf(refusal(code, 400));
    expect(errorCode).not.toBe('unknown');
    expect(errorCodeOfReason(catalogue[code].message)).toBe(errorCode);
  });

  it('is known for every error that the API documents for a redeem', () => {
    const codes = endpoints.redeemGift.errors.map((error) => (typeof error === 'string' ? error : error.code));
    expect(codes.filter((code) => errorCodeOf(refusal(code, catalogue[code].status)) === 'unknown')).toEqual([]);
  });

  it('of a connection error is network', () => {
    expect(errorCodeOf(new SvcConnectionError('timeout', ''))).toBe('network');
  });

  it('names Solana as missing only where Solana was chosen', () => {
    expect(errorCodeOn('solana', refusal('chain_not_configured', 400))).toBe('noSolana');
    expect(errorCodeOn('starknet', refusal('chain_not_configured', 400))).toBe('unknown');
  });

  it.each([
    ['gift_expired', 400, true, false],
    ['payout_failed', 500, true, false],
    ['rate_limited', 429, false, false],
    ['internal_error', 500, false, true],
    ['forbidden_by_a_proxy', 403, false, false],
    ['idempotency_key_in_progress', 400, false, true],
  ])('tells whether %s ends a redeem, and whether it is transient', (code, status, refused, passing) => {
    expect(isRefusal(refusal(code, status))).toBe(refused);
    expect(isTransient(refusal(code, status))).toBe(passing);
  });

  it('of a connection error never ends a redeem: the request may have arrived', () => {
    expect(isRefusal(new SvcConnectionError('connection_failed', ''))).toBe(false);
  });
});
