import { SvcInputError } from './errors.ts';

export interface Page<T> {
  readonly data: readonly T[];
  readonly total: number;
  readonly page: number;
  readonly limit: number;
  readonly totalPages: number;
}

/** One page of a list. */
export interface List<T> {
  readonly items: T[];
  /** Items on all pages. */
  readonly total: number;
  readonly page: number;
  readonly limit: number;
}

export interface PageOptions {
  /** Items per request, at most 100. Default: 100. */
  readonly pageSize?: number | undefined;
}

const MAX_PAGE_SIZE = 100;
/** One million items; use filters beyond that. */
const MAX_PAGES = 10_000;

export function toList<T>({ data, total, page, limit }: Page<T>): List<T> {
  return { items: [...data], total, page, limit };
}

export interface CursorPage<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

/** A part of a list that is read with cursors. */
export interface CursorList<T> {
  readonly items: T[];
  /** Pass it as `cursor` to read on; null at the end. */
  readonly nextCursor: string | null;
}

export interface CursorParams {
  /** At most 100. Default: 25. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the part before. */
  readonly cursor?: string | undefined;
}

export function toCursorList<T>({ data, nextCursor }: CursorPage<T>): CursorList<T> {
  return { items: [...data], nextCursor };
}

export interface PageQuery {
  readonly page: number;
  readonly limit: number;
}

/**
 * Iterates over a list and reads pages on demand. Items added meanwhile push others to the next page; those are
 * returned once.
 */
export async function* eachItem<T extends { readonly id: string }>(
  read: (query: PageQuery) => Promise<Page<T>>,
  { pageSize = MAX_PAGE_SIZE }: PageOptions = {},
): AsyncGenerator<T, void, undefined> {
  requirePageSize(pageSize);
  const seen = new Set<string>();
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { data, totalPages } = await read({ page, limit: pageSize });
    for (const item of data) {
      if (seen.has(item.id)) continue;
      seen.add(item.id);
      yield item;
    }
    if (data.length === 0 || page >= totalPages) return;
  }
  throw tooLong();
}

/** Iterates over a list and reads on with its cursor on demand. */
export async function* eachByCursor<T>(
  read: (query: CursorParams) => Promise<CursorPage<T>>,
  { pageSize = MAX_PAGE_SIZE }: PageOptions = {},
): AsyncGenerator<T, void, undefined> {
  requirePageSize(pageSize);
  let cursor: string | undefined;
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { data, nextCursor } = await read({ limit: pageSize, cursor });
    yield* data;
    if (nextCursor === null) return;
    cursor = nextCursor;
  }
  throw tooLong();
}

function requirePageSize(pageSize: number): void {
  if (Number.isInteger(pageSize) && pageSize >= 1 && pageSize <= MAX_PAGE_SIZE) return;
  throw new SvcInputError('invalid_input', `pageSize must be a whole number from 1 to ${MAX_PAGE_SIZE}.`);
}

const tooLong = () =>
  new SvcInputError('invalid_input', 'The list is too long to be read to its end. Narrow it with filters.');
