import { connect, type Db, sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { everythingOf, newOwner, useDatabase } from '../../testing/database.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { balance, credit, findHold, hold, type LedgerOwner, release, settle } from './ledger.ts';

const ledger = useDatabase();

async function scene(): Promise<{ owner: LedgerOwner; holdId: string }> {
  const owner = await newOwner(ledger.db(), { credits: 100n });
  return { owner, holdId: (await hold(ledger.db(), { ...owner, amount: 40n, reference: 'gift' })).id };
}

async function moveEverything(tx: Db, owner: LedgerOwner, holdId: string): Promise<void> {
  await credit(tx, { ...owner, type: 'DEPOSIT', amount: 7n, reference: '0xabc' });
  await settle(tx, { holdId, amount: 10n, reference: 'redeem' });
  await release(tx, { holdId, reference: 'deleted' });
  await hold(tx, { ...owner, amount: 90n, reference: 'another gift' });
}

async function killBackend(pid: number): Promise<void> {
  await ledger.db().run(sql`select pg_terminate_backend(${pid})`);
}

describe('a crash in the middle of a transaction', () => {
  it('leaves nothing when the work fails', async () => {
    const { owner, holdId } = await scene();
    const before = await everythingOf(ledger.db(), owner);
    const work = ledger.db().tx(async (tx) => {
      await moveEverything(tx, owner, holdId);
      throw new Error('crash');
    });
    await expect(work).rejects.toThrow('crash');
    expect(await everythingOf(ledger.db(), owner)).toEqual(before);
  });

  it('leaves nothing when the connection dies before the commit', async () => {
    const { owner, holdId } = await scene();
    const before = await everythingOf(ledger.db(), owner);
    const work = ledger.db().tx(async (tx) => {
      const backend = await tx.one<{ pid: number }>(sql`select pg_backend_pid() as pid`);
      await moveEverything(tx, owner, holdId);
      await killBackend(backend?.pid ?? 0);
    });
    await expect(work).rejects.toThrow();
    expect(await everythingOf(ledger.db(), owner)).toEqual(before);
    expect(await findBrokenInvariants(ledger.db())).toEqual([]);
  });

  it('leaves nothing when one statement fails and the work goes on regardless', async () => {
    const { owner, holdId } = await scene();
    const before = await everythingOf(ledger.db(), owner);
    const work = ledger.db().tx(async (tx) => {
      await moveEverything(tx, owner, holdId);
      await settle(tx, { holdId, amount: 1n, reference: 'of a closed hold' }).catch(() => {});
    });
    await expect(work).rejects.toThrow('nothing of it is stored');
    expect(await everythingOf(ledger.db(), owner)).toEqual(before);
  });

  it('does not keep the next caller waiting, who may repeat all of it', async () => {
    const { owner, holdId } = await scene();
    const crashing = connect(ledger.db().url, { max: 1 });
    const work = crashing.tx(async (tx) => {
      await moveEverything(tx, owner, holdId);
      const backend = await tx.one<{ pid: number }>(sql`select pg_backend_pid() as pid`);
      await killBackend(backend?.pid ?? 0);
    });
    await expect(work).rejects.toThrow();
    await crashing.close();
    await ledger.db().tx((tx) => moveEverything(tx, owner, holdId));
    expect(await findHold(ledger.db(), holdId)).toMatchObject({ settled: 10n, released: 30n, status: 'CLOSED' });
    expect(await balance(ledger.db(), owner)).toEqual({ available: 7n, held: 90n, total: 97n });
  });
});
