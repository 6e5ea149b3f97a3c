/** More than this at once is counted as this. */
const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 10;

export interface PageQuery {
  readonly page?: number;
  readonly limit?: number;
  readonly offset?: number;
}

export interface PageOf<T> {
  data: T[];
  total: number;
  page: number;
  limit: number;
  totalPages: number;
}

/** Which rows a query for a page means. An offset wins over a page number. */
export function readPage(query: PageQuery): { limit: number; offset: number } {
  const limit = Math.min(MAX_LIMIT, query.limit ?? DEFAULT_LIMIT);
  return { limit, offset: query.offset ?? ((query.page ?? 1) - 1) * limit };
}

export function toPage<T>(data: T[], total: number, { limit, offset }: { limit: number; offset: number }): PageOf<T> {
  return { data, total, page: Math.floor(offset / limit) + 1, limit, totalPages: Math.ceil(total / limit) };
}
