import { toHex } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newWallet, relayer, signedPayment } from '../../../testing/chain.ts';
import { aPayment, nothing, order, PaymasterFixture, sendings } from '../../../testing/paymaster.ts';

let fixture: PaymasterFixture;

beforeAll(async () => {
  fixture = await PaymasterFixture.start();
});
afterAll(() => fixture.stop());

describe('a paymaster that does not tell the truth', () => {
  it.each(['unknown', 'of another payment'])('is not believed when it names a hash %s', async (kind) => {
    const other = (await (await aPayment(fixture)).send()).hash;
    const payment = await aPayment(fixture);
    const wrong = kind === 'unknown' ? 0xbadn : other;
    order(fixture, { alter: (result: object) => ({ ...result, transaction_hash: toHex(wrong) }) });
    expect((await payment.send()).hash).toBe(wrong);
    await fixture.finish();
    const [outcome] = fixture.outcomes;
    expect(outcome).toMatchObject({ result: 'SUCCEEDED', account: payment.wallet.address });
    expect(outcome?.hash).not.toBe(wrong);
    expect(fixture.hashes.map(({ hash }) => hash)).toEqual([wrong, outcome?.hash]);
    expect(await fixture.relay(payment.wallet)).toMatchObject({ state: 'SUCCEEDED', hash: toHex(outcome?.hash ?? 0n) });
    expect(sendings(fixture)).toBe(1);
    expect(await payment.paid()).toBe(3n);
  });

  it('is not believed when it names a transaction that came after the one that executed it', async () => {
    const [payment, next] = [await aPayment(fixture), newWallet()];
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let later = 0n;
    order(fixture, { after: released, alter: (result: object) => ({ ...result, transaction_hash: toHex(later) }) });
    const sending = payment.send();
    await expect.poll(payment.paid).toBe(3n);
    const deployment = await next.prepared(fixture.sponsor, [], { deploy: true });
    later = (await fixture.sponsor.sponsor(deployment, nothing)).hash;
    release();
    expect((await sending).hash).toBe(later);
    await fixture.finish();
    const outcome = fixture.outcomes.find(({ account }) => account === payment.wallet.address);
    expect(outcome?.result).toBe('SUCCEEDED');
    expect(outcome?.hash).not.toBe(later);
  });

  it('is not believed when it names a transaction that reverted, though another one executed it', async () => {
    const failed = await aPayment(fixture);
    await fixture.sandbox.post('/starknet/faults', { kind: 'revert', reason: 'out of luck' });
    const reverted = (await failed.send()).hash;
    const payment = await aPayment(fixture);
    order(fixture, { alter: (result: object) => ({ ...result, transaction_hash: toHex(reverted) }) });
    await payment.send();
    await fixture.finish();
    expect(fixture.outcomes).toMatchObject([{ result: 'SUCCEEDED', account: payment.wallet.address }]);
  });

  it('is asked again when nothing came of the transaction that it named', async () => {
    const payment = await aPayment(fixture);
    await fixture.sandbox.post('/starknet/faults', { kind: 'forget' });
    const { hash } = await payment.send();
    await fixture.runJobs();
    expect(sendings(fixture)).toBe(1);
    await fixture.finish();
    expect(await payment.paid()).toBe(3n);
    expect(sendings(fixture)).toBe(2);
    expect(fixture.outcomes).toMatchObject([{ result: 'SUCCEEDED' }]);
    expect(fixture.hashes.map((told) => told.hash)).toEqual([hash, fixture.outcomes[0]?.hash]);
  });

  it('is not asked again while the transaction that it named waits for its turn', async () => {
    const payment = await aPayment(fixture);
    const { address } = relayer(4);
    const ahead = signedPayment(((await fixture.chain.nonceAt(address, 'pre_confirmed')) ?? 0n) + 5n, relayer(4));
    await fixture.chain.send(ahead);
    order(fixture, { instead: { result: { tracking_id: '0x0', transaction_hash: toHex(ahead.hash) } } });
    await payment.send();
    await fixture.finish();
    expect([await payment.state(), sendings(fixture)]).toEqual(['SENT', 1]);
  });

  it('is found out when it refuses what it executes all the same', async () => {
    const payment = await aPayment(fixture);
    order(fixture, { deny: { code: 156, message: 'no' } });
    await expect(payment.send()).rejects.toMatchObject({ code: 'transaction_reverted' });
    expect(await payment.state()).toBe('VOIDED');
    await fixture.finish();
    expect(await payment.state()).toBe('SUCCEEDED');
    expect(fixture.outcomes).toMatchObject([{ result: 'VOIDED' }, { result: 'SUCCEEDED', hash: expect.anything() }]);
    expect(await payment.paid()).toBe(3n);
  });
});
