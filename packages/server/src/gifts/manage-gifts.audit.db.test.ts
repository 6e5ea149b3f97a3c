import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { at, useGifts } from '../../testing/gifts.ts';
import { refusal } from '../../testing/wallets.ts';
import { listChanges } from '../audit-log.ts';
import type { Caller } from '../http/call.ts';
import { queueGiftMails } from '../mail/mail.ts';

const fixture = useGifts();
const logOf = async (caller: Caller) => (await listChanges(fixture.db, caller, { limit: 100, offset: 0 })).entries;

describe('deleting a gift', () => {
  it('cancels its mail that has not left, and no other', async () => {
    const caller = await fixture.caller();
    const deps = fixture.deps({ queueMails: (tx, mails) => queueGiftMails(tx, mails, undefined, new Date()) });
    await fixture.bulk(caller, { recipients: [{ email: 'ana@example.com' }, { email: 'eva@example.com' }] }, deps);
    const mailOf = (email: string) =>
      fixture.db.one<{ state: string; giftId: string }>(sql`
        select state, gift_id as "giftId" from mails
         where organization_id = ${caller.organizationId} and recipient = ${email}`);
    await fixture.delete(caller, (await mailOf('ana@example.com'))?.giftId ?? '');
    expect(await mailOf('ana@example.com')).toMatchObject({ state: 'CANCELLED' });
    expect(await mailOf('eva@example.com')).toMatchObject({ state: 'QUEUED' });
    expect((await logOf(caller))[0]).toMatchObject({ action: 'gift.deleted', changes: { cancelledMails: 1 } });
  });
});

describe('the audit log', () => {
  it('has creation, change and deletion of a gift with the key, and never its code', async () => {
    const caller = { ...(await fixture.caller()), secretKeyId: 'key_secret' };
    const { id, code } = await fixture.create(caller);
    await fixture.update(caller, id, { name: 'Reyes', isActive: true });
    await fixture.update(caller, id, { expiresAt: at(20) });
    const { releasedUsd } = await fixture.delete(caller, id);
    const ofGift = { target: id, actor: 'key_secret' };
    const entries = await logOf(caller);
    expect(entries).toMatchObject([
      { ...ofGift, action: 'gift.deleted', changes: { releasedUsd } },
      { ...ofGift, action: 'gift.updated', changes: { expiresAt: at(20) } },
      { ...ofGift, action: 'gift.updated', changes: { name: 'Reyes' } },
      { ...ofGift, action: 'gift.created', changes: { name: 'Navidad', amount: '5', maxRedeems: 10, isActive: true } },
    ]);
    expect(entries[2]?.changes).toEqual({ name: 'Reyes' });
    expect(JSON.stringify(entries)).not.toContain(code);
  });

  it('has one entry for many gifts, without codes and recipients', async () => {
    const caller = await fixture.caller();
    const recipients = [{ email: 'ana@example.com', code: 'para-ana' }, { email: 'eva@example.com' }];
    const { totalHeldUsd } = await fixture.bulk(caller, { recipients });
    const entries = await logOf(caller);
    expect(entries).toMatchObject([
      {
        action: 'gift.bulk-created',
        target: null,
        actor: 'key_1',
        changes: { created: 2, campaignName: 'Navidad', amount: '5', totalHeldUsd },
      },
    ]);
    expect(JSON.stringify(entries)).not.toMatch(/example\.com|para-ana/);
  });

  it('has nothing of what was refused or changed nothing', async () => {
    const caller = await fixture.caller();
    const { id } = await fixture.create(caller);
    await fixture.update(caller, id, { name: 'Navidad', isActive: true });
    await refusal(fixture.create(caller, { amount: 9_999, maxRedeems: 1_000 }), 'insufficient_credits');
    await refusal(fixture.update(caller, id, { expiresAt: at(-9) }), 'invalid_request');
    await refusal(fixture.delete(caller, 'gift_none'), 'gift_not_found');
    expect((await logOf(caller)).map(({ action }) => action)).toEqual(['gift.created']);
  });
});
