import { ApiError } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { newOwner, useDatabase } from '../../testing/database.ts';
import { aRecord, newFelt } from '../../testing/transactions.ts';
import { countHistory, type ListQuery, listTransactions, readPeriod } from './history.ts';
import type { NewRecord } from './record.ts';
import { changeRecord, insertRecords, type RecordOwner } from './record-store.ts';

const records = useDatabase();

async function wallet() {
  const db = records.db();
  const owner = await newOwner(db);
  const address = newFelt();
  return {
    owner,
    address,
    /** Stores transfers that the wallet sent, in the order given, and answers their ids. */
    send: async (...given: Partial<NewRecord>[]) => {
      const sent = given.map((fields) => aRecord(owner, { senderAddress: address, ...fields }));
      return (await insertRecords(db, sent)).map(({ id }) => id);
    },
    list: (query: Omit<ListQuery, 'walletAddress'> = {}, as: RecordOwner = owner) =>
      listTransactions(db.reads, as, { walletAddress: address, ...query }),
    ids: async (query: Omit<ListQuery, 'walletAddress'> = {}) =>
      (await listTransactions(db.reads, owner, { walletAddress: address, ...query })).data.map(({ id }) => id),
  };
}

const at = (time: string): Partial<NewRecord> => ({ createdAt: new Date(time) });

describe('the list of a wallet', () => {
  it('is empty for a wallet that did nothing yet', async () => {
    const { list } = await wallet();
    expect(await list()).toEqual({ data: [], total: 0, page: 1, limit: 10, totalPages: 0 });
    expect(await list({ page: 3 })).toMatchObject({ data: [], total: 0, page: 3 });
  });

  it('is in order of time, newest first, in any order of recording; of one moment, the later id first', async () => {
    const { send, ids } = await wallet();
    const [b, d, a, c1, c2] = await send(
      at('2026-01-02T00:00:00Z'),
      at('2026-01-04T00:00:00Z'),
      at('2026-01-01T00:00:00Z'),
      at('2026-01-03T00:00:00Z'),
      at('2026-01-03T00:00:00Z'),
    );
    const [later, earlier] = [String(c1), String(c2)].sort().reverse();
    expect(await ids()).toEqual([d, later, earlier, b, a]);
  });

  it('has the calls of one execution in one order: the last call first', async () => {
    const { send, list } = await wallet();
    const places = Array.from({ length: 9 }, (_, callIndex) => callIndex);
    const given = await send(...places.map((callIndex) => ({ relayId: 'rel_list', callIndex })));
    expect((await list()).data.map(({ id }) => id)).toEqual(given.toReversed());
  });

  it('has what the wallet sent and what it received, and a transfer to itself once', async () => {
    const { send, ids, list, address } = await wallet();
    const [sent, received, self] = await send(
      at('2026-01-01T00:00:00Z'),
      { ...at('2026-01-02T00:00:00Z'), senderAddress: newFelt(), destinationAddress: address, type: 'RECEIVE' },
      { ...at('2026-01-03T00:00:00Z'), destinationAddress: address },
    );
    expect(await ids()).toEqual([self, received, sent]);
    expect(await list()).toMatchObject({ total: 3 });
  });

  it('is divided into pages without gap or overlap to the last one, counted or not', async () => {
    const { send, list } = await wallet();
    const times = Array.from({ length: 47 }, (_, i) => at(new Date(Date.UTC(2026, 0, 1 + (i % 9), i)).toISOString()));
    await send(...times.slice(0, 30));
    await countHistory(records.db(), undefined, { batch: 100, entriesAPlace: 4 });
    await send(...times.slice(30));
    const all = await list({ limit: 100 });
    expect(all).toMatchObject({ total: 47, page: 1, limit: 100, totalPages: 1 });
    const pages = await Promise.all(Array.from({ length: 6 }, (_, i) => list({ page: i + 1 })));
    expect(pages.map(({ data }) => data.length)).toEqual([10, 10, 10, 10, 7, 0]);
    for (const page of pages) expect(page).toMatchObject({ total: 47, limit: 10, totalPages: 5 });
    expect(pages.flatMap(({ data }) => data)).toEqual(all.data);
    const created = all.data.map(({ createdAt }) => createdAt);
    expect(created).toEqual([...created].sort().reverse());
  });

  it('counts a limit above 100 as 100', async () => {
    const { send, list } = await wallet();
    await send(...new Array<Partial<NewRecord>>(101).fill({}));
    const page = await list({ limit: 5_000 });
    expect(page).toMatchObject({ limit: 100, total: 101, totalPages: 2 });
    expect(page.data).toHaveLength(100);
  });

  it('answers an empty page far beyond the end', async () => {
    const { send, list } = await wallet();
    await send({});
    await countHistory(records.db());
    expect(await list({ page: 2 ** 31, limit: 100 })).toMatchObject({ data: [], total: 1 });
  });

  it('belongs to one organisation and environment, even where others know the same address', async () => {
    const mine = await wallet();
    const other = await newOwner(records.db());
    const [id] = await mine.send({});
    const [theirs] = await insertRecords(records.db(), [aRecord(other, { senderAddress: mine.address })]);
    expect(await mine.list()).toMatchObject({ data: [{ id }], total: 1 });
    expect(await mine.list({}, other)).toMatchObject({ data: [{ id: theirs?.id }], total: 1 });
    expect((await mine.list({}, { ...mine.owner, environment: 'production' })).total).toBe(0);
  });
});

describe('a record without a hash', () => {
  it('is in the list from when its hash is known, once, and another hash changes nothing', async () => {
    const db = records.db();
    const { send, list, ids } = await wallet();
    const [older, id = '', newer] = await send(
      at('2026-01-01T00:00:00Z'),
      { ...at('2026-01-02T00:00:00Z'), transactionHash: undefined },
      at('2026-01-03T00:00:00Z'),
    );
    expect(await ids()).toEqual([newer, older]);
    expect(await list()).toMatchObject({ total: 2 });
    await changeRecord(db, id, { status: 'PROCESSING' });
    expect(await ids()).toEqual([newer, older]);
    for (const change of [{ status: 'SUCCESS' }, { status: 'FAILED' }] as const) {
      await changeRecord(db, id, { ...change, transactionHash: newFelt() }, { reorganised: true });
      expect(await ids()).toEqual([newer, id, older]);
      expect(await list()).toMatchObject({ total: 3 });
    }
  });
});

describe('filters', () => {
  it('select by the function that was called, in any period', async () => {
    const { send, ids, list } = await wallet();
    const [transfer, approve, , laterApprove] = await send(
      { ...at('2026-01-01T00:00:00Z'), functionName: 'transfer' },
      { ...at('2026-01-02T00:00:00Z'), functionName: 'approve' },
      { ...at('2026-01-03T00:00:00Z'), functionName: undefined },
      { ...at('2026-02-01T00:00:00Z'), functionName: 'approve' },
    );
    await countHistory(records.db());
    expect(await ids({ calledFunction: 'transfer' })).toEqual([transfer]);
    expect(await ids({ calledFunction: 'approve' })).toEqual([laterApprove, approve]);
    expect(await ids({ calledFunction: 'approve', year: 2026, month: 1 })).toEqual([approve]);
    expect(await list({ calledFunction: 'approve', year: 2026, limit: 1 })).toMatchObject({ total: 2, totalPages: 2 });
    expect(await list({ calledFunction: 'Approve' })).toMatchObject({ data: [], total: 0 });
    expect(await list({ calledFunction: '' })).toMatchObject({ total: 4 });
  });

  it('select years, months and days of UTC to the millisecond', async () => {
    const { send, list } = await wallet();
    const moments = [
      '2023-12-31T23:59:59.999Z',
      '2024-01-01T00:00:00.000Z',
      '2024-01-31T23:59:59.999Z',
      '2024-02-01T00:00:00.000Z',
      '2024-02-28T23:59:59.999Z',
      '2024-02-29T00:00:00.000Z',
      '2024-02-29T23:59:59.999Z',
      '2024-03-01T00:00:00.000Z',
      '2024-12-31T23:59:59.999Z',
      '2025-01-01T00:00:00.000Z',
      '2025-02-28T12:00:00.000Z',
      '2025-03-01T00:00:00.000Z',
      '9999-12-31T23:59:59.999Z',
    ];
    await send(...moments.map(at));
    const selected = async (query: ListQuery | object) => {
      const { data, total } = await list({ limit: 100, ...query });
      expect(total).toBe(data.length);
      return data.map(({ createdAt }) => createdAt);
    };
    const starting = (...starts: string[]) =>
      moments.filter((moment) => starts.some((start) => moment.startsWith(start))).reverse();
    expect(await selected({ year: 2024 })).toEqual(starting('2024'));
    expect(await selected({ year: 2024, month: 2 })).toEqual(starting('2024-02'));
    expect(await selected({ year: 2024, month: 12 })).toEqual(starting('2024-12'));
    expect(await selected({ year: 2024, month: 2, day: 29 })).toEqual(starting('2024-02-29'));
    expect(await selected({ year: 2024, month: 1, day: 31 })).toEqual(starting('2024-01-31'));
    expect(await selected({ year: 2024, month: 12, day: 31 })).toEqual(starting('2024-12-31'));
    expect(await selected({ year: 9999 })).toEqual(starting('9999'));
    expect(await selected({ year: 2000 })).toEqual([]);
  });

  it('select nothing on a day that does not exist', async () => {
    const { send, list } = await wallet();
    await send(at('2025-02-28T12:00:00Z'), at('2025-03-01T00:00:00Z'), at('2025-03-03T00:00:00Z'));
    for (const day of [29, 30, 31])
      expect(await list({ year: 2025, month: 2, day })).toMatchObject({ data: [], total: 0 });
    expect(await list({ year: 2025, month: 4, day: 31 })).toMatchObject({ data: [], total: 0 });
  });

  it.each([{ day: 1 }, { day: 1, year: 2026 }, { month: 1 }, { month: 1, day: 1 }])(
    'refuse %j as incomplete',
    (date) => {
      expect(() => readPeriod(date)).toThrow(ApiError);
    },
  );
});
