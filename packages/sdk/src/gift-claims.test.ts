import { describe, expect, it, vi } from 'vitest';
import { fakeClient } from '../testing/fake-client.ts';
import { claimGift, redeemGift, solveProof } from './gift-claims.ts';

const challenge = { challenge: '1.2.abc.def', iterations: 1, difficulty: 4, expiresAt: '2026-11-17T10:00:00.000Z' };
const WALLET = '0x01a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80';

const refused = (status: number, error: string) => () =>
  Response.json({ error, message: error }, { status, headers: { 'retry-after': '60' } });
const needed = refused(429, 'proof_of_work_required');
const challenged = () => Response.json(challenge);
const claimed = () => Response.json({ valid: false, reason: 'Gift has expired' });
const redeemed = () => Response.json({ giftRedeem: { id: 'rdm_1' } }, { status: 201 });

describe('a claim that needs a proof of work', () => {
  it('is repeated with the solution, without waiting for the limit to end', async () => {
    const { client, sent, pausesMs } = fakeClient([needed, challenged, claimed]);
    expect(await claimGift(client, { code: 'C0DE' })).toEqual({ valid: false, reason: 'Gift has expired' });
    expect(sent.map(({ url }) => new URL(url).pathname)).toEqual([
      '/v1/gifts/claim/C0DE',
      '/v1/gifts/claim-challenge',
      '/v1/gifts/claim/C0DE',
    ]);
    expect(sent.map(({ headers }) => headers['x-svc-proof'])).toEqual([
      undefined,
      undefined,
      await solveProof(challenge),
    ]);
    expect(pausesMs).toEqual([]);
  });

  it('of a redeem keeps its idempotency key', async () => {
    const { client, sent } = fakeClient([needed, challenged, redeemed]);
    await redeemGift(client, { code: 'C0DE', walletAddress: WALLET, chain: 'starknet', idempotencyKey: 'mine' });
    expect(sent.map(({ headers }) => headers['idempotency-key'])).toEqual(['mine', undefined, 'mine']);
  });

  it('is solved where the app says', async () => {
    const solve = vi.fn(async () => 'solved elsewhere');
    const { client, sent } = fakeClient([needed, challenged, claimed], { solveProof: solve });
    await claimGift(client, { code: 'C0DE' });
    expect(solve).toHaveBeenCalledExactlyOnceWith(challenge);
    expect(sent.at(-1)?.headers['x-svc-proof']).toBe('solved elsewhere');
  });

  it('is solved again when the proof came too late, three times at most', async () => {
    const late = refused(400, 'invalid_proof_of_work');
    const once = fakeClient([needed, challenged, late, challenged, claimed]);
    await claimGift(once.client, { code: 'C0DE' });
    const never = fakeClient([needed, ...Array.from({ length: 3 }, () => [challenged, late]).flat()]);
    await expect(claimGift(never.client, { code: 'C0DE' })).rejects.toMatchObject({ code: 'invalid_proof_of_work' });
  });

  it('is not confused with other refusals', async () => {
    const { client, sent } = fakeClient([refused(429, 'rate_limited')], { maxRetries: 0 });
    await expect(claimGift(client, { code: 'C0DE' })).rejects.toMatchObject({ code: 'rate_limited' });
    expect(sent).toHaveLength(1);
  });
});
