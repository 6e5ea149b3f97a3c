import { sql } from '@svc/store';
import { beforeEach, describe, expect, it } from 'vitest';
import { FAST_SHARE, MINT, NONCE, unavailable, useBridge, WALLET } from '../../testing/bridge.ts';
import { CREDIT_TIMEOUT_MS, REATTEST_DELAYS_MS } from '../bridge/follow-burn.ts';
import { requeueStalledRedeems } from './bridge-redeem.ts';
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

describe('a mint that the bridge reports', () => {
  const complete = async () => {
    const burned = await fixture.burned();
    fixture.bridge.attest('COMPLETE');
    return burned;
  };
  const missing = { credited: false, reason: 'Solana does not show it as confirmed' } as const;

  it('counts once Solana shows the credit, and the redeem says so', async () => {
    const { id, caller } = await complete();
    fixture.bridge.minted = { credited: true };
    await fixture.step(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'SUCCESS', receiveHash: MINT, receiveProof: 'CHAIN' });
    expect(fixture.bridge.checked).toEqual([{ signature: MINT, nonce: NONCE, owner: WALLET, amount: 5_000_000n }]);
    expect(await fixture.balances(caller)).toMatchObject({ spent: FAST_SHARE });
  });

  it('counts by its word alone where no node of Solana is configured, and the redeem says so', async () => {
    const { id } = await complete();
    await fixture.step(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'SUCCESS', receiveProof: 'BRIDGE' });
  });

  it('is waited for while Solana does not show it, and counts when it does', async () => {
    const { id, caller } = await complete();
    fixture.bridge.minted = missing;
    await fixture.deleteJobs();
    await fixture.step(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'ATTESTED', receiveHash: null, receiveProof: null });
    expect(await fixture.nextRunSeconds(id)).toBe(2);
    expect(await fixture.balances(caller)).toMatchObject({ spent: 0n });
    fixture.bridge.minted = { credited: true };
    await fixture.step(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'SUCCESS', receiveProof: 'CHAIN' });
    expect(await fixture.balances(caller)).toMatchObject({ spent: FAST_SHARE });
  });

  it('and is nowhere after an hour goes to the operator, spent and never paid again', async () => {
    const { id, giftId, caller } = await complete();
    fixture.bridge.minted = missing;
    await fixture.step(id);
    const orders = fixture.payer.orders.length;
    fixture.clock.advance(CREDIT_TIMEOUT_MS + 1_000);
    await fixture.step(id);
    const reason = `The bridge says that ${MINT} minted it, but Solana does not show it as confirmed.`;
    expect(await fixture.row(id)).toMatchObject({ status: 'FAILED', reason, receiveHash: null });
    expect(await stuckIds()).toContain(id);
    expect(await fixture.redeemCounts(giftId)).toEqual({ total: 1, redeemed: 0n });
    expect(await fixture.balances(caller)).toMatchObject({ spent: FAST_SHARE, held: FAST_SHARE });
    expect(await resume(id)).toMatchObject({ ok: true, status: 'ATTESTED' });
    fixture.bridge.minted = { credited: true };
    await fixture.step(id);
    expect(await fixture.row(id)).toMatchObject({ status: 'SUCCESS', reason: null, receiveProof: 'CHAIN' });
    expect(await fixture.balances(caller)).toMatchObject({ spent: FAST_SHARE, held: FAST_SHARE });
    expect(fixture.payer.orders).toHaveLength(orders);
  });

  it('is waited for without an end while no node of Solana answers', async () => {
    const { id, caller } = await complete();
    fixture.bridge.nodeError = unavailable();
    await fixture.step(id);
    fixture.clock.advance(48 * HOUR_MS);
    await fixture.step(id);
    expect((await fixture.row(id)).status).toBe('ATTESTED');
    expect(await fixture.nextRunSeconds(id)).toBeLessThanOrEqual(15);
    expect(await fixture.balances(caller)).toMatchObject({ spent: 0n, held: 2n * FAST_SHARE });
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
