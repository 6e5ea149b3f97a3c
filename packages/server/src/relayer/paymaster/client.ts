import { parseFelt } from '@svc/starknet';
import { failureIn } from '../../chains/node-failure.ts';
import { type Fetch, nodeFetch } from '../../chains/node-fetch.ts';
import { readReason } from '../../chains/starknet/refusal.ts';
import type { BuildRequest, ExecuteRequest } from './requests.ts';

/** A paymaster estimates and sends before it answers, each of which takes some seconds on a busy chain. */
export const PAYMASTER_TIMEOUT_MS = 20_000;

/**
 * `refused`: a no in the words of SNIP-29. `failed`: no answer that could be used; `unclear` when the paymaster may have obeyed
 * all the same.
 */
export type Answer<T> =
  | { readonly outcome: 'answered'; readonly value: T }
  | { readonly outcome: 'refused'; readonly code: number; readonly reason: string }
  | { readonly outcome: 'failed'; readonly unclear: boolean; readonly reason: string };

/** A paymaster that speaks SNIP-29. Nothing is repeated here: a repetition is decided with the chain in view. */
export interface PaymasterClient {
  /** The typed data that the account's owner is to sign, unchecked. */
  build(request: BuildRequest): Promise<Answer<unknown>>;
  /** The hash of the transaction that executes it. */
  execute(request: ExecuteRequest): Promise<Answer<bigint>>;
}

export interface PaymasterAccess {
  readonly url: string;
  readonly apiKey: string;
  readonly timeoutMs?: number;
}

export function createPaymasterClient({ url, apiKey, timeoutMs }: PaymasterAccess): PaymasterClient {
  const post = nodeFetch(timeoutMs ?? PAYMASTER_TIMEOUT_MS);
  const headers = { 'content-type': 'application/json', 'x-paymaster-api-key': apiKey };
  const ask = (method: string, params: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    return exchange(post, url, { method: 'POST', headers, body });
  };
  return {
    async build(request) {
      const answer = await ask('paymaster_buildTransaction', request);
      return answer.outcome === 'answered' ? { ...answer, value: fieldOf(answer.value, 'typed_data') } : answer;
    },
    async execute(request) {
      const answer = await ask('paymaster_executeTransaction', request);
      if (answer.outcome !== 'answered') return answer;
      const hash = parseFelt(String(fieldOf(answer.value, 'transaction_hash')));
      if (hash.ok) return { outcome: 'answered', value: hash.value };
      return { outcome: 'failed', unclear: true, reason: 'the paymaster answered without the hash of a transaction' };
    },
  };
}

async function exchange(post: Fetch, url: string, init: RequestInit): Promise<Answer<unknown>> {
  try {
    const answer = (await (await post(url, init)).json()) as { result?: unknown; error?: unknown };
    return answer.error ? refusal(answer.error) : { outcome: 'answered', value: answer.result };
  } catch (error) {
    // Other errors than ours may quote the request, which is the account's business.
    const failure = failureIn(error);
    return {
      outcome: 'failed',
      unclear: failure?.unclear ?? true,
      reason: failure?.message ?? 'the answer could not be read',
    };
  }
}

function refusal(error: unknown): Answer<never> {
  // Reasons come nested as those of nodes do.
  const reason = readReason(String(fieldOf(error, 'message')), fieldOf(error, 'data'));
  return { outcome: 'refused', code: Number(fieldOf(error, 'code')), reason };
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
