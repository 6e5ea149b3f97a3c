import { type RedeemStatus, redeemStatuses } from '@svc/protocol';
import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { useGifts } from '../../testing/gifts.ts';
import { endRedeems, findRedeem, reorganisations, resumptions, statusesBefore } from './redeem.ts';

const fixture = useGifts();

const ALLOWED = new Set([
  'PENDING → BRIDGING',
  'PENDING → SUCCESS',
  'PENDING → FAILED',
  'BRIDGING → ATTESTED',
  'BRIDGING → FAILED',
  'ATTESTED → SUCCESS',
  'ATTESTED → FAILED',
]);
const REORGANISED = new Set(['FAILED → SUCCESS']);
const RESUMED = new Set(['FAILED → BRIDGING', 'FAILED → ATTESTED']);

const pairs = redeemStatuses.flatMap((from) => redeemStatuses.map((to) => ({ from, to, pair: `${from} → ${to}` })));

describe('a redeem', () => {
  it.each(pairs)('goes $pair only if the machine says so', ({ from, to, pair }) => {
    expect(statusesBefore(to).includes(from)).toBe(ALLOWED.has(pair));
    expect(statusesBefore(to, reorganisations).includes(from)).toBe(ALLOWED.has(pair) || REORGANISED.has(pair));
    expect(statusesBefore(to, resumptions).includes(from)).toBe(ALLOWED.has(pair) || RESUMED.has(pair));
  });

  const ends = pairs.filter((pair): pair is typeof pair & { to: 'SUCCESS' | 'FAILED' } => /→ (S|F)/.test(pair.pair));
  it.each(ends)('ends $pair in the database only if the machine says so', async ({ from, to, pair }) => {
    const id = await redeemIn(from);
    const end = to === 'SUCCESS' ? { id, end: to } : { id, end: to, reason: 'no' };
    const ended = fixture.db.tx((tx) => endRedeems(tx, [end]));
    const allowed = ALLOWED.has(pair) || REORGANISED.has(pair);
    // To fail once more, or what was paid, is nothing; to succeed out of nowhere is a fault of ours.
    if (to === 'SUCCESS' && !allowed && from !== to) await expect(ended).rejects.toThrow(/cannot end in SUCCESS/);
    else await ended;
    expect((await findRedeem(fixture.db, id))?.status).toBe(allowed ? to : from);
  });
});

async function redeemIn(status: RedeemStatus): Promise<string> {
  const caller = await fixture.caller();
  const { id: giftId } = await fixture.create(caller, { maxRedeems: 3 });
  const id = await fixture.redeem(caller, giftId, 'solana');
  if (status === 'SUCCESS') await fixture.db.tx((tx) => endRedeems(tx, [{ id, end: 'SUCCESS' }]));
  else if (status === 'FAILED') await fixture.db.tx((tx) => endRedeems(tx, [{ id, end: 'FAILED', reason: 'before' }]));
  else await fixture.db.run(sql`update gift_redeems set status = ${status} where id = ${id}`);
  return id;
}
