import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { settledRelay, stateOfRelay, useIndexer } from '../../testing/indexer.ts';
import { aRecord } from '../../testing/transactions.ts';
import { insertRecords } from '../transactions/record-store.ts';
import { rewind, STALE_MS } from './index-blocks.ts';
import { findCursor } from './indexer.ts';

const fixture = useIndexer();
const insertRelay = (number: number, hash: bigint) => settledRelay(fixture(), number, hash);
const stateOf = (id: string) => stateOfRelay(fixture(), id);
const confirmations = (id: string) =>
  fixture().db.rows(sql`select payload from jobs where task = 'confirm-transaction' and key = ${id}`);

describe('what others have settled', () => {
  it('is opened again in the same moment in which following goes back', async () => {
    const { db, chain, index, context, order } = fixture();
    await order('mine', { blocks: 1 });
    await index();
    const cursor = await findCursor(db, context().chainId);
    const [below, top] = [await chain.block((cursor?.number ?? 0) - 1), await chain.block(cursor?.number ?? -1)];
    if (!cursor || !below || !top) throw new Error('There are no blocks.');
    const relayId = await insertRelay(top.number, top.hash);
    expect(await rewind(context(), below, below)).toBe(false);
    expect(await stateOf(relayId)).toBe('SUCCEEDED');
    expect(await rewind(context(), cursor, below)).toBe(true);
    expect(await stateOf(relayId)).toBe('SENT');
  });

  it('is opened again when its block is gone, and left alone below', async () => {
    const { chain, index, order, cursor } = fixture();
    for (let n = 0; n < 2; n += 1) {
      await order('mine', { blocks: 1 });
      await index();
    }
    const top = (await cursor()) ?? -1;
    const [below, above] = [await chain.block(top - 1), await chain.block(top)];
    const [settled, gone] = [await insertRelay(top - 1, below?.hash ?? 0n), await insertRelay(top, above?.hash ?? 0n)];
    await order('reorg', { blocks: 1, transactions: 'drop' });
    await order('mine', { blocks: 1 });
    await index();
    expect(await stateOf(gone)).toBe('SENT');
    expect(await stateOf(settled)).toBe('SUCCEEDED');
  });

  it('is opened again when it was faster than following, and its block was taken back in between', async () => {
    const { chain, index, fund, organization, wallet, order } = fixture();
    await index();
    const own = await wallet(await organization());
    const block = async () => chain.block(await chain.blockNumber());
    await fund(own);
    const gone = await block();
    await order('reorg', { blocks: 1, transactions: 'drop' });
    await fund(own, '2');
    const present = await block();
    expect(present?.number).toBe(gone?.number);
    const wrong = await insertRelay(gone?.number ?? -1, gone?.hash ?? 0n);
    const right = await insertRelay(present?.number ?? -1, present?.hash ?? 0n);
    await index();
    expect(await stateOf(wrong)).toBe('SENT');
    expect(await stateOf(right)).toBe('SUCCEEDED');
  });

  it('is opened again above a block that was replaced, before the chain is as high again', async () => {
    const { chain, index, fund, organization, wallet, order } = fixture();
    await index();
    const own = await wallet(await organization());
    const ended = [];
    for (const amount of ['1', '2']) {
      await fund(own, amount);
      const block = await chain.block(await chain.blockNumber());
      ended.push(await insertRelay(block?.number ?? -1, block?.hash ?? 0n));
    }
    await order('reorg', { blocks: 2, transactions: 'drop' });
    await order('mine', { blocks: 1 });
    await index();
    expect(await Promise.all(ended.map(stateOf))).toEqual(['SENT', 'SENT']);
  });

  it('is opened again also when a block without transfers has taken its place', async () => {
    const { chain, index, fund, organization, wallet, order } = fixture();
    await index();
    await fund(await wallet(await organization()));
    const gone = await chain.block(await chain.blockNumber());
    await order('reorg', { blocks: 1, transactions: 'drop' });
    await order('mine', { blocks: 3 });
    const wrong = await insertRelay(gone?.number ?? -1, gone?.hash ?? 0n);
    const above = await chain.block((gone?.number ?? -1) + 1);
    const right = await insertRelay(above?.number ?? -1, above?.hash ?? 0n);
    await index();
    expect(await stateOf(wrong)).toBe('SENT');
    expect(await stateOf(right)).toBe('SUCCEEDED');
  });

  it('is opened again when the chain has been too short for it for a while', async () => {
    const { chain, clock, index, order } = fixture();
    await index();
    await order('mine', { blocks: 1 });
    const gone = await chain.block(await chain.blockNumber());
    const relayId = await insertRelay(gone?.number ?? -1, gone?.hash ?? 0n);
    await order('reorg', { blocks: 1, transactions: 'drop' });
    await index();
    clock.advance(STALE_MS - 1);
    await index();
    expect(await stateOf(relayId)).toBe('SUCCEEDED');
    clock.advance(1);
    await index();
    expect(await stateOf(relayId)).toBe('SENT');
  });

  it('and follows no relay is asked about again, when its block is gone and when following passes it', async () => {
    const { db, index, organization, order, cursor } = fixture();
    await index();
    const owner = { organizationId: await organization(), environment: 'development' } as const;
    const next = ((await cursor()) ?? -1) + 1;
    const sent = { status: 'SUCCESS', blockNumber: next } as const;
    const [own, relayed] = await db.tx((tx) =>
      insertRecords(tx, [aRecord(owner, sent), aRecord(owner, { ...sent, relayId: 'rly_1', callIndex: 0 })]),
    );
    await order('mine', { blocks: 1 });
    await index();
    expect(await confirmations(own?.id ?? '')).toEqual([{ payload: { id: own?.id } }]);
    await db.run(sql`delete from jobs`);
    await index();
    expect(await confirmations(own?.id ?? '')).toEqual([]);
    await order('reorg', { blocks: 1, transactions: 'drop' });
    await index();
    fixture().clock.advance(STALE_MS);
    await index();
    expect(await confirmations(own?.id ?? '')).toEqual([{ payload: { id: own?.id } }]);
    expect(await confirmations(relayed?.id ?? '')).toEqual([]);
  });
});
