import { crossRate } from '../rate.ts';
import { type RateSource, RateSourceError } from '../rate-source.ts';
import { fetchText } from './fetch-text.ts';
import { readIsoDay, readRate } from './read-rate.ts';

export const ECB_URL = 'https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml';

export interface EcbSourceOptions {
  readonly url?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The European Central Bank's table of what a euro costs, published on its working days in the afternoon. */
export function ecbSource({ url = ECB_URL, timeoutMs }: EcbSourceOptions = {}): RateSource {
  const headers = { accept: 'application/xml, text/xml' };
  return {
    name: 'ecb',
    async mxnPerUsd(signal) {
      const table = await fetchText(url, { headers, signal, timeoutMs });
      const usdPerEuro = readRate(only(table, /<Cube\s+currency=["']USD["']\s+rate=["']([^"'<>]*)["']\s*\/>/g));
      const mxnPerEuro = readRate(only(table, /<Cube\s+currency=["']MXN["']\s+rate=["']([^"'<>]*)["']\s*\/>/g));
      if (usdPerEuro === 0n) throw new RateSourceError('implausible', 'A euro cannot cost no dollars.');
      return {
        mxnPerUsd: crossRate(mxnPerEuro, usdPerEuro),
        observedOn: readIsoDay(only(table, /<Cube\s+time=["']([^"'<>]*)["']\s*>/g)),
      };
    },
  };
}

// The tables of past days repeat each currency for each day; guessing which one is meant would be worse than none.
function only(table: string, pattern: RegExp): string | undefined {
  const [first, second] = table.matchAll(pattern).take(2);
  return second === undefined ? first?.[1] : undefined;
}
