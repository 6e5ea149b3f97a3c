import { describe, expect, it } from 'vitest';
import { newOwner, useDatabase } from '../../testing/database.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { balance, hold, listEntries, reverse } from './ledger.ts';

const ledger = useDatabase();

describe('reverse', () => {
  it('takes credits back', async () => {
    const owner = await newOwner(ledger.db(), { credits: 100n });
    const entry = await reverse(ledger.db(), { ...owner, amount: 30n, reference: '0xabc' });
    expect(entry).toMatchObject({ type: 'REVERSAL', amount: 30n, holdId: null, availableAfter: 70n, heldAfter: 0n });
    expect(await balance(ledger.db(), owner)).toEqual({ available: 70n, held: 0n, total: 70n });
    expect(await findBrokenInvariants(ledger.db())).toEqual([]);
  });

  it('takes no more than is available, and leaves what is held', async () => {
    const owner = await newOwner(ledger.db(), { credits: 100n });
    await hold(ledger.db(), { ...owner, amount: 60n, reference: 'gift' });
    expect(await reverse(ledger.db(), { ...owner, amount: 100n, reference: '0xabc' })).toMatchObject({ amount: 40n });
    expect(await reverse(ledger.db(), { ...owner, amount: 60n, reference: '0xdef' })).toBeUndefined();
    expect(await balance(ledger.db(), owner)).toEqual({ available: 0n, held: 60n, total: 60n });
    expect((await listEntries(ledger.db(), owner, { limit: 10, offset: 0 })).total).toBe(3);
    expect(await findBrokenInvariants(ledger.db())).toEqual([]);
  });

  it('takes the same reference back once', async () => {
    const owner = await newOwner(ledger.db(), { credits: 100n });
    const reversal = { ...owner, amount: 30n, reference: '0xabc' };
    await reverse(ledger.db(), reversal);
    await expect(reverse(ledger.db(), reversal)).rejects.toThrow('ledger_entries_credit');
    expect((await balance(ledger.db(), owner)).total).toBe(70n);
  });

  it('takes back once what twenty callers take back at the same time', async () => {
    const owner = await newOwner(ledger.db(), { credits: 100n });
    const calls = Array.from({ length: 20 }, (_, index) => ({ ...owner, amount: 30n, reference: `0x${index}` }));
    const entries = await Promise.all(calls.map((call) => reverse(ledger.db(), call)));
    expect(entries.reduce((sum, entry) => sum + (entry?.amount ?? 0n), 0n)).toBe(100n);
    expect((await balance(ledger.db(), owner)).total).toBe(0n);
  });
});
