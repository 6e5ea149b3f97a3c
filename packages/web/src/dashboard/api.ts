import {
  type InfiniteData,
  keepPreviousData,
  MutationCache,
  QueryCache,
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import type { AnswerTo, ArgsOf, ChangeKey, EndpointKey, InputOf, ListKey, ReadKey, RowOf } from './api-types.ts';
import { useEnvironment } from './environment.ts';
import { ApiFailure, type RequestInput, SESSION_KEY, send } from './request.ts';

export type { AnswerTo, EndpointKey, InputOf, ReadKey, RowOf } from './api-types.ts';
export { ApiFailure } from './request.ts';

const LIVE_MS = 2_000;
const STALE_MS = 5_000;
const UNDER_WAY = new Set(['PENDING', 'PROCESSING', 'BRIDGING', 'ATTESTED', 'WAITING', 'REFUNDING', 'DUE']);

export function createQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError: (error, { queryKey }) => checkSession(client, error, queryKey) }),
    mutationCache: new MutationCache({ onError: (error) => checkSession(client, error) }),
    defaultOptions: {
      // Requests repeat themselves where that is safe.
      queries: { staleTime: STALE_MS, retry: false },
      mutations: { retry: false },
    },
  });
  return client;
}

/** A session that ended elsewhere is read again, which leads to the sign-in page. */
function checkSession(client: QueryClient, error: unknown, key: readonly unknown[] = []): void {
  if (!(error instanceof ApiFailure) || error.status !== 401 || key[0] === SESSION_KEY[0]) return;
  void client.invalidateQueries({ queryKey: SESSION_KEY });
}

export interface ReadOptions {
  /** Reads again every two seconds while something is under way. */
  readonly live?: boolean;
  /** Reads again after so many milliseconds: for what changes by itself. */
  readonly every?: number;
  /** False: not read yet. */
  readonly enabled?: boolean;
  /** Shows the answer before while the next one is read: for pages and filters. */
  readonly keepPrevious?: boolean;
}

/** Reads an endpoint: `useRead('GET /gifts/{id}', { params: { id } })`. */
export function useRead<K extends ReadKey>(
  key: K,
  ...args: ArgsOf<K, ReadOptions>
): UseQueryResult<AnswerTo<K>, ApiFailure> {
  const [input = {}, options = {}] = args as Args<ReadOptions>;
  const environment = useEnvironment();
  return useQuery<AnswerTo<K>, ApiFailure>({
    queryKey: [key, environment, input],
    queryFn: ({ signal }) => send(key, input, signal) as Promise<AnswerTo<K>>,
    ...settingsOf(options),
    refetchInterval: ({ state }) => (options.live && isUnderWay(state.data) ? LIVE_MS : (options.every ?? false)),
  });
}

export interface CursorList<K extends ReadKey> {
  /** Undefined while the first ones load. */
  readonly rows: readonly RowOf<K>[] | undefined;
  readonly error: ApiFailure | null;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => void;
  readonly refetch: () => void;
}

/** Reads a list with a cursor: `useCursorList('GET /transactions', { query: { status: 'FAILED' } })`. */
export function useCursorList<K extends ListKey>(key: K, ...args: ArgsOf<K, ReadOptions>): CursorList<K> {
  const [given = {}, options = {}] = args as Args<ReadOptions>;
  const environment = useEnvironment();
  type Part = { data: RowOf<K>[]; nextCursor: string | null };
  const list = useInfiniteQuery<Part, ApiFailure, InfiniteData<Part>, readonly unknown[], string | undefined>({
    queryKey: [key, environment, given],
    queryFn: ({ pageParam, signal }) =>
      send(key, { ...given, query: { ...(given.query ?? {}), cursor: pageParam } }, signal) as Promise<Part>,
    initialPageParam: undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    ...settingsOf(options),
    refetchInterval: ({ state }) => (options.live && state.data?.pages.some(isUnderWay) ? LIVE_MS : false),
  });
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data), [list.data]);
  return {
    rows,
    error: list.error,
    hasMore: list.hasNextPage,
    isLoadingMore: list.isFetchingNextPage,
    loadMore: () => void list.fetchNextPage(),
    refetch: () => void list.refetch(),
  };
}

export interface ChangeOptions<K extends ChangeKey> {
  /** Endpoints that show something else after this change. */
  readonly refreshes?: readonly ReadKey[];
  readonly onSuccess?: (answer: AnswerTo<K>) => void;
}

/** Changes something: `useChange('POST /gifts', { refreshes: ['GET /gifts'] })`, then `mutateAsync({ body })`. */
export function useChange<K extends ChangeKey>(
  key: K,
  { refreshes = [], onSuccess }: ChangeOptions<K> = {},
): UseMutationResult<AnswerTo<K>, ApiFailure, InputOf<K>> {
  const client = useQueryClient();
  return useMutation<AnswerTo<K>, ApiFailure, InputOf<K>>({
    mutationFn: (input) => send(key, input as RequestInput) as Promise<AnswerTo<K>>,
    onSuccess: async (answer) => {
      await Promise.all(refreshes.map((read) => client.invalidateQueries({ queryKey: [read] })));
      onSuccess?.(answer);
    },
  });
}

/** Reads endpoints again after a change that was not made with `useChange`. */
export function useRefresh(): (reads: readonly ReadKey[]) => Promise<void> {
  const client = useQueryClient();
  return async (reads) => {
    await Promise.all(reads.map((read) => client.invalidateQueries({ queryKey: [read] })));
  };
}

/** One request outside of components, such as a search of the palette. */
export function request<K extends EndpointKey>(key: K, ...args: ArgsOf<K, AbortSignal>): Promise<AnswerTo<K>> {
  const [input = {}, signal] = args as Args<AbortSignal>;
  return send(key, input, signal) as Promise<AnswerTo<K>>;
}

type Args<More> = [input?: RequestInput, more?: More];

const settingsOf = ({ enabled = true, keepPrevious = false }: ReadOptions) => ({
  enabled,
  ...(keepPrevious && { placeholderData: keepPreviousData }),
});

/** Of one record, or of any row of a list. */
function isUnderWay(answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null) return false;
  const { data, status, state, refundStatus } = answer as Record<string, unknown>;
  if (Array.isArray(data)) return data.some(isUnderWay);
  return [status, state, refundStatus].some((value) => typeof value === 'string' && UNDER_WAY.has(value));
}

export const isFailure = (error: unknown, code: string): boolean => error instanceof ApiFailure && error.code === code;

/** Calls `read` every so often while the page is visible. */
export function useEvery(ms: number, read: () => void, isOn = true): void {
  const latest = useRef(read);
  latest.current = read;
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => document.visibilityState === 'visible' && latest.current(), ms);
    return () => clearInterval(timer);
  }, [ms, isOn]);
}

type Given<T> = { readonly [K in keyof T]?: T[K] | '' | undefined };

/** Filters without those that are empty. */
export const givenOf = <T extends object>(filters: Given<T>): T =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== '' && value !== undefined)) as T;
