import { toHex } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../../../testing/paymaster.ts';
import { aPayment, finish, nothing, order, sendings } from '../../../testing/paymaster-payments.ts';
import { relayer, signedPayment } from '../../../testing/starknet.ts';
import { newWallet } from '../../../testing/test-wallet.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.stop());

describe('a paymaster that does not tell the truth', () => {
  it.each(['unknown', 'of another payment'])('is not believed when it names a hash %s', async (kind) => {
    const other = (await (await aPayment(harness)).send()).hash;
    const payment = await aPayment(harness);
    const wrong = kind === 'unknown' ? 0xbadn : other;
    order(harness, { alter: (result: object) => ({ ...result, transaction_hash: toHex(wrong) }) });
    expect((await payment.send()).hash).toBe(wrong);
    await finish(harness);
    const [outcome] = harness.outcomes;
    expect(outcome).toMatchObject({ result: 'SUCCEEDED', account: payment.wallet.address });
    expect(outcome?.hash).not.toBe(wrong);
    expect(harness.hashes.map(({ hash }) => hash)).toEqual([wrong, outcome?.hash]);
    expect(await harness.relay(payment.wallet)).toMatchObject({ state: 'SUCCEEDED', hash: toHex(outcome?.hash ?? 0n) });
    expect(sendings(harness)).toBe(1);
    expect(await payment.paid()).toBe(3n);
  });

  it('is not believed when it names a transaction that came after the one that executed it', async () => {
    const [payment, next] = [await aPayment(harness), newWallet()];
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let later = 0n;
    order(harness, { after: released, alter: (result: object) => ({ ...result, transaction_hash: toHex(later) }) });
    const sending = payment.send();
    await expect.poll(payment.paid, { timeout: 20_000 }).toBe(3n);
    const deployment = await next.prepared(harness.sponsor, [], { deploy: true });
    later = (await harness.sponsor.sponsor(deployment, nothing)).hash;
    release();
    expect((await sending).hash).toBe(later);
    await finish(harness);
    const outcome = harness.outcomes.find(({ account }) => account === payment.wallet.address);
    expect(outcome?.result).toBe('SUCCEEDED');
    expect(outcome?.hash).not.toBe(later);
  });

  it('is not believed when it names a transaction that reverted, though another one executed it', async () => {
    const failed = await aPayment(harness);
    await harness.control('starknet/faults', { kind: 'revert', reason: 'out of luck' });
    const reverted = (await failed.send()).hash;
    const payment = await aPayment(harness);
    order(harness, { alter: (result: object) => ({ ...result, transaction_hash: toHex(reverted) }) });
    await payment.send();
    await finish(harness);
    expect(harness.outcomes).toMatchObject([{ result: 'SUCCEEDED', account: payment.wallet.address }]);
  });

  it('is asked again when nothing came of the transaction that it named', async () => {
    const payment = await aPayment(harness);
    await harness.control('starknet/faults', { kind: 'forget' });
    const { hash } = await payment.send();
    await harness.runJobs();
    expect(sendings(harness)).toBe(1);
    await finish(harness);
    expect(await payment.paid()).toBe(3n);
    expect(sendings(harness)).toBe(2);
    expect(harness.outcomes).toMatchObject([{ result: 'SUCCEEDED' }]);
    expect(harness.hashes.map((told) => told.hash)).toEqual([hash, harness.outcomes[0]?.hash]);
  });

  it('is not asked again while the transaction that it named waits for its turn', async () => {
    const payment = await aPayment(harness);
    const { address } = relayer(4);
    const ahead = signedPayment(((await harness.chain.nonceAt(address, 'pre_confirmed')) ?? 0n) + 5n, relayer(4));
    await harness.chain.send(ahead);
    order(harness, { instead: { result: { tracking_id: '0x0', transaction_hash: toHex(ahead.hash) } } });
    await payment.send();
    await finish(harness);
    expect([await payment.state(), sendings(harness)]).toEqual(['SENT', 1]);
  });

  it('is found out when it refuses what it executes all the same', async () => {
    const payment = await aPayment(harness);
    order(harness, { deny: { code: 156, message: 'no' } });
    await expect(payment.send()).rejects.toMatchObject({ code: 'transaction_reverted' });
    expect(await payment.state()).toBe('VOIDED');
    await finish(harness);
    expect(await payment.state()).toBe('SUCCEEDED');
    expect(harness.outcomes).toMatchObject([{ result: 'VOIDED' }, { result: 'SUCCEEDED', hash: expect.anything() }]);
    expect(await payment.paid()).toBe(3n);
  });
});
