import { calendarDay } from '../calendar-day.ts';
import { type RateSource, RateSourceError } from '../rate-source.ts';
import { below, fetchText } from './fetch-text.ts';
import { parseExactJson, textAt } from './json.ts';
import { readRate, requireDay } from './read-rate.ts';

export const BANXICO_URL = 'https://www.banxico.org.mx/SieAPIRest/service/v1';

/** The FIX rate, pesos per dollar, by the day on which it is determined. */
const SERIES = 'SF43718';

export interface BanxicoSourceOptions {
  readonly token: string;
  readonly baseUrl?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The central bank of Mexico. Answers need a token, which it gives out for nothing. */
export function banxicoSource({ token, baseUrl = BANXICO_URL, timeoutMs }: BanxicoSourceOptions): RateSource {
  const url = below(baseUrl, `series/${SERIES}/datos/oportuno`);
  const headers = { accept: 'application/json', 'bmx-token': token };
  return {
    name: 'banxico',
    async mxnPerUsd(signal) {
      const answer = parseExactJson(await fetchText(url, { headers, signal, timeoutMs }));
      const series = textAt(answer, 'bmx', 'series', 0, 'idSerie');
      if (series !== SERIES) throw new RateSourceError('unreadable', `The answer is not about the series ${SERIES}.`);
      const rate = textAt(answer, 'bmx', 'series', 0, 'datos', 0, 'dato');
      if (rate === 'N/E') throw new RateSourceError('no_rate', 'The source has no rate at the moment.');
      return {
        mxnPerUsd: readRate(rate === undefined ? undefined : withoutThousandsCommas(rate)),
        observedOn: readDay(textAt(answer, 'bmx', 'series', 0, 'datos', 0, 'fecha')),
      };
    },
  };
}

// Only where they stand between thousands: in 18,5 the comma would mean something else.
function withoutThousandsCommas(text: string): string {
  return /^\d{1,3}(,\d{3})+(\.\d+)?$/.test(text) ? text.replaceAll(',', '') : text;
}

function readDay(text: string | undefined): string {
  const [, day = '', month = '', year = ''] = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(text ?? '') ?? [];
  return requireDay(calendarDay(year, month, day));
}
