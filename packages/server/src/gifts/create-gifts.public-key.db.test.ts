import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { DAY_MS, NOW, PUBLIC_URL, useGifts } from '../../testing/gifts.ts';
import { refusal } from '../../testing/wallets.ts';
import type { Caller } from '../http/call.ts';
import { changeSettings } from '../organizations/settings.ts';
import { getGift, listGifts, releaseExpired } from './manage-gifts.ts';

const fixture = useGifts();

/** The same organisation, called with its secret key and with its public key alone. */
async function callers(limitUsd: number | null) {
  const secret = await fixture.caller();
  await fixture.db.tx((tx) => changeSettings(tx, secret, { publicKeyGiftsDailyUsd: limitUsd }));
  return { secret, browser: { ...secret, proof: 'public key' } satisfies Caller };
}

describe('gifts created with the public key alone', () => {
  it('pay out at most the daily limit together, and start again the next day', async () => {
    const { browser } = await callers(10);
    await fixture.create(browser, { amount: 2, maxRedeems: 2 });
    await fixture.bulk(browser, { amount: 3, recipients: [{ email: 'a@example.com' }, { email: 'b@example.com' }] });
    await refusal(fixture.create(browser, { amount: 0.000001, maxRedeems: 1 }), 'daily_limit_reached');
    const tomorrow = fixture.deps({ now: () => NOW + DAY_MS });
    await fixture.create(browser, { amount: 10, maxRedeems: 1 }, tomorrow);
  });

  it('leave nothing behind when the limit refuses them', async () => {
    const { browser, secret } = await callers(10);
    const before = await fixture.balance(secret);
    await refusal(fixture.create(browser, { amount: 11, maxRedeems: 1 }), 'daily_limit_reached');
    expect(await fixture.balance(secret)).toEqual(before);
    await fixture.create(browser, { amount: 10, maxRedeems: 1 });
  });

  it('cannot pass the limit together when many are created at once', async () => {
    const { browser } = await callers(10);
    const created = await Promise.allSettled(
      Array.from({ length: 12 }, () => fixture.create(browser, { amount: 2, maxRedeems: 1 })),
    );
    expect(created.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  });

  it('count again when an expired one is extended, so that no more than the limit can be paid', async () => {
    const { browser, secret } = await callers(10);
    const { id } = await fixture.create(secret, {
      amount: 6,
      maxRedeems: 2,
      expiresAt: new Date(NOW + 1).toISOString(),
    });
    await releaseExpired(fixture.db, NOW + 2);
    const extend = (caller: Caller) => fixture.update(caller, id, { expiresAt: new Date(NOW + DAY_MS).toISOString() });
    await refusal(extend(browser), 'daily_limit_reached');
    expect(await fixture.balance(secret)).toMatchObject({ held: 0n });
    await extend(secret);
    expect((await fixture.balance(secret)).held).toBeGreaterThan(12_000_000n);
  });

  it('show their codes in production once, and those of others never', async () => {
    const { browser, secret } = await callers(null);
    const created = await fixture.create(secret, { maxRedeems: 2 });
    const inProduction = (caller: Caller) => ({ ...caller, environment: 'production' }) as const;
    const moved = fixture.db.run(sql`update gifts set environment = 'production' where id = ${created.id}`);
    await expect(moved).resolves.toBe(1);
    const read = (caller: Caller) => getGift(fixture.db, inProduction(caller), created.id, PUBLIC_URL);
    const list = (caller: Caller, search?: string) =>
      listGifts(fixture.db, inProduction(caller), search === undefined ? {} : { search }, PUBLIC_URL);
    expect(JSON.stringify([await read(browser), await list(browser)])).not.toContain(created.code);
    expect(await read(browser)).toMatchObject({ id: created.id, code: '', claimUrl: '' });
    expect(await list(browser, created.code.slice(0, 3))).toMatchObject({ total: 0 });
    expect(await list(secret, created.code.slice(0, 3))).toMatchObject({ total: 1 });
    expect(await read(secret)).toMatchObject({ code: created.code });
    const inDevelopment = await fixture.create(browser);
    expect(await getGift(fixture.db, browser, inDevelopment.id, PUBLIC_URL)).toMatchObject({
      code: inDevelopment.code,
    });
  });

  it('do not count what the secret key creates', async () => {
    const { browser, secret } = await callers(10);
    await fixture.create(secret, { amount: 50, maxRedeems: 1 });
    await fixture.create(browser, { amount: 10, maxRedeems: 1 });
  });

  it('show no recipient, whichever key created them', async () => {
    const { browser, secret } = await callers(null);
    const { gifts } = await fixture.bulk(browser);
    await fixture.bulk(secret, { recipients: [{ email: 'luis@example.com' }] });
    expect(JSON.stringify(gifts)).not.toContain('@');
    const listed = await listGifts(fixture.db, browser, {}, PUBLIC_URL);
    expect(JSON.stringify(listed)).not.toContain('@');
    const whole = (await listGifts(fixture.db, secret, {}, PUBLIC_URL)) as {
      data: { id: string; recipientEmail: string }[];
    };
    expect(whole.data.map(({ recipientEmail }) => recipientEmail).sort()).toEqual([
      'ana@example.com',
      'luis@example.com',
    ]);
    const [first] = whole.data;
    expect(await getGift(fixture.db, browser, first?.id ?? '', PUBLIC_URL)).toMatchObject({ recipientEmail: null });
  });
});
