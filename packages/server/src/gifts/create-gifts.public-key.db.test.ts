import { describe, expect, it } from 'vitest';
import { DAY_MS, NOW, PUBLIC_URL, useGifts } from '../../testing/gifts.ts';
import { refusal } from '../../testing/wallets.ts';
import type { Caller } from '../http/call.ts';
import { changeSettings } from '../organizations/settings.ts';
import { getGift, listGifts } from './manage-gifts.ts';

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
