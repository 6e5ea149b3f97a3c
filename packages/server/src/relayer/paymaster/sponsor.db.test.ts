import { ApiError } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { newWallet, relayer, type TestWallet, transferCall } from '../../../testing/chain.ts';
import { API_KEY, PaymasterFixture } from '../../../testing/paymaster.ts';
import { startSnip29 } from '../../../testing/snip29-server.ts';
import type { Sponsorship } from '../relay.ts';
import { createPaymasterClient } from './client.ts';

const BOB = 0xb0bn;
const EXECUTE = 'paymaster_executeTransaction';
const BUILD = 'paymaster_buildTransaction';

let fixture: PaymasterFixture;

beforeAll(async () => {
  fixture = await PaymasterFixture.start();
});
afterAll(() => fixture.stop());

const pay = (amount: bigint) => [transferCall('USDC', BOB, amount)];
const nothing = async () => {};

async function refusalOf(attempt: Promise<unknown>): Promise<ApiError> {
  const error = await attempt.then(
    () => expect.fail('It should have been refused.'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw error;
  return error;
}

describe('a paymaster pays', () => {
  it('for calls: stored first, then executed, followed to its end and told with its receipt', async () => {
    const wallet = await fixture.wallet();
    const [before, request] = [await fixture.balance(BOB), await wallet.prepared(fixture.sponsor, pay(5n))];
    const store = vi.fn(async () => {
      expect(fixture.server.calls).toEqual([BUILD]);
    });
    const { id, hash } = await fixture.sponsor.sponsor(request, store);
    expect(store).toHaveBeenCalledExactlyOnceWith(expect.anything(), { id, hash: undefined });
    expect(await fixture.relay(wallet)).toMatchObject({ id, state: 'SENT', hash: toHex(hash) });
    expect(fixture.hashes).toEqual([{ relayId: id, hash }]);
    expect(fixture.outcomes).toEqual([]);
    await fixture.runJobs();
    expect(await fixture.db.rows(sql`select id from jobs`)).toEqual([]);
    expect(await fixture.balance(BOB)).toBe(before + 5n);
    expect(await fixture.relay(wallet)).toMatchObject({ state: 'SUCCEEDED', block_number: expect.anything() });
    const told = { relayId: id, kind: 'calls', environment: 'development', account: wallet.address, hash };
    expect(fixture.outcomes).toMatchObject([{ ...told, result: 'SUCCEEDED', receipt: { transactionHash: hash } }]);
    expect(fixture.outcomes[0]?.confirmedAt).toBeInstanceOf(Date);
    expect(await fixture.db.rows(sql`select hash, kind from relay_attempts where relay_id = ${id}`)).toEqual([
      { hash: toHex(hash), kind: 'FIRST' },
    ]);
  });

  it('for an account without calls, which is only deployed', async () => {
    await fixture.wallet();
    const wallet = newWallet();
    const request = await wallet.prepared(fixture.sponsor, [], { deploy: true });
    expect(request.execution.calls).toEqual([]);
    await fixture.sponsor.sponsor(request, nothing);
    expect(fixture.server.calls).toEqual([EXECUTE]);
    await fixture.runJobs();
    expect(await fixture.chain.classHashAt(wallet.address)).toBe(wallet.deployment.classHash);
    expect(fixture.outcomes).toMatchObject([{ kind: 'wallet', account: wallet.address, result: 'SUCCEEDED' }]);
  });

  it('for an account that stands already and has nothing to call', async () => {
    const wallet = await fixture.wallet();
    const { hash } = await fixture.sponsor.sponsor(await wallet.prepared(fixture.sponsor, []), nothing);
    await fixture.runJobs();
    expect(fixture.outcomes).toMatchObject([{ result: 'SUCCEEDED', hash }]);
  });

  it('for an account and its first calls in one transaction', async () => {
    await fixture.wallet();
    const wallet = newWallet();
    await fixture.sandbox.fund(wallet.address);
    const before = await fixture.balance(BOB);
    const { hash } = await fixture.sponsor.sponsor(
      await wallet.prepared(fixture.sponsor, pay(2n), { deploy: true }),
      nothing,
    );
    await fixture.runJobs();
    expect(await fixture.balance(BOB)).toBe(before + 2n);
    expect(await fixture.chain.classHashAt(wallet.address)).toBe(wallet.deployment.classHash);
    expect(fixture.outcomes).toMatchObject([{ result: 'SUCCEEDED', hash }]);
  });

  it('once, however often and from however many sides the same execution is sent', async () => {
    const wallet = await fixture.wallet();
    const before = await fixture.balance(BOB);
    const request = await wallet.prepared(fixture.sponsor, pay(1n));
    const store = vi.fn(nothing);
    const ask = () => fixture.sponsor.sponsor(request, store);
    const answers = await Promise.all(Array.from({ length: 8 }, ask));
    await fixture.runJobs();
    expect(new Set([...answers, await ask()].map(({ hash }) => hash)).size).toBe(1);
    expect(store).toHaveBeenCalledTimes(1);
    expect(fixture.server.calls.filter((method) => method === EXECUTE)).toHaveLength(1);
    expect(await fixture.balance(BOB)).toBe(before + 1n);
  });

  it('for no other message with the same nonce', async () => {
    const wallet = await fixture.wallet();
    const request = await wallet.prepared(fixture.sponsor, pay(1n));
    await fixture.sponsor.sponsor(request, nothing);
    const other = wallet.sponsorshipOf({ ...request.execution, calls: pay(2n) });
    expect((await refusalOf(fixture.sponsor.sponsor(other, nothing))).code).toBe('invalid_typed_data');
  });

  it('through a contract of its own, when it builds typed data for its own caller only', async () => {
    const wallet = await fixture.wallet();
    const account = relayer(3);
    const options = { rpcUrl: fixture.sandbox.rpcUrl, apiKey: API_KEY, account, caller: account.address };
    const server = await startSnip29(options);
    const sponsor = fixture.sponsorWith({ paymaster: createPaymasterClient({ url: server.url, apiKey: API_KEY }) });
    const request = await wallet.prepared(sponsor, pay(1n));
    expect(request.execution.caller).toBe(account.address);
    await sponsor.sponsor(request, nothing).finally(server.stop);
    await fixture.runJobs();
    expect(fixture.outcomes).toMatchObject([{ result: 'SUCCEEDED' }]);
  });
});

describe('a paymaster refuses', () => {
  async function refused(wallet: TestWallet, request: Sponsorship): Promise<ApiError> {
    const error = await refusalOf(fixture.sponsor.sponsor(request, nothing));
    expect(await fixture.relay(wallet)).toMatchObject({ state: 'VOIDED', hash: null });
    expect(fixture.outcomes).toMatchObject([{ account: wallet.address, result: 'VOIDED', hash: undefined }]);
    return error;
  }

  it('a signature that is not the owner’s', async () => {
    const wallet = await fixture.wallet();
    const request = { ...(await wallet.prepared(fixture.sponsor, pay(1n))), signature: [1n, 2n] };
    expect((await refused(wallet, request)).code).toBe('invalid_signature');
  });

  it('what would revert, with the chain’s reason', async () => {
    const wallet = await fixture.wallet();
    const { execution } = await wallet.prepared(fixture.sponsor, pay(1n));
    const error = await refused(wallet, wallet.sponsorshipOf({ ...execution, calls: pay(5_000n) }));
    expect(error).toMatchObject({ code: 'transaction_reverted', message: expect.stringContaining('insufficient') });
  });

  it('what has expired', async () => {
    const wallet = await fixture.wallet();
    const { execution } = await wallet.prepared(fixture.sponsor, pay(1n));
    const error = await refused(
      wallet,
      wallet.sponsorshipOf({ ...execution, executeAfter: 1n, executeBefore: 1_000n }),
    );
    expect(error.code).toBe('typed_data_expired');
  });

  it.each([150, 151, 154, 155, 158, 159, 160, -32602])(
    'for a reason of its own (%i), which the log is told',
    async (code) => {
      const wallet = await fixture.wallet();
      fixture.server.order({ method: EXECUTE, instead: { code, message: 'not today' } });
      const error = await refused(wallet, await wallet.prepared(fixture.sponsor, pay(1n)));
      expect(error).toMatchObject({
        code: 'chain_unavailable',
        cause: { message: expect.stringContaining('not today') },
      });
      expect(error.message).not.toContain('not today');
    },
  );

  it('and the same execution is then not sent again: it has to be signed anew', async () => {
    const wallet = await fixture.wallet();
    const request = await wallet.prepared(fixture.sponsor, pay(1n));
    fixture.server.order({ method: EXECUTE, instead: { code: 155, message: 'no' } });
    await refused(wallet, request);
    const again = await refusalOf(fixture.sponsor.sponsor(request, nothing));
    expect(again).toMatchObject({ code: 'typed_data_expired', message: expect.stringContaining('sign it anew') });
    await fixture.ageRelays();
    await fixture.runJobs();
    expect(fixture.server.calls.filter((method) => method === EXECUTE)).toHaveLength(1);
  });

  it('without its API key; with it, what was stored is executed all the same', async () => {
    const wallet = await fixture.wallet();
    const request = await wallet.prepared(fixture.sponsor, pay(1n));
    const url = fixture.server.url;
    for (const apiKey of ['', 'wrong']) {
      const sponsor = fixture.sponsorWith({ paymaster: createPaymasterClient({ url, apiKey }) });
      const prepared = await refusalOf(wallet.prepared(sponsor, pay(1n)));
      expect(prepared).toMatchObject({
        code: 'chain_unavailable',
        cause: { message: expect.stringContaining('api-key') },
      });
    }
    const sponsor = fixture.sponsorWith({ paymaster: createPaymasterClient({ url, apiKey: 'wrong' }) });
    expect((await refusalOf(sponsor.sponsor(request, nothing))).code).toBe('chain_unavailable');
    expect(await fixture.relay(wallet)).toMatchObject({ state: 'STORED' });
    await fixture.ageRelays();
    await fixture.runJobs();
    await fixture.runJobs();
    expect(fixture.outcomes).toMatchObject([{ result: 'SUCCEEDED' }]);
  });
});
