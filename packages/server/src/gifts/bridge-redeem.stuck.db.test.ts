import { sql } from '@svc/store';
import { beforeEach, describe, expect, it } from 'vitest';
import { FAST_SHARE, NONCE, unavailable, useBridge } from '../../testing/bridge.ts';
import { REATTEST_DELAYS_MS, requeueStalledRedeems } from './bridge-redeem.ts';
import { resumeRedeem, stuckRedeems } from './operator.ts';
import { endRedeems } from './redeem.ts';

const HOUR_MS = 3_600_000;
const fixture = useBridge();
beforeEach(() => fixture.reset());

const resume = (id: string) => fixture.db.tx((tx) => resumeRedeem(tx, id, 'operator:eva@svc.example'));
const stuckIds = async () => (await stuckRedeems(fixture.db, 100)).map(({ id }) => id);

const wrong = () => {
  fixture.bridge.current = {
    state: 'WRONG',
    reason: 'The attested message does not say what was burned: amount differs.',
  };
};

describe('after the burn', () => {
  it('a message that is not ours ends the redeem, with its share spent', async () => {
    const { id, giftId, caller } = await fixture.burned();
    wrong();
    await fixture.step(id);
    const { transactionHash, ...row } = await fixture.row(id);
    expect(row).toMatchObject({ status: 'FAILED', reason: expect.stringContaining('amount differs') });
    expect(transactionHash).toMatch(/^0x/);
    expect(await fixture.redeemCounts(giftId)).toEqual({ total: 1, redeemed: 0n });
    expect(await fixture.balances(caller)).toMatchObject({ spent: FAST_SHARE, held: FAST_SHARE });
    expect(fixture.warnings.at(-1)).toBe('redeem burned but not minted on Solana');
  });

  it.each([
    ['fast', true, HOUR_MS],
    ['standard', false, 24 * HOUR_MS],
  ])('the bridge gets its time to attest: %s', async (_, cctpFast, boundMs) => {
    fixture.bridge.feeNow = 0n;
    const { id } = await fixture.burned({ cctpFast });
    fixture.bridge.current = { state: 'PENDING' };
    fixture.clock.advance(boundMs - 60_000);
    await fixture.step(id);
    expect((await fixture.row(id)).status).toBe('BRIDGING');
    fixture.clock.advance(120_000);
    await fixture.step(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'FAILED', reason: 'The bridge did not attest it in time.' });
  });

  it('a bridge that does not answer is waited for, however long', async () => {
    const { id } = await fixture.burned();
    fixture.bridge.error = unavailable();
    fixture.clock.advance(48 * HOUR_MS);
    await fixture.step(id);
    expect((await fixture.row(id)).status).toBe('BRIDGING');
    expect(await fixture.nextRunSeconds(id)).toBeLessThanOrEqual(15);
  });

  it('a mint that failed is tried again with a new attestation, so many times', async () => {
    const { id } = await fixture.burned();
    fixture.bridge.attest('FAILED');
    for (const pauseMs of REATTEST_DELAYS_MS) {
      await fixture.deleteJobs();
      await fixture.step(id);
      expect(await fixture.nextRunSeconds(id)).toBe(pauseMs / 1_000);
      fixture.clock.advance(pauseMs);
    }
    expect(fixture.bridge.renewed).toEqual(REATTEST_DELAYS_MS.map(() => NONCE));
    expect((await fixture.row(id)).status).toBe('ATTESTED');
    await fixture.step(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'FAILED', reason: expect.stringContaining('did not mint') });
    expect(fixture.bridge.renewed).toHaveLength(REATTEST_DELAYS_MS.length);
  });

  it('a mint that is not tried for an hour gets a new attestation, and then arrives', async () => {
    const { id } = await fixture.burned();
    fixture.bridge.attest('PENDING');
    await fixture.step(id);
    fixture.clock.advance(HOUR_MS + 1_000);
    await fixture.step(id);
    expect(fixture.bridge.renewed).toEqual([NONCE]);
    fixture.bridge.attest('COMPLETE');
    await fixture.step(id);
    expect((await fixture.row(id)).status).toBe('SUCCESS');
  });
});

describe('the operator', () => {
  it('sends a failed redeem on, and it arrives without being paid for twice', async () => {
    const { id, giftId, caller } = await fixture.burned({ maxRedeems: 1 });
    wrong();
    await fixture.step(id);
    const books = await fixture.balances(caller);
    expect(books).toMatchObject({ spent: FAST_SHARE, held: 0n });
    await fixture.deleteJobs();
    expect(await stuckIds()).toContain(id);
    expect(await resume(id)).toMatchObject({ ok: true, status: 'BRIDGING' });
    expect(await stuckIds()).not.toContain(id);
    expect(
      await fixture.db.rows(sql`select organization_id, actor, action, changes from audit_log where target = ${id}`),
    ).toEqual([
      {
        organization_id: caller.organizationId,
        actor: 'operator:eva@svc.example',
        action: 'gift-redeem.resumed',
        changes: { status: 'BRIDGING' },
      },
    ]);
    expect(await fixture.nextRunSeconds(id)).toBe(0);
    fixture.bridge.attest('COMPLETE');
    await fixture.step(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'SUCCESS', reason: null });
    expect(await fixture.balances(caller)).toEqual(books);
    expect(await fixture.redeemCounts(giftId)).toEqual({ total: 1, redeemed: 5_000_000n });
  });

  it('resumes from the attestation where there is one, with all the time and renewals again', async () => {
    const { id } = await fixture.burned();
    fixture.bridge.attest('FAILED');
    for (let looks = 0; looks <= REATTEST_DELAYS_MS.length; looks += 1) await fixture.step(id);
    expect((await fixture.row(id)).status).toBe('FAILED');
    expect(await resume(id)).toMatchObject({ ok: true, status: 'ATTESTED' });
    await fixture.step(id);
    expect(fixture.bridge.renewed).toHaveLength(REATTEST_DELAYS_MS.length + 1);
  });

  it('can resume while the gift is deleted: the rest goes back, and nothing is counted twice', async () => {
    const { id, giftId, caller } = await fixture.burned();
    wrong();
    await fixture.step(id);
    await resume(id);
    await fixture.gifts.delete(caller, giftId);
    expect(await fixture.balances(caller)).toMatchObject({ spent: FAST_SHARE, held: 0n });
    await fixture.step(id);
    expect((await fixture.row(id)).status).toBe('FAILED');
    expect(await fixture.balances(caller)).toMatchObject({ spent: FAST_SHARE, held: 0n });
  });

  it('resumes nothing that did not fail, was not burned or does not exist', async () => {
    const { id } = await fixture.redeem();
    expect(await resume(id)).toMatchObject({ ok: false, reason: expect.stringContaining('PENDING') });
    await fixture.db.tx((tx) => endRedeems(tx, [{ id, end: 'FAILED', reason: 'no luck' }]));
    expect(await resume(id)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('Nothing was'),
    });
    expect(await resume('rdm_none')).toMatchObject({ ok: false });
    expect((await fixture.row(id)).status).toBe('FAILED');
  });
});

it('bridged redeems without a job are requeued once', async () => {
  const waiting = await fixture.redeem();
  const { id } = await fixture.burned();
  const sent = await fixture.redeem();
  await fixture.step(sent.id);
  await fixture.deleteJobs();
  await requeueStalledRedeems(fixture.db);
  await requeueStalledRedeems(fixture.db);
  const rows = await fixture.db.rows<{ key: string }>(sql`
    select key from jobs where key = any (${[waiting.id, id, sent.id]})`);
  expect(rows.map(({ key }) => key).sort()).toEqual([waiting.id, id].sort());
});
