import type { RateSource } from '../rate-source.ts';
import { fetchText } from './fetch-text.ts';
import { parseExactJson, textAt } from './json.ts';
import { readIsoDay, readRate } from './read-rate.ts';

export interface OperatorSourceOptions {
  readonly url: string;
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

/**
 * The operator's own rate. The address answers GET with 200 and `{"rate": 18.5123}`: pesos per dollar, as a number or
 * a string, a plain decimal of at most 18 decimals. `"date": "2026-07-17"` beside it is optional, and checked where
 * it is there.
 */
export function operatorSource({ url, token, timeoutMs }: OperatorSourceOptions): RateSource {
  const headers = { accept: 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) };
  return {
    name: 'operator',
    async mxnPerUsd(signal) {
      const answer = parseExactJson(await fetchText(url, { headers, signal, timeoutMs }));
      const date = textAt(answer, 'date');
      return {
        mxnPerUsd: readRate(textAt(answer, 'rate')),
        ...(date === undefined ? {} : { observedOn: readIsoDay(date) }),
      };
    },
  };
}
