import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestNode, type TestNode } from '../../testing/test-node.ts';
import { readHead } from './head.ts';
import { RecentBlocks } from './recent-blocks.ts';
import { StateCache } from './state.ts';
import { Writer } from './writer.ts';

let test: TestNode;
let writer: Writer;
beforeAll(async () => {
  test = await startTestNode();
  // A clock that stands still: batches end when the queue is empty, never by time.
  const now = Date.now();
  writer = new Writer(test.database.db, { cache: new StateCache(), blocks: new RecentBlocks() }, () => now);
});
afterAll(() => test.stop());

const number = async () => (await readHead(test.database.db)).number;

describe('the writer', () => {
  it('answers after what was written can be read by others', async () => {
    const written = await writer.write(async (draft) => {
      draft.seal();
      return draft.head.number;
    });
    expect(await number()).toBe(written);
  });

  it('stores what arrives together in one database transaction', async () => {
    const jobs = Array.from({ length: 5 }, () =>
      writer.write(async (draft) => {
        draft.seal();
        const row = await draft.tx.one<{ id: string }>(sql`select pg_current_xact_id()::text as id`);
        return row?.id;
      }),
    );
    expect(new Set(await Promise.all(jobs)).size).toBe(1);
  });

  it('keeps the others when one fails', async () => {
    const before = await number();
    const outcomes = await Promise.allSettled([
      writer.write(async (draft) => draft.seal()),
      writer.write(async () => {
        throw new Error('broken');
      }),
      writer.write(async (draft) => draft.seal()),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await number()).toBe(before + 2);
  });

  it('tells everyone when nothing could be stored, and goes on', async () => {
    const before = await number();
    const outcomes = await Promise.allSettled([
      writer.write(async (draft) => draft.seal()),
      writer.write(async (draft) => draft.tx.run(sql`select 1 / 0`)),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected']);
    expect(await number()).toBe(before);
    await writer.write(async (draft) => draft.seal());
    expect(await number()).toBe(before + 1);
  });

  it('waits while another process writes', async () => {
    const { db } = test.database;
    const order: string[] = [];
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const locked = Promise.withResolvers<void>();
    const other = db.tx(async (tx) => {
      await tx.run(sql`select from sandbox.chain for update`);
      locked.resolve();
      await held;
      order.push('other');
    });
    await locked.promise;
    const mine = writer.write(async () => {
      order.push('mine');
    });
    release();
    await Promise.all([other, mine]);
    expect(order).toEqual(['other', 'mine']);
  });
});
