import type { Client } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { runRedeem, UnclearRedeemError } from './run-redeem.ts';
import type { SavedRedeem } from './saved-redeem.ts';

const HOUR_MS = 3_600_000;
const saved: SavedRedeem = {
  code: 'NAVIDAD',
  chain: 'solana',
  walletAddress: '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
  amount: '5',
  token: 'USDC',
  idempotencyKey: 'key-1',
  beganAtMs: 0,
};
const started = {
  redeemId: 'rdm_1',
  status: 'BRIDGING',
  destinationChain: 'solana',
  cctpBurnTxHash: '0xb0',
  estimatedSeconds: 24,
};
const state = (status: string, hash: string | null = null) => ({
  ...{ id: 'rdm_1', status, destinationChain: 'solana', cctpBurnTxHash: '0xb0', receiveChainTxHash: hash, amount: 5 },
});
type Scripted = object | number | 'lost';

/** A service that answers as scripted, and a clock that only `sleep` moves. */
function setUp(script: Scripted[], nowMs = 0) {
  const requests: { method: string; key: string | null }[] = [];
  const slept: number[] = [];
  const client: Client = {
    ...{ baseUrl: 'https://svc.test/v1', publicKey: '', secretKey: undefined, bearerToken: undefined, nodeUrls: [] },
    ...{
      maxRetries: 0,
      timeoutMs: 1_000,
      trust: { chainId: undefined, classHashes: [], tokens: [], paymentAddress: undefined, privatePool: undefined },
      allowWeakEncryptKeys: false,
    },
    fetch: async (_, init) => {
      requests.push({ method: init?.method ?? 'GET', key: new Headers(init?.headers).get('idempotency-key') });
      const answer = script.shift();
      if (answer === undefined || answer === 'lost') throw new TypeError('offline');
      if (typeof answer !== 'number') return Response.json(answer);
      const error = answer === 429 ? 'rate_limited' : answer === 500 ? 'internal_error' : 'gift_expired';
      return Response.json(
        { error, message: '' },
        { status: answer, headers: answer === 429 ? { 'retry-after': '30' } : {} },
      );
    },
    runtime: {
      now: () => nowMs,
      sleep: async (ms) => {
        slept.push(ms);
        nowMs += ms;
      },
      randomBytes: (count) => new Uint8Array(count),
    },
  };
  const steps: SavedRedeem[] = [];
  const run = (redeem: SavedRedeem = saved) =>
    runRedeem(redeem, { client, signal: new AbortController().signal, onStep: (step) => steps.push(step) });
  return { requests, slept, steps, run };
}

describe('a redeem', () => {
  it('is requested once and followed to its end', async () => {
    const { requests, steps, run } = setUp([started, state('BRIDGING'), state('ATTESTED'), state('SUCCESS', 'sig')]);
    await run();
    expect(requests.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'GET']);
    expect(steps.map(({ status }) => status)).toEqual(['BRIDGING', 'BRIDGING', 'ATTESTED', 'SUCCESS']);
    expect(steps.at(-1)).toMatchObject({ redeemId: 'rdm_1', burnHash: '0xb0', hash: 'sig', estimatedSeconds: 24 });
  });

  it('carries its idempotency key through every attempt', async () => {
    const { requests, run } = setUp(['lost', 500, started, state('SUCCESS', 'sig')]);
    await run();
    expect(requests.slice(0, 3)).toEqual(Array(3).fill({ method: 'POST', key: 'key-1' }));
  });

  it('stops after four attempts with the error', async () => {
    const { requests, run } = setUp([]);
    await expect(run()).rejects.toMatchObject({ code: 'connection_failed' });
    expect(requests).toHaveLength(4);
  });

  it('that is refused is not requested again', async () => {
    const { requests, run } = setUp([400]);
    await expect(run()).rejects.toMatchObject({ code: 'gift_expired' });
    expect(requests).toHaveLength(1);
  });

  it('that the service knows is followed, not requested', async () => {
    const { requests, slept, run } = setUp([state('SUCCESS', 'sig')]);
    await run({ ...saved, redeemId: 'rdm_1', status: 'BRIDGING' });
    expect(requests.map(({ method }) => method)).toEqual(['GET']);
    expect(slept).toEqual([]);
  });

  it('that failed on the bridge is read again: it may have been completed', async () => {
    const { steps, run } = setUp([state('ATTESTED'), state('SUCCESS', 'sig')]);
    await run({ ...saved, redeemId: 'rdm_1', status: 'FAILED', burnHash: '0xb0' });
    expect(steps.at(-1)?.status).toBe('SUCCESS');
  });

  it('waits as long as the service asks while it is followed', async () => {
    const { slept, run } = setUp([started, 429, state('SUCCESS', 'sig')]);
    await run();
    expect(slept).toContain(30_000);
  });

  it('is polled less often when it takes long', async () => {
    const { slept, run } = setUp([started, ...Array(70).fill(state('BRIDGING')), state('SUCCESS', 'sig')]);
    await run();
    expect(slept[0]).toBe(2_000);
    expect(slept.at(-1)).toBe(15_000);
  });

  it('is never requested with an expired idempotency key', async () => {
    const { requests, run } = setUp([started], 24 * HOUR_MS);
    await expect(run()).rejects.toBeInstanceOf(UnclearRedeemError);
    expect(requests).toEqual([]);
  });
});
