import { catalogue, endpoints } from '@svc/protocol';
import { SvcApiError, SvcConnectionError } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { errorCodeOf, errorCodeOfReason, errorCodeOn, isRefusal, isTransient } from './errors.ts';

const refusal = (code: string, status: number) => new SvcApiError(code, code, { status });
const giftCodes = Object.keys(catalogue).filter((code) =>
  /^gift_(?!code_taken)/.test(code),
) as (keyof typeof catalogue)[];

describe('error', () => {
  it.each(giftCodes)('of a claim and of a redeem has the same words: %s', (code) => {
    const errorCode = errorCodeOf(refusal(code, 400));
    expect(errorCode).not.toBe('unknown');
    expect(errorCodeOfReason(catalogue[code].message)).toBe(errorCode);
  });

  it('has words for every error that the interface names for a redeem', () => {
    const codes = endpoints.redeemGift.errors.map((error) => (typeof error === 'string' ? error : error.code));
    expect(codes.filter((code) => errorCodeOf(refusal(code, catalogue[code].status)) === 'unknown')).toEqual([]);
  });

  it('of the connection is trouble of the network', () => {
    expect(errorCodeOf(new SvcConnectionError('timeout', ''))).toBe('network');
  });

  it('that Solana is not there is told only to those who chose it', () => {
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
  ])('says whether %s is the end of a redeem, and whether it passes', (code, status, refused, passing) => {
    expect(isRefusal(refusal(code, status))).toBe(refused);
    expect(isTransient(refusal(code, status))).toBe(passing);
  });

  it('of the connection is never the end of a redeem: it may have arrived', () => {
    expect(isRefusal(new SvcConnectionError('connection_failed', ''))).toBe(false);
  });
});
