import { type RateSource, RateSourceError } from '../rate-source.ts';
import { below, fetchText } from './fetch-text.ts';
import { parseExactJson, textAt } from './json.ts';
import { readIsoDay, readRate } from './read-rate.ts';

export const FRANKFURTER_URL = 'https://api.frankfurter.dev';

export interface FrankfurterSourceOptions {
  readonly baseUrl?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Frankfurter passes on the rates of central banks, without a key. Asked for Banxico's, not for its mixture. */
export function frankfurterSource({ baseUrl = FRANKFURTER_URL, timeoutMs }: FrankfurterSourceOptions = {}): RateSource {
  const url = below(baseUrl, 'v2/rate/USD/MXN?providers=BANXICO');
  const headers = { accept: 'application/json' };
  return {
    name: 'frankfurter',
    async mxnPerUsd(signal) {
      const answer = parseExactJson(await fetchText(url, { headers, signal, timeoutMs }));
      if (textAt(answer, 'base') !== 'USD' || textAt(answer, 'quote') !== 'MXN') {
        throw new RateSourceError('unreadable', 'The answer is not about USD to MXN.');
      }
      return { mxnPerUsd: readRate(textAt(answer, 'rate')), observedOn: readIsoDay(textAt(answer, 'date')) };
    },
  };
}
