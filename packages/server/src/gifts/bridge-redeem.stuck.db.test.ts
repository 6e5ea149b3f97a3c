import { sql } from '@svc/store';
import { beforeEach, describe, expect, it } from 'vitest';
import { NONCE, unavailable } from '../../testing/bridge-stand-ins.ts';
import { bridgingHouse, FAST_SHARE } from '../../testing/bridging.ts';
import { RENEWAL_PAUSES_MS, sweepBridged } from './bridge-redeem.ts';
import { resumeRedeem } from './operator.ts';
import { endRedeems } from './redeem.ts';

const HOUR_MS = 3_600_000;
const house = bridgingHouse();
beforeEach(() => house.reset());

const wrong = () => {
  house.bridge.shows = { state: 'WRONG', reason: 'The attested message does not say what was burned: amount differs.' };
};

describe('after the burn', () => {
  it('a message that is not ours ends the redeem, with its share spent', async () => {
    const { id, giftId, caller } = await house.burned();
    wrong();
    await house.step(id);
    const { transactionHash, ...row } = await house.row(id);
    expect(row).toMatchObject({ status: 'FAILED', reason: expect.stringContaining('amount differs') });
    expect(transactionHash).toMatch(/^0x/);
    expect(await house.places(giftId)).toEqual({ total: 1, redeemed: 0n });
    expect(await house.books(caller)).toMatchObject({ spent: FAST_SHARE, held: FAST_SHARE });
    expect(house.complaints.at(-1)).toBe('a redeem is burned and does not arrive on Solana');
  });

  it.each([
    ['fast', true, HOUR_MS],
    ['standard', false, 24 * HOUR_MS],
  ])('the bridge gets its time to attest: %s', async (_, cctpFast, boundMs) => {
    house.bridge.feeNow = 0n;
    const { id } = await house.burned({ cctpFast });
    house.bridge.shows = { state: 'PENDING' };
    house.wait(boundMs - 60_000);
    await house.step(id);
    expect((await house.row(id)).status).toBe('BRIDGING');
    house.wait(120_000);
    await house.step(id);
    expect(await house.row(id)).toMatchObject({ status: 'FAILED', reason: 'The bridge did not attest it in time.' });
  });

  it('a bridge that does not answer is waited for, however long', async () => {
    const { id } = await house.burned();
    house.bridge.trouble = unavailable();
    house.wait(48 * HOUR_MS);
    await house.step(id);
    expect((await house.row(id)).status).toBe('BRIDGING');
    expect(await house.nextLook(id)).toBeLessThanOrEqual(15);
  });

  it('a mint that failed is tried again with a new attestation, so many times', async () => {
    const { id } = await house.burned();
    house.bridge.attest('FAILED');
    for (const pauseMs of RENEWAL_PAUSES_MS) {
      await house.forgetJobs();
      await house.step(id);
      expect(await house.nextLook(id)).toBe(pauseMs / 1_000);
      house.wait(pauseMs);
    }
    expect(house.bridge.renewed).toEqual(RENEWAL_PAUSES_MS.map(() => NONCE));
    expect((await house.row(id)).status).toBe('ATTESTED');
    await house.step(id);
    expect(await house.row(id)).toMatchObject({ status: 'FAILED', reason: expect.stringContaining('did not mint') });
    expect(house.bridge.renewed).toHaveLength(RENEWAL_PAUSES_MS.length);
  });

  it('a mint that is not tried for an hour gets a new attestation, and then arrives', async () => {
    const { id } = await house.burned();
    house.bridge.attest('PENDING');
    await house.step(id);
    house.wait(HOUR_MS + 1_000);
    await house.step(id);
    expect(house.bridge.renewed).toEqual([NONCE]);
    house.bridge.attest('COMPLETE');
    await house.step(id);
    expect((await house.row(id)).status).toBe('SUCCESS');
  });
});

describe('the operator', () => {
  it('sends a failed redeem on, and it arrives without being paid for twice', async () => {
    const { id, giftId, caller } = await house.burned({ maxRedeems: 1 });
    wrong();
    await house.step(id);
    const books = await house.books(caller);
    expect(books).toMatchObject({ spent: FAST_SHARE, held: 0n });
    await house.forgetJobs();
    expect(await resumeRedeem(house.db, id)).toMatchObject({ ok: true, status: 'BRIDGING' });
    expect(await house.nextLook(id)).toBe(0);
    house.bridge.attest('COMPLETE');
    await house.step(id);
    expect(await house.row(id)).toMatchObject({ status: 'SUCCESS', reason: null });
    expect(await house.books(caller)).toEqual(books);
    expect(await house.places(giftId)).toEqual({ total: 1, redeemed: 5_000_000n });
  });

  it('resumes from the attestation where there is one, with all the time and renewals again', async () => {
    const { id } = await house.burned();
    house.bridge.attest('FAILED');
    for (let looks = 0; looks <= RENEWAL_PAUSES_MS.length; looks += 1) await house.step(id);
    expect((await house.row(id)).status).toBe('FAILED');
    expect(await resumeRedeem(house.db, id)).toMatchObject({ ok: true, status: 'ATTESTED' });
    await house.step(id);
    expect(house.bridge.renewed).toHaveLength(RENEWAL_PAUSES_MS.length + 1);
  });

  it('can resume while the gift is deleted: the rest goes back, and nothing is counted twice', async () => {
    const { id, giftId, caller } = await house.burned();
    wrong();
    await house.step(id);
    await resumeRedeem(house.db, id);
    await house.gifts.delete(caller, giftId);
    expect(await house.books(caller)).toMatchObject({ spent: FAST_SHARE, held: 0n });
    await house.step(id);
    expect((await house.row(id)).status).toBe('FAILED');
    expect(await house.books(caller)).toMatchObject({ spent: FAST_SHARE, held: 0n });
  });

  it('resumes nothing that did not fail, was not burned or does not exist', async () => {
    const { id } = await house.redeem();
    expect(await resumeRedeem(house.db, id)).toMatchObject({ ok: false, reason: expect.stringContaining('PENDING') });
    await house.db.tx((tx) => endRedeems(tx, [{ id, end: 'FAILED', reason: 'no luck' }]));
    expect(await resumeRedeem(house.db, id)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('Nothing was'),
    });
    expect(await resumeRedeem(house.db, 'rdm_none')).toMatchObject({ ok: false });
    expect((await house.row(id)).status).toBe('FAILED');
  });
});

it('what nobody looks at any more is found again, once', async () => {
  const waiting = await house.redeem();
  const { id } = await house.burned();
  const sent = await house.redeem();
  await house.step(sent.id);
  await house.forgetJobs();
  await sweepBridged(house.db);
  await sweepBridged(house.db);
  const rows = await house.db.rows<{ key: string }>(sql`
    select key from jobs where key = any (${[waiting.id, id, sent.id]})`);
  expect(rows.map(({ key }) => key).sort()).toEqual([waiting.id, id].sort());
});
