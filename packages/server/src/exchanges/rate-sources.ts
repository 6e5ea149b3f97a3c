import { OutboundError, trusted } from '../outbound/address-guard.ts';
import { outboundRequest } from '../outbound/request.ts';
import {
  calendarDay,
  crossRate,
  daysSince,
  isPlausibleRate,
  type MxnPerUsd,
  parseIsoDay,
  parseRate,
  type Rate,
  type RateFailureKind,
  type RateSource,
  RateSourceError,
} from './exchange.ts';

export interface RateSourceSettings {
  readonly operatorUrl?: string | undefined;
  readonly operatorToken?: string | undefined;
  readonly banxicoToken?: string | undefined;
  readonly banxicoUrl?: string | undefined;
  readonly frankfurterUrl?: string | undefined;
  readonly ecbUrl?: string | undefined;
}

export function sourcesInOrder(settings: RateSourceSettings = {}): readonly RateSource[] {
  const { operatorUrl, operatorToken, banxicoToken, banxicoUrl, frankfurterUrl, ecbUrl } = settings;
  return [
    ...(operatorUrl ? [operatorSource({ url: operatorUrl, token: operatorToken })] : []),
    ...(banxicoToken ? [banxicoSource({ token: banxicoToken, baseUrl: banxicoUrl })] : []),
    frankfurterSource({ baseUrl: frankfurterUrl }),
    ecbSource({ url: ecbUrl }),
  ];
}

export const BANXICO_URL = 'https://www.banxico.org.mx/SieAPIRest/service/v1';

/** FIX rate, by determination date. */
const SERIES = 'SF43718';

export interface BanxicoSourceOptions {
  readonly token: string;
  readonly baseUrl?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

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

// Only between thousands: in 18,5 the comma is a decimal point.
function withoutThousandsCommas(text: string): string {
  return /^\d{1,3}(,\d{3})+(\.\d+)?$/.test(text) ? text.replaceAll(',', '') : text;
}

function readDay(text: string | undefined): string {
  const [, day = '', month = '', year = ''] = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(text ?? '') ?? [];
  return requireDay(calendarDay(year, month, day));
}

export const ECB_URL = 'https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml';

export interface EcbSourceOptions {
  readonly url?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

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

// Tables of past days repeat a currency; a guess would be worse than none.
function only(table: string, pattern: RegExp): string | undefined {
  const [first, second] = table.matchAll(pattern).take(2);
  return second === undefined ? first?.[1] : undefined;
}

export const FRANKFURTER_URL = 'https://api.frankfurter.dev';

export interface FrankfurterSourceOptions {
  readonly baseUrl?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Banxico's rate, not the average of the banks. */
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

export interface OperatorSourceOptions {
  readonly url: string;
  readonly token?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

/** GET answers 200 and `{"rate": 18.5123}`: pesos per dollar, a number or a string. `"date": "2026-07-17"` is optional. */
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

/** In the worst case a caller waits for all sources. */
export const SOURCE_TIMEOUT_MS = 3_000;

const MAX_BODY_BYTES = 65_536;

export interface FetchOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Not retried: the next source is the retry. */
export async function fetchText(
  url: string,
  { headers, timeoutMs = SOURCE_TIMEOUT_MS, signal }: FetchOptions,
): Promise<string> {
  const response = await outboundRequest(url, {
    headers: { 'user-agent': 'svc', ...headers },
    timeoutMs,
    maxBodyBytes: MAX_BODY_BYTES,
    guard: trusted(),
    ...(signal ? { signal } : {}),
  });
  if (response.status !== 200) throw new RateSourceError('status', `The source answered HTTP ${response.status}.`);
  return response.body.toString('utf8');
}

export function below(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/$/, '')}/${path}`;
}

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

/** Numbers stay text, so that no digit of a rate passes through a double. */
export function parseExactJson(text: string): unknown {
  try {
    return parseWithSource(text, (_key, value, { source }) => (typeof value === 'number' ? source : value));
  } catch {
    throw new RateSourceError('unreadable', 'The answer is not JSON.');
  }
}

export function textAt(value: unknown, ...path: readonly (string | number)[]): string | undefined {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string | number, unknown>)[key];
  }
  return typeof found === 'string' ? found : undefined;
}

export function readRate(text: string | undefined): MxnPerUsd {
  if (text === undefined) throw new RateSourceError('unreadable', 'The answer has no rate where it should be.');
  const rate = parseRate(text);
  if (!rate.ok) throw new RateSourceError('unreadable', `The rate ${rate.reason}.`);
  return rate.value;
}

export function readIsoDay(text: string | undefined): string {
  return requireDay(text === undefined ? undefined : parseIsoDay(text));
}

export function requireDay(day: string | undefined): string {
  if (day === undefined) throw new RateSourceError('unreadable', 'The answer has no date where it should be.');
  return day;
}

// Rates come on working days; the longest gap, around Easter, is five days.
const MAX_OBSERVED_AGE_DAYS = 5;
const MAX_DAYS_AHEAD = 1;

export interface RateFailure {
  readonly source: string;
  readonly kind: RateFailureKind;
  readonly message: string;
}

export type RateAnswer =
  | { readonly ok: true; readonly rate: Rate }
  | { readonly ok: false; readonly failure: RateFailure };

export async function askSource(source: RateSource, now: number): Promise<RateAnswer> {
  try {
    const rate = await source.mxnPerUsd();
    refuseImplausible(rate, now);
    return { ok: true, rate };
  } catch (error) {
    return { ok: false, failure: { source: source.name, ...describe(error) } };
  }
}

function refuseImplausible({ mxnPerUsd, observedOn }: Rate, now: number): void {
  if (!isPlausibleRate(mxnPerUsd)) throw new RateSourceError('implausible', 'The rate is not within 1 to 1000.');
  if (observedOn === undefined) return;
  const age = daysSince(observedOn, now);
  if (age > MAX_OBSERVED_AGE_DAYS) throw new RateSourceError('outdated', `The rate is ${age} days old.`);
  if (age < -MAX_DAYS_AHEAD) throw new RateSourceError('implausible', 'The rate is of a day to come.');
}

// Only known errors are quoted: others may contain the URL with its query.
function describe(error: unknown): Pick<RateFailure, 'kind' | 'message'> {
  if (error instanceof RateSourceError || error instanceof OutboundError) {
    return { kind: error.kind, message: error.message };
  }
  return { kind: 'unexpected', message: error instanceof Error ? error.name : typeof error };
}
