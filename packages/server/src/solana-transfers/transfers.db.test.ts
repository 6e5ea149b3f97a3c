import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { dying, Killed, MINT, unavailable } from '../../testing/bridge.ts';
import { BurningBridge, SolanaTransferFixture } from '../../testing/solana-transfers.ts';
import type { Owner } from '../../testing/wallets.ts';
import { cctpPlaces } from '../bridge/cctp-message.ts';
import { REATTEST_DELAYS_MS } from '../bridge/follow-burn.ts';
import { requeueStalledTransfers } from './follow-transfer.ts';
import { countStuckTransfers, resumeTransfer, stuckTransfers } from './operator.ts';
import { FOLLOW_TASK } from './transfer.ts';

let fixture: SolanaTransferFixture;
let owner: Owner;

beforeAll(async () => {
  fixture = await SolanaTransferFixture.start();
});
afterAll(() => fixture?.stop());
beforeEach(async () => {
  owner = await fixture.funded();
  fixture.bridge = new BurningBridge();
  fixture.bridgeClock.reset();
  fixture.clock.reset();
});

const jobsOf = (id: string) =>
  fixture.db.rows(sql`select from jobs where task = ${FOLLOW_TASK} and key = ${id} and failed_at is null`);
const balance = () => fixture.balance(BigInt(owner.address));
const status = async (id: string) => (await fixture.read(id)).status;

describe('a transfer to Solana', () => {
  it('is burned by the wallet, attested and minted, and says what arrived', async () => {
    const before = await balance();
    const transfer = await fixture.create(await fixture.order(owner));
    expect(transfer).toMatchObject({ status: 'PENDING', amount: '5', fee: null, received: null });
    expect(await balance()).toBe(before - 5_000_000n);
    await fixture.burned(transfer);
    expect(await status(transfer.id)).toBe('BRIDGING');
    fixture.bridge.attest('PENDING');
    await fixture.step(transfer.id);
    expect(await fixture.read(transfer.id)).toMatchObject({ status: 'ATTESTED', fee: '0.00065', received: null });
    fixture.bridge.attest('COMPLETE');
    fixture.bridge.minted = { credited: true };
    await fixture.step(transfer.id);
    expect(await fixture.read(transfer.id)).toMatchObject({
      ...{ status: 'SUCCESS', received: '4.99935', receiveChainTxHash: MINT, receiveProof: 'CHAIN', reason: null },
    });
    expect((await fixture.records(transfer.transactionHash ?? '')).map((record) => record.status)).toEqual([
      'SUCCESS',
      'SUCCESS',
    ]);
  });

  it('is one however often its request is sent, at once, later, and after its window', async () => {
    const before = await balance();
    const body = await fixture.order(owner);
    const answers = await Promise.all([fixture.create(body), fixture.create(body), fixture.create(body)]);
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    const unsent = await fixture.order(owner);
    fixture.clock.advance(2 * 3_600_000);
    expect((await fixture.create(body)).id).toBe(answers[0]?.id);
    await expect(fixture.create(unsent)).rejects.toMatchObject({ code: 'typed_data_expired' });
    expect(await balance()).toBe(before - 5_000_000n);
  });

  it('is refused before anything is signed or stored: the address, the amount, the fee, other calls', async () => {
    const before = await balance();
    const refused = (work: Promise<unknown>, code: string) => expect(work).rejects.toMatchObject({ code });
    await refused(fixture.order(owner, '5', owner.address), 'invalid_request');
    // A token account: nobody has its key.
    await refused(fixture.order(owner, '5', 'FGETo8T8wMcN2wCjav8VK6eh3dLk63evNDPxzLSJra8B'), 'invalid_request');
    // USDC itself, which is taken for an address of it, and programs.
    for (const recipient of [cctpPlaces.mainnet.usdcMint, 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA']) {
      await refused(fixture.order(owner, '5', recipient), 'invalid_request');
    }
    for (const amount of ['0', '-1', '1e3', '0.0000001', '10000000000000']) {
      await refused(fixture.order(owner, amount), 'invalid_request');
    }
    await refused(fixture.order(owner, '0.002'), 'amount_below_fee');
    fixture.bridge.error = unavailable();
    await refused(fixture.order(owner), 'chain_unavailable');
    fixture.bridge.error = undefined;
    const tooMuch = await fixture.order(owner, '100000');
    await refused(fixture.create(tooMuch), 'transaction_reverted');
    const body = await fixture.order(owner);
    fixture.bridge.feeNow = 2_001n;
    await refused(fixture.create(body), 'bridge_fee_changed');
    fixture.bridge.feeNow = 1_000n;
    const [approve, burn] = fixture.bridge.burnCalls('development', {
      ...{
        amount: 5_000_000n,
        maxFee: 2_000n,
        owner: '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM' as never,
        fast: true,
      },
    });
    const text = (call: typeof burn, calldata = call?.calldata ?? []) => ({
      contractAddress: `0x${call?.to.toString(16)}`,
      entrypoint: `0x${call?.selector.toString(16)}`,
      calldata: calldata.map(String),
    });
    const changed = burn?.calldata.map((felt, index) => (index === 3 ? felt + 1n : felt));
    for (const calls of [
      [text(burn)],
      [text(approve), text(burn), text(approve)],
      [text(approve), text(burn, changed)],
      [text(approve), text(approve)],
    ]) {
      await refused(fixture.create(await fixture.signed(owner, calls)), 'invalid_typed_data');
    }
    expect(await balance()).toBe(before);
  });

  it('is bounded in number, so that nobody keeps the bridge busy', async () => {
    const many = await fixture.funded('eva');
    const ids: string[] = [];
    for (let count = 0; count < 20; count++) ids.push((await fixture.create(await fixture.order(many, '1'))).id);
    await expect(fixture.create(await fixture.order(many, '1'))).rejects.toMatchObject({
      code: 'solana_transfer_limit_reached',
    });
    expect(new Set(ids).size).toBe(20);
  });

  it('that the chain did not execute is over, and the money is in the wallet', async () => {
    const transfer = await fixture.create(await fixture.order(owner));
    await fixture.burned(transfer, { result: 'VOIDED', hash: undefined, receipt: undefined });
    expect(await fixture.read(transfer.id)).toMatchObject({
      status: 'FAILED',
      reason: expect.stringContaining('still in the wallet'),
    });
    expect(await jobsOf(transfer.id)).toEqual([]);
    // A reorganisation executed it after all.
    await fixture.burned(transfer);
    expect(await fixture.read(transfer.id)).toMatchObject({ status: 'BRIDGING', reason: null });
    expect(await jobsOf(transfer.id)).toHaveLength(1);
  });

  it('whose burn a reorganisation removed goes back; one that is attested goes on', async () => {
    const gone = { result: 'VOIDED', hash: undefined, receipt: undefined } as const;
    const early = await fixture.bridging(owner);
    await fixture.burned(early, gone);
    expect(await status(early.id)).toBe('FAILED');
    const late = await fixture.bridging(owner);
    fixture.bridge.attest('PENDING');
    await fixture.step(late.id);
    await fixture.burned(late, gone);
    expect(await status(late.id)).toBe('ATTESTED');
  });

  it('whose burn came back is waited for from then on', async () => {
    const transfer = await fixture.bridging(owner);
    await fixture.burned(transfer, { result: 'VOIDED', hash: undefined, receipt: undefined });
    await fixture.db.run(sql`
      update solana_transfers set facts = facts || '{"since": "2026-01-01T00:00:00Z"}' where id = ${transfer.id}`);
    await fixture.burned(transfer);
    await fixture.step(transfer.id);
    expect(await status(transfer.id)).toBe('BRIDGING');
  });

  it('waits while the bridge or a node of Solana does not answer', async () => {
    const { id } = await fixture.bridging(owner);
    fixture.bridge.error = unavailable();
    await fixture.step(id);
    expect(await status(id)).toBe('BRIDGING');
    fixture.bridge.error = undefined;
    fixture.bridge.attest('COMPLETE');
    fixture.bridge.nodeError = unavailable();
    await fixture.step(id);
    expect(await status(id)).toBe('ATTESTED');
    expect(await jobsOf(id)).toHaveLength(1);
    await fixture.db.run(sql`delete from jobs where key = ${id}`);
    await requeueStalledTransfers(fixture.db);
    expect(await jobsOf(id)).toHaveLength(1);
  });

  it('has its attestation renewed, is stuck when that does not help, and goes on when the operator says so', async () => {
    const { id } = await fixture.bridging(owner);
    fixture.bridge.attest('FAILED');
    for (const _ of REATTEST_DELAYS_MS) await fixture.step(id);
    expect(fixture.bridge.renewed).toHaveLength(REATTEST_DELAYS_MS.length);
    const stuckBefore = await countStuckTransfers(fixture.db);
    await fixture.step(id);
    expect(await fixture.read(id)).toMatchObject({ status: 'STUCK', reason: expect.stringContaining('did not mint') });
    expect(await countStuckTransfers(fixture.db)).toBe(stuckBefore + 1);
    expect((await stuckTransfers(fixture.db, 100)).map((one) => one.id)).toContain(id);
    expect(await fixture.db.tx((tx) => resumeTransfer(tx, id))).toEqual({ ok: true, status: 'ATTESTED' });
    expect(await fixture.db.tx((tx) => resumeTransfer(tx, id))).toMatchObject({ ok: false });
    fixture.bridge.attest('COMPLETE');
    await fixture.step(id);
    expect(await fixture.read(id)).toMatchObject({ status: 'SUCCESS', reason: null, receiveProof: 'BRIDGE' });
  });

  it('that the bridge never sees, or shows otherwise than it was ordered, is stuck and not given up', async () => {
    const unseen = await fixture.bridging(owner);
    fixture.bridgeClock.advance(3_600_001);
    await fixture.step(unseen.id);
    expect(await fixture.read(unseen.id)).toMatchObject({
      status: 'STUCK',
      reason: expect.stringContaining('see the burn'),
    });
    fixture.bridgeClock.reset();
    const wrong = await fixture.bridging(owner);
    fixture.bridge.current = { state: 'WRONG', reason: 'amount differs' };
    await fixture.step(wrong.id);
    expect(await fixture.read(wrong.id)).toMatchObject({ status: 'STUCK', reason: 'amount differs' });
    expect(await fixture.db.tx((tx) => resumeTransfer(tx, wrong.id))).toEqual({ ok: true, status: 'BRIDGING' });
  });
});

function dyingDeps(steps: number, when: 'before' | 'after') {
  const mortal = dying(steps, when);
  return { db: mortal(fixture.db), bridge: mortal(fixture.bridge) };
}

it.each(['before', 'after'] as const)(
  'a process that dies %s anything it does on the way loses and doubles nothing',
  async (when) => {
    const rich = await fixture.funded('rosa');
    let kills = 0;
    for (let steps = 1; steps <= 8; steps++) {
      const { id, transactionHash } = await fixture.bridging(rich);
      for (const forward of ['FAILED', 'COMPLETE'] as const) {
        fixture.bridge.attest(forward);
        await fixture.step(id, dyingDeps(steps, when)).catch((error: unknown) => {
          if (!(error instanceof Killed)) throw error;
          kills++;
        });
        await fixture.step(id);
      }
      expect(await fixture.read(id)).toMatchObject({ status: 'SUCCESS', transactionHash });
    }
    expect(kills).toBeGreaterThan(6);
    expect(await fixture.balance(BigInt(rich.address))).toBe(100_000_000n - 8n * 5_000_000n);
  },
);

it('a process that dies after it stored a transfer, and before it sent it, leaves one that the next request finds', async () => {
  const before = await balance();
  const body = await fixture.order(owner);
  fixture.sponsor.beforeSend = () => {
    throw new Killed();
  };
  await expect(fixture.create(body)).rejects.toThrow();
  fixture.sponsor.beforeSend = () => {};
  const stored = await fixture.db.rows<{ id: string }>(sql`
    select id from solana_transfers where status = 'PENDING' order by created_at desc, id desc limit 1`);
  expect((await fixture.create(body)).id).toBe(stored[0]?.id);
  expect(await balance()).toBeGreaterThanOrEqual(before - 5_000_000n);
});
