import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { BRIDGE, DOLLAR, GAS, NOW, PUBLIC_URL, useGifts } from '../../testing/gifts.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { refusal } from '../../testing/wallets.ts';
import { listGifts } from './manage-gifts.ts';

const fixture = useGifts();
const SHARE = 5n * DOLLAR + GAS + BRIDGE;
const emails = (count: number) => Array.from({ length: count }, (_, place) => ({ email: `user${place}@example.com` }));

describe('gifts for many', () => {
  it('are 500 in one transaction: a code, a hold and a mail each', async () => {
    const caller = await fixture.caller(10_000n);
    fixture.mails.length = 0;
    const made = await fixture.bulk(caller, { recipients: emails(500) });
    expect(made).toMatchObject({ created: 500, campaignName: 'Navidad', totalHeldUsd: 2520 });
    expect(made.gifts.map(({ email }) => email)).toEqual(emails(500).map(({ email }) => email));
    expect(new Set(made.gifts.map(({ code }) => code)).size).toBe(500);
    for (const { code, claimUrl } of made.gifts) {
      expect(code).toMatch(/^[A-Z]{8}$/);
      expect(claimUrl).toBe(`https://pay.example/claim/${code}`);
    }
    expect(fixture.mails).toHaveLength(500);
    const counts = await fixture.db.one(sql`
      select count(distinct hold_id) as holds, count(*) as gifts, count(distinct xmin::text) as transactions
        from gifts where organization_id = ${caller.organizationId}`);
    expect(counts).toEqual({ holds: 500n, gifts: 500n, transactions: 1n });
    expect(await fixture.balance(caller)).toMatchObject({ held: 500n * SHARE });
    expect(await findBrokenInvariants(fixture.db)).toEqual([]);
  });

  it('start now, last for ever, are redeemed once and belong to a campaign', async () => {
    const caller = await fixture.caller();
    await fixture.bulk(caller, {
      name: 'Reyes',
      type: 'LOYALTY',
      cctpFast: false,
      recipients: [{ email: 'eva@example.com', code: 'para-eva' }],
    });
    const { data } = (await listGifts(fixture.db, caller, {}, PUBLIC_URL)) as { data: unknown[] };
    expect(data).toEqual([
      expect.objectContaining({
        code: 'para-eva',
        name: 'Reyes',
        campaignName: 'Reyes',
        recipientEmail: 'eva@example.com',
        type: 'LOYALTY',
        cctpFast: false,
        maxRedeems: 1,
        maxRedeemsPerUser: 1,
        startsAt: new Date(NOW).toISOString(),
        expiresAt: null,
        isActive: true,
        totalHeldUsd: 5.01,
      }),
    ]);
  });

  it('are mailed with what the recipient wants to know', async () => {
    const caller = await fixture.caller();
    fixture.mails.length = 0;
    await fixture.bulk(caller, { amount: 0.5, recipients: [{ email: 'eva@example.com', code: 'Eva-1' }] });
    expect(fixture.mails).toEqual([
      {
        organizationId: caller.organizationId,
        environment: 'development',
        recipient: 'eva@example.com',
        giftId: expect.stringMatching(/^gift_/),
        template: 'gift',
        content: {
          code: 'Eva-1',
          name: 'Navidad',
          amountUsd: '0.5',
          claimUrl: 'https://pay.example/claim/Eva-1',
          orgName: 'Tienda Azul',
        },
      },
    ]);
  });

  it('get another code where one exists by chance, of a gift or in the same batch', async () => {
    const caller = await fixture.caller();
    await fixture.create(caller, { code: 'aaaaaaaa' });
    const codes = ['AAAAAAAA', 'BBBBBBBB', 'BBBBBBBB', 'CCCCCCCC', 'DDDDDDDD'];
    const deps = fixture.deps({ newCode: () => codes.shift() ?? 'EEEEEEEE' });
    const recipients = [...emails(2), { email: 'eva@example.com', code: 'cccccccc' }];
    const { gifts } = await fixture.bulk(caller, { recipients }, deps);
    expect(gifts.map(({ code }) => code)).toEqual(['DDDDDDDD', 'BBBBBBBB', 'cccccccc']);
  });
});

describe('gifts for many of which one cannot be made are not made at all', () => {
  it.each([
    ['a code is there twice, in any case', ['one-code', 'ONE-CODE']],
    ['a code exists', ['new-code', 'existing']],
  ])('because %s', async (_, codes) => {
    const other = await fixture.caller();
    await fixture.create(other, { code: 'Existing' }).catch(() => {});
    const caller = await fixture.caller();
    const before = await fixture.everything(caller);
    fixture.mails.length = 0;
    const recipients = codes.map((code) => ({ email: 'ana@example.com', code }));
    const message = await refusal(
      fixture.bulk(caller, { recipients: [...emails(3), ...recipients] }),
      'gift_code_taken',
    );
    expect(message).toContain(codes[1]);
    expect([await fixture.everything(caller), fixture.mails]).toEqual([before, []]);
  });

  it('because the organisation has tried too many codes of its own in a minute, taken ones included', async () => {
    const caller = await fixture.caller();
    const deps = fixture.deps({ chosenCodesPerMinute: 3 });
    const chosen = (...codes: string[]) => ({ recipients: codes.map((code) => ({ email: 'ana@example.com', code })) });
    await fixture.create(await fixture.caller(), { code: 'taken-by-eva' });
    await refusal(fixture.bulk(caller, chosen('mine-1', 'taken-by-eva'), deps), 'gift_code_taken');
    await refusal(fixture.bulk(caller, chosen('mine-2', 'mine-3'), deps), 'rate_limited');
    const production = { ...caller, environment: 'production' } as const;
    await refusal(fixture.bulk(production, chosen('mine-4'), deps), 'rate_limited');
    // Automatic codes tell nothing, and another organisation has a limit of its own.
    expect(await fixture.bulk(caller, { recipients: emails(4) }, deps)).toMatchObject({ created: 4 });
    expect(await fixture.bulk(await fixture.caller(), chosen('mine-5'), deps)).toMatchObject({ created: 1 });
  });

  it('because the credits are a millionth short', async () => {
    const caller = await fixture.caller(10n);
    const before = await fixture.everything(caller);
    const changes = { amount: 5, cctpFast: false, recipients: emails(2) };
    await refusal(fixture.bulk(caller, changes, fixture.deps({ gas: 1n })), 'insufficient_credits');
    expect(await fixture.everything(caller)).toEqual(before);
    expect(await fixture.bulk(caller, changes, fixture.deps({ gas: 0n }))).toMatchObject({ totalHeldUsd: 10 });
  });

  it('because the mails cannot be stored', async () => {
    const caller = await fixture.caller();
    const before = await fixture.everything(caller);
    const queueMails = () => Promise.reject(new Error('no mails'));
    await expect(fixture.bulk(caller, { recipients: emails(3) }, fixture.deps({ queueMails }))).rejects.toThrow(
      'no mails',
    );
    expect(await fixture.everything(caller)).toEqual(before);
  });

  it('because codes that are made up exist again and again', async () => {
    const caller = await fixture.caller();
    await fixture.create(caller, { code: 'ZZZZZZZZ' });
    const before = await fixture.everything(caller);
    const stuck = fixture.bulk(caller, {}, fixture.deps({ newCode: () => 'ZZZZZZZZ' }));
    await expect(stuck).rejects.toThrow('No free gift codes');
    expect(await fixture.everything(caller)).toEqual(before);
  });

  it('because of their amount', async () => {
    const caller = await fixture.caller();
    expect(await refusal(fixture.bulk(caller, { amount: 0.1234567 }), 'invalid_request')).toContain('body.amount');
  });
});

it('two batches with the same codes in opposite orders do not wait for each other in a circle', async () => {
  const [one, other] = [await fixture.caller(5_000n), await fixture.caller(5_000n)];
  const codes = Array.from({ length: 500 }, (_, place) => ({ email: 'a@example.com', code: `circle-${place}` }));
  const made = await Promise.allSettled([
    fixture.bulk(one, { recipients: codes }),
    fixture.bulk(other, { recipients: codes.toReversed() }),
  ]);
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(made.find((result) => result.status === 'rejected')?.reason).toMatchObject({ code: 'gift_code_taken' });
});
