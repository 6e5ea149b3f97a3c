import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findBrokenInvariants } from '../../packages/server/testing/ledger.ts';
import { auditRelays } from '../support/audit.ts';
import { eventually } from '../support/eventually.ts';
import { GiftFixture, newSolanaWallet } from '../support/gifts.ts';
import { TestService } from '../support/service.ts';

/** Several polls of the bridge, on a busy machine. */
const EACH_MS = 120_000;
/** 5 USDC: a fee of 650, and half as much again of what is burned. */
const CEILING = 977n;
const FEE = 651n;
const ARRIVES = 5_000_000n + CEILING - FEE;
const SHARE_USD = 5 + 0.01 + 0.000977;

let service: TestService;
let gifts: GiftFixture;
beforeAll(async () => {
  service = await TestService.hosted();
  gifts = new GiftFixture(service);
}, EACH_MS);
beforeEach(() => gifts.removeFaults());
afterAll(() => service.stop());

/** Rounded to micros. */
const usd = (value: number) => expect.closeTo(value, 7);

describe('a gift that is redeemed to Solana', () => {
  it('is burned, then minted to the wallet in full, and paid for once', { timeout: EACH_MS }, async () => {
    const wallet = newSolanaWallet();
    const { code } = await gifts.gift({ amount: 5, maxRedeems: 1, maxRedeemsPerUser: 1 });
    const before = await gifts.balances();
    const reply = await gifts.redeem(code, wallet);
    expect(reply).toMatchObject({ status: 202, body: { destinationChain: 'solana', estimatedSeconds: 24 } });
    const { redeemId, cctpBurnTxHash } = reply.body as Record<string, string>;
    const end = await gifts.ended(code, redeemId ?? '');
    expect(end).toMatchObject({ status: 'SUCCESS', cctpBurnTxHash, receiveChainTxHash: expect.any(String), amount: 5 });
    expect(end.receiveProof).toBe('CHAIN');
    expect(await gifts.onSolana(wallet)).toBe(ARRIVES);
    await gifts.sandbox.ask(`/bridge/solana/transactions/${end.receiveChainTxHash}`);
    const evidence = await service.app.get(`/gifts/history/redeems/${redeemId}/evidence`);
    expect(evidence.body).toMatchObject({
      walletAddress: wallet,
      bridgeFee: '0.000651',
      amount: '5',
      receiveProof: 'CHAIN',
    });
    const steps = (evidence.body as { steps: { name: string; hash: string; at: string; state: string }[] }).steps;
    expect(steps.map(({ name, hash, state }) => [name, hash, state])).toEqual([
      ['RESERVED', null, 'DONE'],
      ['BURNED', cctpBurnTxHash, 'DONE'],
      ['ATTESTED', expect.stringMatching(/^0x[0-9a-f]{64}$/), 'DONE'],
      ['MINTED', end.receiveChainTxHash, 'DONE'],
    ]);
    expect(steps.map(({ at }) => at)).toEqual(steps.map(({ at }) => at).toSorted());
    expect(await gifts.balances()).toEqual({
      totalUsd: usd(before.totalUsd - SHARE_USD),
      availableUsd: usd(before.availableUsd),
      heldUsd: usd(before.heldUsd - SHARE_USD),
    });
  });

  it('takes the slow way, which costs nothing, where the gift says so', { timeout: EACH_MS }, async () => {
    const wallet = newSolanaWallet();
    const { code } = await gifts.gift({ amount: 5, cctpFast: false });
    const reply = await gifts.redeem(code, wallet);
    expect(reply).toMatchObject({ status: 202, body: { estimatedSeconds: 28_800 } });
    const { redeemId } = reply.body as { redeemId: string };
    expect(await gifts.ended(code, redeemId)).toMatchObject({ status: 'SUCCESS' });
    expect(await gifts.onSolana(wallet)).toBe(5_000_000n);
  });

  it('is given back when its burn reverts, and can be redeemed again', { timeout: EACH_MS }, async () => {
    const wallet = newSolanaWallet();
    const { id, code } = await gifts.gift({ amount: 5, maxRedeems: 1, maxRedeemsPerUser: 1 });
    await gifts.sandbox.orderFault({ kind: 'revert', method: 'starknet_addInvokeTransaction' });
    // Whether the answer still says BRIDGING is a matter of milliseconds.
    await gifts.redeem(code, wallet);
    const [first] = await gifts.allEnded(id);
    expect(await gifts.status(code, first?.id ?? '')).toMatchObject({ status: 'FAILED', cctpBurnTxHash: null });
    const second = await gifts.started(code, wallet);
    expect(await gifts.ended(code, second)).toMatchObject({ status: 'SUCCESS' });
    expect(await gifts.onSolana(wallet)).toBe(ARRIVES);
  });
});

describe('a bridge in trouble', () => {
  it.each([
    ['attests late', { kind: 'delayed', delaySeconds: 3 }],
    ['has an expired attestation', { kind: 'expired' }],
    ['fails to mint', { kind: 'forward-failed' }],
    ['answers with errors', { kind: 'unavailable', request: 'messages', count: 3 }],
    ['does not answer', { kind: 'no-answer', request: 'messages', count: 2 }],
    ['mints while the node of Solana is down', { kind: 'no-answer', request: 'solana', count: 2 }],
  ])('that %s still delivers, once', { timeout: EACH_MS }, async (_, fault) => {
    const wallet = newSolanaWallet();
    const { code } = await gifts.gift({ amount: 5 });
    await gifts.order(fault);
    expect(await gifts.ended(code, await gifts.started(code, wallet))).toMatchObject({ status: 'SUCCESS' });
    expect(await gifts.onSolana(wallet)).toBe(ARRIVES);
  });

  it('that says it minted is not believed until Solana shows it', { timeout: EACH_MS }, async () => {
    const wallet = newSolanaWallet();
    const { code } = await gifts.gift({ amount: 5 });
    await gifts.order({ kind: 'unminted' });
    const redeemId = await gifts.started(code, wallet);
    const isAttested = ({ status }: Record<string, unknown>) => status !== 'PENDING' && status !== 'BRIDGING';
    const waiting = await eventually(() => gifts.status(code, redeemId), isAttested, EACH_MS);
    expect(waiting).toMatchObject({ status: 'ATTESTED', receiveChainTxHash: null, receiveProof: null });
    expect(await gifts.onSolana(wallet)).toBe(0n);
    await gifts.clearFaults();
    expect(await gifts.ended(code, redeemId)).toMatchObject({ status: 'SUCCESS', receiveProof: 'CHAIN' });
    expect(await gifts.onSolana(wallet)).toBe(ARRIVES);
  });

  it('that does not see a burn is asked until it does', { timeout: EACH_MS }, async () => {
    const { code } = await gifts.gift({ amount: 5 });
    await gifts.order({ kind: 'never-indexed' });
    const redeemId = await gifts.started(code);
    expect(await gifts.status(code, redeemId)).toMatchObject({ status: 'BRIDGING' });
    await gifts.clearFaults();
    expect(await gifts.ended(code, redeemId)).toMatchObject({ status: 'SUCCESS' });
  });

  it.each(['amount', 'recipient', 'domain', 'token'])(
    'that shows another %s is not trusted; the operator sends the redeem on when it is mended',
    { timeout: EACH_MS },
    async (field) => {
      const { code } = await gifts.gift({ amount: 5 });
      await gifts.order({ kind: 'tampered-message', field });
      const redeemId = await gifts.started(code);
      const failed = await gifts.ended(code, redeemId);
      expect(failed).toMatchObject({ status: 'FAILED', cctpBurnTxHash: expect.any(String) });
      const before = await gifts.balances();
      await gifts.clearFaults();
      expect(await gifts.resume(redeemId)).toMatchObject({ resumed: redeemId, status: 'BRIDGING' });
      expect(await gifts.ended(code, redeemId)).toMatchObject({ status: 'SUCCESS' });
      expect(await gifts.balances()).toEqual(before);
    },
  );
});

it('the operator is told why a redeem cannot be resumed', { timeout: EACH_MS }, async () => {
  const { code } = await gifts.gift({ amount: 5 });
  const redeemId = await gifts.started(code);
  await gifts.ended(code, redeemId);
  await expect(gifts.resume(redeemId)).rejects.toThrow(/is SUCCESS; only one that failed/);
  await expect(gifts.resume('rdm_none')).rejects.toThrow(/No redeem to Solana has this id/);
});

it('after all of that the books and the chain agree', { timeout: EACH_MS }, async () => {
  const { db } = service.database;
  expect(await findBrokenInvariants(db)).toEqual([]);
  await auditRelays(db, gifts.sandbox);
});
