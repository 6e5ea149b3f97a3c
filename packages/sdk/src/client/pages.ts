import { SvcInputError } from './errors.ts';

/** One page of a list, as the service answers it. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly total: number;
  readonly page: number;
  readonly limit: number;
  readonly totalPages: number;
}

/** One page of a list, as the library answers it. */
export interface List<T> {
  readonly items: T[];
  /** How many there are on all pages. */
  readonly total: number;
  readonly page: number;
  readonly limit: number;
}

export interface PageOptions {
  /** Items asked for at a time, at most 100. Default: 100. */
  readonly pageSize?: number | undefined;
}

/** The service gives no more at once. */
const MAX_PAGE_SIZE = 100;
/** A million items: whoever has more reads them with filters. */
const MAX_PAGES = 10_000;

export function toList<T>({ data, total, page, limit }: Page<T>): List<T> {
  return { items: [...data], total, page, limit };
}

/** What `read` is asked for. */
export interface PageAsked {
  readonly page: number;
  readonly limit: number;
}

/**
 * Every item of a list, page after page, each read when it is needed. Items that are added meanwhile push others to the next page: those
 * come once all the same.
 */
export async function* eachItem<T extends { readonly id: string }>(
  read: (asked: PageAsked) => Promise<Page<T>>,
  { pageSize = MAX_PAGE_SIZE }: PageOptions = {},
): AsyncGenerator<T, void, undefined> {
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE_SIZE) {
    throw new SvcInputError('invalid_input', `pageSize must be a whole number from 1 to ${MAX_PAGE_SIZE}.`);
  }
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
  throw new SvcInputError('invalid_input', 'The list is too long to be read to its end. Narrow it with filters.');
}
