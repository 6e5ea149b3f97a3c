import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { useWebhooks } from '../../testing/webhooks.ts';
import { publishEvent } from './events.ts';

const fixture = useWebhooks();

describe('publishing an event', () => {
  it('stores a delivery for each webhook that wants it, and orders its turn', async () => {
    const caller = await fixture.caller();
    const all = await fixture.create(caller);
    const fitting = await fixture.create(caller, { eventTypes: ['sku-purchase.failed', 'sku-purchase.completed'] });
    const other = await fixture.create(caller, { eventTypes: ['sku-purchase.failed'] });
    const event = await fixture.publish(caller);
    for (const { id } of [all, fitting]) {
      expect(await fixture.deliveries(id)).toMatchObject([{ event, state: 'WAITING', attempts: 0 }]);
      expect(await fixture.nextRun(id)).toBeInstanceOf(Date);
    }
    expect(await fixture.deliveries(other.id)).toEqual([]);
    expect(await fixture.nextRun(other.id)).toBeUndefined();
  });

  it('passes over webhooks that are switched off, deleted, or of others', async () => {
    const [caller, stranger] = [await fixture.caller(), await fixture.caller()];
    const off = await fixture.create(caller);
    await fixture.update(caller, off.id, { isEnabled: false });
    const deleted = await fixture.create(caller);
    await fixture.delete(caller, deleted.id);
    const production = await fixture.create({ ...caller, environment: 'production' });
    const foreign = await fixture.create(stranger);
    await fixture.publish(caller);
    for (const { id } of [off, deleted, production, foreign]) expect(await fixture.deliveries(id)).toEqual([]);
  });

  it('is stored once for a subject and type, however often it is published, and for both of two types', async () => {
    const caller = await fixture.caller();
    const { id } = await fixture.create(caller);
    const subject = 'txn_told_twice';
    const first = await fixture.publish(caller, { subject });
    await Promise.all([fixture.publish(caller, { subject }), fixture.publish(caller, { subject, data: { other: 1 } })]);
    expect(await fixture.deliveries(id)).toMatchObject([{ event: first }]);
    await fixture.publish(caller, { subject, type: 'sku-purchase.failed' });
    expect(await fixture.deliveries(id)).toHaveLength(2);
  });

  it('is stored once when it is published twice at once', async () => {
    const caller = await fixture.caller();
    const { id } = await fixture.create(caller);
    const told = Array.from({ length: 8 }, () => fixture.publish(caller, { subject: 'txn_at_once' }));
    expect(new Set(await Promise.all(told)).size).toBe(1);
    expect(await fixture.deliveries(id)).toHaveLength(1);
  });

  it('leaves nothing behind when the change that it tells of is taken back', async () => {
    const caller = await fixture.caller();
    const { id } = await fixture.create(caller);
    const event = { ...caller, type: 'sku-purchase.completed' as const, subject: 'txn_taken_back', data: {} };
    const taken = fixture.db.tx(async (tx) => {
      await publishEvent(tx, event);
      throw new Error('taken back');
    });
    await expect(taken).rejects.toThrow('taken back');
    expect(await fixture.deliveries(id)).toEqual([]);
    expect(await fixture.nextRun(id)).toBeUndefined();
    expect(await fixture.db.rows(sql`select from events where subject = 'txn_taken_back'`)).toEqual([]);
  });
});

describe('gift events', () => {
  const gift = { type: 'gift.redeemed' as const };

  it('are not even stored where no webhook names them', async () => {
    const caller = await fixture.caller();
    const all = await fixture.create(caller);
    const off = await fixture.create(caller, { eventTypes: ['gift.redeemed'] });
    await fixture.update(caller, off.id, { isEnabled: false });
    await fixture.create(caller, { eventTypes: ['gift.redeem-failed'] });
    expect(await fixture.publish(caller, gift)).toBe('');
    expect(await fixture.deliveries(all.id)).toEqual([]);
  });

  it('go to the webhooks that name them, and to no other', async () => {
    const caller = await fixture.caller();
    const [all, naming] = [
      await fixture.create(caller),
      await fixture.create(caller, { eventTypes: ['gift.redeemed'] }),
    ];
    const event = await fixture.publish(caller, gift);
    expect(await fixture.deliveries(naming.id)).toMatchObject([{ event }]);
    expect(await fixture.deliveries(all.id)).toEqual([]);
  });
});

it.each([
  'wallet.created',
  'transaction.confirmed',
  'transaction.failed',
  'transfer.received',
  'deposit.credited',
  'treasury.proposal.created',
  'treasury.proposal.executed',
] as const)('%s goes to a webhook that takes all', async (type) => {
  const caller = await fixture.caller();
  const { id } = await fixture.create(caller);
  const event = await fixture.publish(caller, { type });
  expect(await fixture.deliveries(id)).toMatchObject([{ event }]);
});
