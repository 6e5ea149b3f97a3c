import { describe, expect, it } from 'vitest';
import { classifyResponse } from './delivery-attempt.ts';

const NOW = Date.UTC(2026, 10, 16);
const of = (status: number, headers: Record<string, string> = {}, attempts = 1) =>
  classifyResponse({ status, headers, body: Buffer.alloc(0) }, attempts, NOW, () => 0);

describe('an answer', () => {
  it.each([200, 201, 202, 204, 299])('of %i is a delivery', (status) => {
    expect(of(status)).toEqual({ error: null, result: { state: 'DELIVERED' } });
  });

  it.each([100, 199, 301, 302, 307, 308, 400, 401, 404, 409, 500, 502, 503])('of %i is a failure', (status) => {
    expect(of(status)).toEqual({
      error: expect.stringContaining(String(status)),
      result: { state: 'WAITING', delayMs: 5_000 },
    });
  });

  it.each([301, 302, 303, 307, 308])('of %i says that redirects are not followed', (status) => {
    expect(of(status, { location: 'https://elsewhere.example/' }).error).toContain('Redirects are not followed');
  });

  it('of 410 ends it at once, whichever attempt it was', () => {
    for (const attempts of [1, 10]) {
      expect(of(410, {}, attempts).result).toEqual({ state: 'FAILED', cause: 'GONE' });
    }
  });

  it.each([
    [429, 60_000],
    [503, 60_000],
    [500, 5_000],
    [302, 5_000],
  ])('of %i with Retry-After: 60 is followed by a pause of %i ms', (status, delayMs) => {
    expect(of(status, { 'retry-after': '60' }).result).toEqual({ state: 'WAITING', delayMs });
  });

  it('to the tenth attempt is the last', () => {
    expect(of(500, {}, 9).result).toMatchObject({ state: 'WAITING' });
    expect(of(500, {}, 10).result).toEqual({ state: 'FAILED', cause: 'USED_UP' });
    expect(of(429, { 'retry-after': '60' }, 10).result).toEqual({ state: 'FAILED', cause: 'USED_UP' });
    expect(of(200, {}, 10).result).toEqual({ state: 'DELIVERED' });
  });
});
