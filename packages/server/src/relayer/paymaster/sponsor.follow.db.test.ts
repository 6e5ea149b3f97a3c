import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newWallet } from '../../../testing/chain.ts';
import { contextOfJob } from '../../../testing/jobs.ts';
import {
  API_KEY,
  aPayment,
  expectUnavailable,
  nothing,
  order,
  PaymasterFixture,
  pay,
  sendings,
} from '../../../testing/paymaster.ts';
import { ChainUnavailableError } from '../../chains/node-fetch.ts';
import { padAddress } from '../../chains/starknet/chain.ts';
import type { Sponsorship } from '../relay.ts';
import { reopenRelays } from '../relay-store.ts';
import { createPaymasterClient, type ExecuteRequest } from './client.ts';
import { paymasterJobs } from './sponsor.ts';

let fixture: PaymasterFixture;

beforeAll(async () => {
  fixture = await PaymasterFixture.start();
});
afterAll(() => fixture.stop());

describe('a paymaster that gives no answer', () => {
  it.each([
    ['HTTP 503', { status: 503 }],
    ['a closed connection', 'hang up'],
    ['an error that says nothing', { code: 163, message: 'ill' }],
  ] as const)('and did nothing (%s) is asked again, and it is executed once', async (_name, instead) => {
    const payment = await aPayment(fixture);
    order(fixture, { instead });
    await expectUnavailable(payment.send());
    expect(await payment.state()).toBe('STORED');
    expect(fixture.outcomes).toEqual([]);
    await fixture.finish();
    expect(await payment.paid()).toBe(3n);
    expect(fixture.outcomes).toMatchObject([{ result: 'SUCCEEDED', hash: fixture.hashes[0]?.hash }]);
    expect(sendings(fixture)).toBe(2);
  });

  it('is not believed when it then refuses: that is also what a success would look like', async () => {
    const payment = await aPayment(fixture);
    order(fixture, { instead: 'hang up' });
    order(fixture, { instead: { code: 156, message: 'duplicated nonce' } });
    await expectUnavailable(payment.send());
    await fixture.ageRelays();
    await fixture.runJobs();
    expect([await payment.state(), sendings(fixture)]).toEqual(['STORED', 2]);
    expect(fixture.outcomes).toEqual([]);
    await fixture.finish();
    expect(fixture.outcomes).toMatchObject([{ result: 'SUCCEEDED' }]);
    expect(await payment.paid()).toBe(3n);
  });

  it('but executed it in the block that is still open is not asked again', async () => {
    const payment = await aPayment(fixture);
    await fixture.sandbox.post('/starknet/block-time', { seconds: 3_600 });
    try {
      order(fixture, { loseAnswer: true });
      await expectUnavailable(payment.send());
      await fixture.finish();
      expect([await payment.state(), sendings(fixture)]).toEqual(['STORED', 1]);
      await fixture.sandbox.post('/starknet/mine', { blocks: 1 });
      await fixture.finish();
      expect([await payment.state(), sendings(fixture)]).toEqual(['SUCCEEDED', 1]);
    } finally {
      await fixture.sandbox.post('/starknet/block-time', { seconds: 0 });
    }
  });

  it('is not asked again before it has had its time', async () => {
    const payment = await aPayment(fixture);
    order(fixture, { instead: 'hang up' });
    await expectUnavailable(payment.send());
    await fixture.runJobs();
    expect(sendings(fixture)).toBe(1);
    await fixture.finish();
    expect(await payment.paid()).toBe(3n);
  });

  it('but executed it is not asked again: the transaction is found on the chain', async () => {
    const payment = await aPayment(fixture);
    order(fixture, { loseAnswer: true });
    await expectUnavailable(payment.send());
    expect(await payment.paid()).toBe(3n);
    await fixture.finish();
    expect(sendings(fixture)).toBe(1);
    const [outcome] = fixture.outcomes;
    expect(outcome).toMatchObject({ result: 'SUCCEEDED', account: payment.wallet.address });
    expect(outcome?.receipt?.events.some(({ keys }) => keys.includes(payment.wallet.address))).toBe(true);
    expect(fixture.hashes).toEqual([{ relayId: outcome?.relayId, hash: outcome?.hash }]);
    expect(await payment.send()).toEqual({ id: outcome?.relayId, hash: outcome?.hash });
  });

  it('but deployed an account, alone or with its calls, is found out too', async () => {
    for (const calls of [[], pay(1n)]) {
      await fixture.wallet();
      const wallet = newWallet();
      await fixture.sandbox.fund(wallet.address);
      const request = await wallet.prepared(fixture.sponsor, calls, { deploy: true });
      order(fixture, { loseAnswer: true });
      await expectUnavailable(fixture.sponsor.sponsor(request, nothing));
      await fixture.finish();
      expect(fixture.outcomes).toMatchObject([{ result: 'SUCCEEDED', account: wallet.address, kind: 'wallet' }]);
      expect(sendings(fixture)).toBe(1);
    }
  });

  it('in time may execute it later, which is found out', async () => {
    const payment = await aPayment(fixture);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    order(fixture, { after: released });
    const paymaster = createPaymasterClient({ url: fixture.server.url, apiKey: API_KEY, timeoutMs: 3_000 });
    await expectUnavailable(fixture.sponsorWith({ paymaster }).sponsor(payment.request, nothing));
    release();
    await expect.poll(payment.paid).toBe(3n);
    await fixture.finish();
    expect(fixture.outcomes).toMatchObject([{ result: 'SUCCEEDED' }]);
    expect(sendings(fixture)).toBe(1);
  });

  it('until the window is over has not executed it and never will', async () => {
    const payment = await aPayment(fixture);
    order(fixture, { instead: 'hang up' });
    await expectUnavailable(payment.send());
    await fixture.sandbox.post('/starknet/time', { increaseSeconds: 7_200 });
    try {
      await fixture.ageRelays();
      await fixture.runJobs();
      expect(await payment.state()).toBe('VOIDED');
      expect(fixture.outcomes).toMatchObject([{ result: 'VOIDED', hash: undefined, receipt: undefined }]);
      expect(sendings(fixture)).toBe(1);
      await expect(payment.send()).rejects.toMatchObject({ code: 'typed_data_expired' });
    } finally {
      await fixture.sandbox.post('/starknet/time', { offsetSeconds: 0 });
    }
  });
});

describe('a process that ends', () => {
  it('between storing and sending leaves a job that sends', async () => {
    const payment = await aPayment(fixture);
    const crash = async () => {
      throw new Error('killed');
    };
    const paymaster = { build: crash, execute: crash };
    const dying = fixture.sponsorWith({ paymaster });
    await expect(dying.sponsor(payment.request, nothing)).rejects.toThrow('killed');
    expect([await payment.state(), sendings(fixture)]).toEqual(['STORED', 0]);
    await fixture.finish();
    expect(fixture.outcomes).toMatchObject([{ result: 'SUCCEEDED' }]);
    expect(await payment.paid()).toBe(3n);
  });

  it('between sending and storing the hash loses nothing: the chain knows it', async () => {
    const payment = await aPayment(fixture);
    const onHash = async () => {
      throw new Error('killed');
    };
    await expect(fixture.sponsorWith({ onHash }).sponsor(payment.request, nothing)).rejects.toThrow('killed');
    expect(await payment.state()).toBe('STORED');
    await fixture.finish();
    expect(fixture.outcomes).toMatchObject([{ result: 'SUCCEEDED' }]);
    expect(sendings(fixture)).toBe(1);
  });

  it('while it stores the outcome tells it later, once, even when its job is lost', async () => {
    const payment = await aPayment(fixture);
    await payment.send();
    const crash = async () => {
      throw new Error('killed');
    };
    const sponsored = { wallet: crash, upgrade: crash, calls: crash, sweep: crash };
    const treasuries = { treasury: crash, 'treasury-deployment': crash, 'solana-transfer': crash };
    const outcomes = { ...sponsored, ...treasuries, payout: crash, burn: crash, refund: crash };
    await expect(fixture.runJobs({ outcomes })).rejects.toThrow('killed');
    expect(await payment.state()).toBe('SENT');
    await fixture.ageRelays();
    await fixture.sweep();
    await fixture.sweep();
    expect(fixture.outcomes).toMatchObject([{ result: 'SUCCEEDED' }]);
  });
});

describe('the chain', () => {
  it('is waited for: a transaction in the open block has not ended', async () => {
    const payment = await aPayment(fixture);
    await fixture.sandbox.post('/starknet/block-time', { seconds: 3_600 });
    try {
      await payment.send();
      await fixture.ageRelays();
      await fixture.runJobs();
      expect([await payment.state(), sendings(fixture)]).toEqual(['SENT', 1]);
      await fixture.sandbox.post('/starknet/mine', { blocks: 1 });
      await fixture.runJobs();
      expect(await payment.state()).toBe('SUCCEEDED');
    } finally {
      await fixture.sandbox.post('/starknet/block-time', { seconds: 0 });
    }
  });

  it('has the last word on a transaction that reverts', async () => {
    const payment = await aPayment(fixture);
    await fixture.sandbox.post('/starknet/faults', { kind: 'revert', reason: 'out of luck' });
    const { hash } = await payment.send();
    await fixture.runJobs();
    expect(fixture.outcomes).toMatchObject([
      { result: 'REVERTED', hash, revertReason: expect.stringContaining('out of luck') },
    ]);
    expect(await payment.state()).toBe('REVERTED');
    // Anyone may take the signature from the chain and send it once more.
    await bySomebodyElse(payment.request);
    await fixture.runJobs();
    expect(fixture.outcomes).toMatchObject([{ result: 'REVERTED' }, { result: 'SUCCEEDED' }]);
    expect(await payment.paid()).toBe(3n);
  });

  it('may take a transaction back: it is sent again, and ends once more', async () => {
    const payment = await aPayment(fixture);
    await payment.send();
    await fixture.runJobs();
    expect(await payment.state()).toBe('SUCCEEDED');
    const head = await fixture.chain.blockNumber();
    await fixture.sandbox.post('/starknet/reorg', { blocks: 1, transactions: 'drop' });
    expect(await payment.paid()).toBe(0n);
    await fixture.db.tx((tx) => reopenRelays(tx, fixture.chain.chainId, head - 1));
    await fixture.ageRelays();
    await fixture.sweep();
    await fixture.runJobs();
    expect(fixture.outcomes.map(({ result }) => result)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    expect(await payment.paid()).toBe(3n);
  });

  it('is asked by jobs that count for the organisation of the wallet, also those of the sweep', async () => {
    const payment = await aPayment(fixture);
    await payment.send();
    const tenants = () => fixture.db.rows(sql`select tenant from jobs`);
    const { organizationId: tenant } = payment.request.user;
    expect(await tenants()).toEqual([{ tenant }]);
    await fixture.db.run(sql`delete from jobs`);
    await fixture.ageRelays();
    await paymasterJobs(fixture.deps).handlers['sweep-paymaster-relays']?.({} as never, contextOfJob());
    expect(await tenants()).toEqual([{ tenant }]);
  });

  it('is asked again when it does not answer', async () => {
    const payment = await aPayment(fixture);
    await payment.send();
    await fixture.sandbox.post('/starknet/faults', { kind: 'unavailable', count: 1 });
    await expect(fixture.runJobs()).rejects.toThrow(ChainUnavailableError);
    expect(await payment.state()).toBe('SENT');
    await fixture.finish();
    await fixture.sweep();
    expect(await payment.state()).toBe('SUCCEEDED');
  });

  it('is not asked for ever: after a week, what cannot be told is left to the operator', async () => {
    const payment = await aPayment(fixture);
    order(fixture, { instead: 'hang up' });
    await expectUnavailable(payment.send());
    await fixture.db.run(sql`update relays set created_at = now() - interval '8 days'`);
    await fixture.runJobs();
    await fixture.ageRelays();
    await fixture.sweep();
    expect(await fixture.db.rows(sql`select id from jobs`)).toEqual([]);
    expect(sendings(fixture)).toBe(1);
  });

  async function bySomebodyElse({ account }: Sponsorship): Promise<void> {
    const row = await fixture.db.one<{ request: ExecuteRequest }>(sql`
      select content -> 'request' as request from relays where wallet = ${padAddress(account)}`);
    if (!row) throw new Error('The wallet has no relay.');
    expect(await fixture.deps.paymaster.execute(row.request)).toMatchObject({ outcome: 'answered' });
  }
});
