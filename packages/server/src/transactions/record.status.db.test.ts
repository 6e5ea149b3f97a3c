import { txStatuses } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { newOwner, useDatabase } from '../../testing/database.ts';
import { aRecord } from '../../testing/transactions.ts';
import { statusesBefore } from './record.ts';
import { changeRecord, insertRecords, recordById } from './record-store.ts';

const records = useDatabase();

const ALLOWED = new Set([
  'PENDING → PROCESSING',
  'PENDING → SUCCESS',
  'PENDING → FAILED',
  'PENDING → CANCELLED',
  'PROCESSING → SUCCESS',
  'PROCESSING → FAILED',
  'PROCESSING → CANCELLED',
]);
const ALLOWED_BY_A_REORGANISATION = new Set(['SUCCESS → SUCCESS', 'SUCCESS → FAILED', 'FAILED → SUCCESS']);
const pairs = txStatuses.flatMap((from) => txStatuses.map((to) => ({ from, to, pair: `${from} → ${to}` })));

describe.each([
  { when: 'usually', reorganised: false, allowed: ALLOWED },
  { when: 'after a reorganisation', reorganised: true, allowed: new Set([...ALLOWED, ...ALLOWED_BY_A_REORGANISATION]) },
])('$when', ({ reorganised, allowed }) => {
  it.each(pairs)('$pair happens only if the machine says so', async ({ from, to, pair }) => {
    const db = records.db();
    const owner = await newOwner(db);
    const [before] = await insertRecords(db, [aRecord(owner, { status: from })]);
    if (!before) throw new Error('The record was not stored.');
    const changed = await changeRecord(db, before.id, { status: to, blockNumber: 7 }, { reorganised });
    const after = await recordById(db, owner, before.id);
    if (allowed.has(pair)) {
      expect(changed).toEqual(after);
      expect(after).toMatchObject({ status: to, blockNumber: 7 });
    } else {
      expect(changed).toBeUndefined();
      expect(after).toEqual(before);
    }
    expect(statusesBefore(to, { reorganised }).includes(from)).toBe(allowed.has(pair));
  });
});
