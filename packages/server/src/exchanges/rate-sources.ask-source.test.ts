import { describe, expect, it } from 'vitest';
import { parseRate, type RateSource } from './exchange.ts';
import { askSource } from './rate-sources.ts';

const NOW = Date.parse('2026-07-17T20:00:00Z');

function saying(text: string, observedOn?: string): RateSource {
  const rate = parseRate(text);
  if (!rate.ok) throw new Error(rate.reason);
  return { name: 'test', mxnPerUsd: async () => ({ mxnPerUsd: rate.value, ...(observedOn ? { observedOn } : {}) }) };
}

describe('askSource', () => {
  it('takes a rate of today, of the days before a long holiday and of a day that has begun further east', async () => {
    for (const day of ['2026-07-18', '2026-07-17', '2026-07-12', undefined]) {
      expect(await askSource(saying('18.5', day), NOW), day).toMatchObject({ ok: true });
    }
  });

  it('refuses a rate of more than five days ago', async () => {
    const outcome = await askSource(saying('18.5', '2026-07-11'), NOW);
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'outdated' } });
  });

  it('refuses a rate of the day after tomorrow', async () => {
    const outcome = await askSource(saying('18.5', '2026-07-19'), NOW);
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'implausible' } });
  });

  it('refuses a rate that is zero, upside down or absurd', async () => {
    for (const text of ['0', '0.054', '1000.1', '9'.repeat(60)]) {
      expect(await askSource(saying(text), NOW), text).toMatchObject({ ok: false, failure: { kind: 'implausible' } });
    }
  });

  it('keeps the message of an unforeseen error to itself, because it may contain an address', async () => {
    const source: RateSource = {
      name: 'test',
      mxnPerUsd: async () => {
        throw new TypeError('Invalid URL: http://host/?key=secret');
      },
    };
    expect(await askSource(source, NOW)).toEqual({
      ok: false,
      failure: { source: 'test', kind: 'unexpected', message: 'TypeError' },
    });
  });
});
