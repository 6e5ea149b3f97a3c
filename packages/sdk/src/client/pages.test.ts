import { describe, expect, it } from 'vitest';
import { failure } from '../../testing/fake-client.ts';
import { eachItem, type PageQuery } from './pages.ts';

const items = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({ id: `item ${from + index}` }));

async function collect<T>(generator: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of generator) found.push(item);
  return found;
}

/** A list that may grow between two pages. */
function listOf(all: { id: string }[]) {
  const requests: PageQuery[] = [];
  const read = async ({ page, limit }: PageQuery) => {
    requests.push({ page, limit });
    const data = all.slice((page - 1) * limit, page * limit);
    return { data, total: all.length, page, limit, totalPages: Math.ceil(all.length / limit) };
  };
  return { requests, read, all };
}

describe('iterating over a list', () => {
  it.each([0, 1, 99, 100, 101, 250])('yields each of %i items once, in order', async (count) => {
    const { read, all, requests } = listOf(items(count));
    expect(await collect(eachItem(read))).toEqual(all);
    expect(requests).toHaveLength(Math.max(1, Math.ceil(count / 100)));
  });

  it('reads a page only on demand', async () => {
    const { read, requests } = listOf(items(250));
    for await (const { id } of eachItem(read)) if (id === 'item 99') break;
    expect(requests).toEqual([{ page: 1, limit: 100 }]);
  });

  it('yields an item once even if new ones push it to the next page', async () => {
    const { read, all } = listOf(items(5));
    const met: string[] = [];
    for await (const { id } of eachItem(read, { pageSize: 2 })) {
      met.push(id);
      if (met.length === 1) all.unshift(...items(1, 100));
    }
    expect(met).toEqual(['item 0', 'item 1', 'item 2', 'item 3', 'item 4']);
  });

  it('accepts page sizes of 1 to 100', async () => {
    const { read, requests } = listOf(items(1));
    for (const pageSize of [0, 101, 1.5, Number.NaN]) {
      expect(await failure(eachItem(read, { pageSize }).next())).toMatchObject({ code: 'invalid_input' });
    }
    expect(requests).toEqual([]);
  });

  it('ends at an empty page, regardless of totalPages', async () => {
    const read = async ({ page, limit }: PageQuery) => ({ data: [], total: 9, page, limit, totalPages: 9 });
    expect(await collect(eachItem<{ id: string }>(read))).toEqual([]);
  });
});
