import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { sandboxUrl } from './place.ts';
import { ApiFailure } from './request.ts';

const LIVE_MS = 3_000;

/** A request to the sandbox, which has no keys and no sessions. */
export async function askSandbox<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<T> {
  const response = await fetch(sandboxUrl + path, {
    method,
    headers: { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw new ApiFailure('network_error', error instanceof Error ? error.message : String(error), 0);
  });
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const { error = 'internal_error', message = response.statusText } = answer;
  throw new ApiFailure(error, message, response.status, response.headers.get('x-request-id') ?? undefined);
}

export const useSandbox = <T>(path: string, live = false): UseQueryResult<T, ApiFailure> =>
  useQuery<T, ApiFailure>({
    queryKey: ['sandbox', path],
    queryFn: () => askSandbox<T>('GET', path),
    ...(live && { refetchInterval: LIVE_MS }),
  });

/** Sends a change, and reads everything of the sandbox anew. */
export function useSandboxChange(): <T>(method: 'POST' | 'DELETE', path: string, body?: unknown) => Promise<T> {
  const client = useQueryClient();
  return async <T>(method: 'POST' | 'DELETE', path: string, body?: unknown) => {
    const answer = await askSandbox<T>(method, path, body);
    await client.invalidateQueries({ queryKey: ['sandbox'] });
    return answer;
  };
}

export interface Chain {
  readonly blockNumber: number;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly offsetSeconds: number;
  readonly blockSeconds: number;
  readonly l1AfterBlocks: number;
  readonly waitingTransactions: number;
}

export interface Fault {
  readonly id: number;
  readonly kind: string;
  readonly remaining?: number;
  readonly expiresAt: string;
  readonly [parameter: string]: unknown;
}

export interface MailSummary {
  readonly id: number;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly receivedAt: string;
}

export interface Mail extends MailSummary {
  readonly text: string | null;
  readonly html: string | null;
}

export const tokens = [
  'USDC',
  'USDC_E',
  'USDT',
  'DAI',
  'ETH',
  'STRK',
  'WBTC',
  'SLINK',
  'ALF',
  'BROTHER',
  'RBTC',
] as const;
export const chains = ['STARKNET', 'BASE', 'ARBITRUM', 'OPTIMISM', 'ROOTSTOCK', 'SCROLL', 'WORLDCHAIN'] as const;

export type FaultService = 'node' | 'bridge' | 'provider';
export type Parameter = 'reason' | 'delayMs' | 'code' | 'message' | 'blocks' | 'delaySeconds' | 'field' | 'request';

interface FaultTable {
  readonly path: string;
  /** Narrows a fault to some calls. */
  readonly only: 'method' | 'transactionHash' | 'reference';
  /** Kinds with what each takes. */
  readonly kinds: Readonly<Record<string, readonly Parameter[]>>;
}

/** As docs/sandbox.md lists them. */
export const faultServices: Readonly<Record<FaultService, FaultTable>> = {
  node: {
    path: '/starknet/faults',
    only: 'method',
    kinds: {
      revert: ['reason'],
      reject: ['reason'],
      forget: [],
      'lose-answer': [],
      slow: ['delayMs'],
      error: ['code', 'message'],
      unavailable: [],
      stale: ['blocks'],
    },
  },
  bridge: {
    path: '/bridge/faults',
    only: 'transactionHash',
    kinds: {
      'never-indexed': [],
      delayed: ['delaySeconds'],
      expired: [],
      'tampered-message': ['field'],
      'forward-failed': [],
      unavailable: ['request'],
      'rate-limited': ['request'],
      'no-answer': ['request'],
    },
  },
  provider: {
    path: '/provider/faults',
    only: 'reference',
    kinds: {
      unavailable: ['request'],
      close: ['request'],
      hang: ['request'],
      'deliver-unavailable': [],
      'deliver-close': [],
      'deliver-hang': [],
      slow: [],
      'no-callback': [],
      'callback-twice': [],
      'callback-contradicting': [],
    },
  },
};

export const choicesOf: Readonly<Record<FaultService, Readonly<Record<string, readonly string[]>>>> = {
  node: {
    method: [
      'starknet_addInvokeTransaction',
      'starknet_getTransactionReceipt',
      'starknet_getTransactionStatus',
      'starknet_estimateFee',
      'starknet_call',
      'starknet_getNonce',
      'starknet_getEvents',
      'starknet_getBlockWithTxs',
      'starknet_blockHashAndNumber',
    ],
  },
  bridge: { request: ['messages', 'fees', 'reattest'], field: ['amount', 'recipient', 'domain', 'token'] },
  provider: { request: ['order', 'look-up'] },
};

const numbers: ReadonlySet<string> = new Set(['delayMs', 'code', 'blocks', 'delaySeconds', 'count', 'seconds']);

/** The body of an order: numbers as numbers, and nothing for an empty field. */
export function faultBody(kind: string, values: Readonly<Record<string, string>>): Record<string, unknown> {
  const given = Object.entries(values).filter(([, value]) => value.trim() !== '');
  return {
    kind,
    ...Object.fromEntries(given.map(([name, value]) => [name, numbers.has(name) ? Number(value) : value])),
  };
}

export const initialParameters: Readonly<Record<Parameter, string>> = {
  reason: '',
  delayMs: '2000',
  code: '-32603',
  message: 'Internal error',
  blocks: '1',
  delaySeconds: '60',
  field: 'amount',
  request: '',
};
