import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { webhookHouse } from '../../testing/webhooks.ts';
import { publishEvent } from './events.ts';

const house = webhookHouse();

describe('publishing an event', () => {
  it('stores a delivery for each webhook that wants it, and orders its turn', async () => {
    const caller = await house.caller();
    const all = await house.create(caller);
    const fitting = await house.create(caller, { eventTypes: ['sku-purchase.failed', 'sku-purchase.completed'] });
    const other = await house.create(caller, { eventTypes: ['sku-purchase.failed'] });
    const event = await house.publish(caller);
    for (const { id } of [all, fitting]) {
      expect(await house.deliveries(id)).toMatchObject([{ event, state: 'WAITING', attempts: 0 }]);
      expect(await house.turn(id)).toBeInstanceOf(Date);
    }
    expect(await house.deliveries(other.id)).toEqual([]);
    expect(await house.turn(other.id)).toBeUndefined();
  });

  it('passes over webhooks that are switched off, deleted, or of others', async () => {
    const [caller, stranger] = [await house.caller(), await house.caller()];
    const off = await house.create(caller);
    await house.update(caller, off.id, { isEnabled: false });
    const deleted = await house.create(caller);
    await house.delete(caller, deleted.id);
    const production = await house.create({ ...caller, environment: 'production' });
    const foreign = await house.create(stranger);
    await house.publish(caller);
    for (const { id } of [off, deleted, production, foreign]) expect(await house.deliveries(id)).toEqual([]);
  });

  it('happens once for a subject and type, however often it is told, and for both of two types', async () => {
    const caller = await house.caller();
    const { id } = await house.create(caller);
    const subject = 'txn_told_twice';
    const first = await house.publish(caller, { subject });
    await Promise.all([house.publish(caller, { subject }), house.publish(caller, { subject, data: { other: 1 } })]);
    expect(await house.deliveries(id)).toMatchObject([{ event: first }]);
    await house.publish(caller, { subject, type: 'sku-purchase.failed' });
    expect(await house.deliveries(id)).toHaveLength(2);
  });

  it('happens once when it is told twice at once', async () => {
    const caller = await house.caller();
    const { id } = await house.create(caller);
    const told = Array.from({ length: 8 }, () => house.publish(caller, { subject: 'txn_at_once' }));
    expect(new Set(await Promise.all(told)).size).toBe(1);
    expect(await house.deliveries(id)).toHaveLength(1);
  });

  it('leaves nothing behind when the change that it tells of is taken back', async () => {
    const caller = await house.caller();
    const { id } = await house.create(caller);
    const event = { ...caller, type: 'sku-purchase.completed' as const, subject: 'txn_taken_back', data: {} };
    const taken = house.db.tx(async (tx) => {
      await publishEvent(tx, event);
      throw new Error('taken back');
    });
    await expect(taken).rejects.toThrow('taken back');
    expect(await house.deliveries(id)).toEqual([]);
    expect(await house.turn(id)).toBeUndefined();
    expect(await house.db.rows(sql`select from events where subject = 'txn_taken_back'`)).toEqual([]);
  });
});
