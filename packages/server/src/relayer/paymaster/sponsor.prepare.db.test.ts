import { ApiError } from '@svc/protocol';
import { type Call, chainIds, toHex } from '@svc/starknet';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newWallet, type TestWallet, transferCall } from '../../../testing/chain.ts';
import { API_KEY, PaymasterFixture } from '../../../testing/paymaster.ts';
import type { Fault } from '../../../testing/snip29-server.ts';
import { createPaymasterClient } from './client.ts';

const BUILD = 'paymaster_buildTransaction';
const calls = [transferCall('USDC', 0xb0bn, 5n), transferCall('STRK', 0xb0bn, 0n)];
const HOUR = 3_600n;

let fixture: PaymasterFixture;
let wallet: TestWallet;

beforeAll(async () => {
  fixture = await PaymasterFixture.start();
  wallet = await fixture.wallet();
});
afterAll(() => fixture.stop());
beforeEach(() => {
  fixture.server.calls.length = 0;
});

const prepare = (list: readonly Call[] = calls) =>
  fixture.sponsor.prepare({
    environment: 'development',
    account: wallet.address,
    deployment: undefined,
    calls: list,
  });

interface Built {
  typed_data: {
    domain: Record<string, unknown>;
    message: Record<string, unknown> & { Calls: { To: string; Selector: string; Calldata: string[] }[] };
  };
}

/** The paymaster's answer, with its typed data changed in place. */
function change(by: (typedData: Built['typed_data']) => void): NonNullable<Fault['alter']> {
  return (result: Built) => {
    by(result.typed_data);
    return result;
  };
}

async function complaint(fault: Omit<Fault, 'method'>): Promise<ApiError> {
  fixture.server.order({ method: BUILD, ...fault });
  const error = await prepare().then(
    (execution) => expect.fail(`An owner would have been asked to sign ${execution.nonce}`),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
}

describe('what a paymaster builds', () => {
  it('is exactly the calls that were asked for, within an hour', async () => {
    const { executeAfter, executeBefore, ...execution } = await prepare();
    const now = BigInt(Math.floor(Date.now() / 1_000));
    expect(execution.calls).toEqual(calls);
    expect(executeBefore - executeAfter).toBe(HOUR);
    expect(executeAfter < now && now < executeBefore).toBe(true);
    expect((await prepare()).nonce).not.toBe(execution.nonce);
  });

  it('is not asked for where there is nothing to call', async () => {
    const alone = await prepare([]);
    expect(alone).toMatchObject({ calls: [], executeBefore: alone.executeAfter + HOUR });
    expect(fixture.server.calls).toEqual([]);
  });

  it('is asked for with the deployment of an account that does not stand yet', async () => {
    const { address: account, deployment } = newWallet();
    const execution = await fixture.sponsor.prepare({ environment: 'development', account, deployment, calls });
    expect(execution.calls).toEqual(calls);
  });

  it.each([
    ['another recipient', change(({ message }) => message.Calls[0]?.Calldata.splice(0, 1, '0xbad'))],
    ['another amount', change(({ message }) => message.Calls[0]?.Calldata.splice(1, 1, '0x6'))],
    ['one felt more', change(({ message }) => message.Calls[0]?.Calldata.push('0x0'))],
    ['another contract', change(({ message }) => Object.assign(message.Calls[0] ?? {}, { To: '0x1' }))],
    ['another function', change(({ message }) => Object.assign(message.Calls[0] ?? {}, { Selector: '0x1' }))],
    ['a call more', change(({ message }) => message.Calls.push({ To: '0x1', Selector: '0x2', Calldata: [] }))],
    ['a call less', change(({ message }) => message.Calls.pop())],
    ['the calls in another order', change(({ message }) => message.Calls.reverse())],
    ['no calls', change(({ message }) => message.Calls.splice(0))],
  ])('is not shown to anyone with %s', async (_name, alter) => {
    const { code, cause } = await complaint({ alter });
    expect(code).toBe('chain_unavailable');
    expect(String(cause)).toContain('calls that were not asked for');
  });

  it.each([
    [
      'for another chain',
      'another chain',
      change(({ domain }) => Object.assign(domain, { chainId: toHex(chainIds.SN_MAIN) })),
    ],
    ['valid from long ago', 'longer', change(({ message }) => Object.assign(message, { 'Execute After': '0x1' }))],
    ['valid for days', 'longer', change(({ message }) => Object.assign(message, { 'Execute Before': '0xffffffffff' }))],
    ['of another kind', 'not an outside execution', change((data) => Object.assign(data, { primaryType: 'Permit' }))],
    ['with a field more', 'not an outside execution', change(({ message }) => Object.assign(message, { Fee: '0x1' }))],
    ['in no form at all', 'not an outside execution', () => ({ typed_data: 'sign this' })],
    ['that is not there', 'not an outside execution', () => null],
  ])('is not shown to anyone when it is typed data %s', async (_name, why, alter) => {
    const { code, cause } = await complaint({ alter });
    expect(code).toBe('chain_unavailable');
    expect(String(cause)).toContain(why);
  });

  it.each([
    ['an error of its own', { code: 163, message: 'ill' }],
    ['HTTP 503', { status: 503 }],
    ['a closed connection', 'hang up'],
  ] as const)('is missing when the answer is %s', async (_name, instead) => {
    const { code, message } = await complaint({ instead });
    expect(code).toBe('chain_unavailable');
    expect(message).toContain('Try again');
  });

  it('is missing when it takes too long', async () => {
    const { url } = fixture.server;
    const sponsor = fixture.sponsorWith({ paymaster: createPaymasterClient({ url, apiKey: API_KEY, timeoutMs: 20 }) });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    fixture.server.order({ method: BUILD, after: released });
    const late = sponsor.prepare({ environment: 'development', account: wallet.address, deployment: undefined, calls });
    await expect(late).rejects.toMatchObject({ code: 'chain_unavailable' });
    release();
  });

  it('tells that a transaction would revert, and why, before anyone signs', async () => {
    const poor = prepare([transferCall('USDC', 0xb0bn, 5_000n)]);
    await expect(poor).rejects.toMatchObject({
      code: 'transaction_reverted',
      message: expect.stringContaining('insufficient'),
    });
  });
});
