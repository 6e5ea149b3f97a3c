import { trusted } from '../../outbound/address-guard.ts';
import { outboundRequest } from '../../outbound/request.ts';
import { RateSourceError } from '../rate-source.ts';

/** A caller waits for all sources in turn in the worst case, so each gets little. */
export const SOURCE_TIMEOUT_MS = 3_000;

// The longest real answer, the ECB's table of thirty currencies, has two thousand.
const MAX_BODY_BYTES = 65_536;

export interface FetchOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The body of a 200. Not tried again: the next source is the retry. */
export async function fetchText(
  url: string,
  { headers, timeoutMs = SOURCE_TIMEOUT_MS, signal }: FetchOptions,
): Promise<string> {
  const response = await outboundRequest(url, {
    // Some publishers turn nameless clients away.
    headers: { 'user-agent': 'svc', ...headers },
    timeoutMs,
    maxBodyBytes: MAX_BODY_BYTES,
    guard: trusted(),
    ...(signal ? { signal } : {}),
  });
  if (response.status !== 200) throw new RateSourceError('status', `The source answered HTTP ${response.status}.`);
  return response.body.toString('utf8');
}

/** The base address of a source with a path below it, whether or not the base ends in a slash. */
export function below(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/$/, '')}/${path}`;
}
