import { ApiError, type ErrorCode } from '@svc/protocol';
import { describe, expect, it, vi } from 'vitest';
import { useDatabase } from '../../testing/database.ts';
import type { Authenticate, Caller } from '../http/call.ts';
import { RateLimiter } from '../http/limits.ts';
import { limitFailures } from './authenticate.ts';
import { UnguessedTokenError } from './user-tokens.ts';

const database = useDatabase();
const LIMIT = 5;
const RIGHT = 'Bearer right';
const caller = { keyId: 'key_1' } as Caller;
const refused = { code: 'rate_limited', status: 429 };

let addresses = 0;
const newAddress = () => `203.0.113.${addresses++}`;

function start(code: ErrorCode = 'invalid_api_key') {
  const authenticate = vi.fn<Authenticate>(async (_, { headers }) => {
    if (headers.authorization === RIGHT) return caller;
    throw new ApiError(code);
  });
  const log = { warn: vi.fn() };
  const limited = limitFailures(authenticate, new RateLimiter(database.db(), LIMIT), log);
  const socket = {};
  const ask = (ip: string, authorization: string) =>
    limited({ access: 'both', method: 'GET' }, { headers: { authorization }, ip, socket });
  const fail = async (ip: string, times: number) => {
    for (let i = 0; i < times; i++) await expect(ask(ip, `Bearer wrong ${i}`)).rejects.toMatchObject({ code });
  };
  return { authenticate, ask, fail, log };
}

describe('wrong credentials', () => {
  it.each(['invalid_api_key', 'invalid_token'] as const)('are limited per address: %s', async (code) => {
    const { ask, fail, log } = start(code);
    const ip = newAddress();
    await fail(ip, LIMIT);
    for (let i = 0; i < 3; i++) await expect(ask(ip, `Bearer late ${i}`)).rejects.toMatchObject(refused);
    expect(log.warn.mock.calls).toEqual([[{ client: ip }, 'failed authentications at their limit']]);
    expect(await ask(newAddress(), RIGHT)).toBe(caller);
  });

  it('are refused unread at the limit, and so is a right one that was never seen', async () => {
    const { authenticate, ask, fail } = start();
    const ip = newAddress();
    await fail(ip, LIMIT);
    await expect(ask(ip, 'Bearer last')).rejects.toMatchObject({ ...refused, retryAfterSeconds: expect.any(Number) });
    authenticate.mockClear();
    for (const authorization of ['Bearer more', RIGHT]) {
      await expect(ask(ip, authorization)).rejects.toMatchObject(refused);
    }
    expect(authenticate).not.toHaveBeenCalled();
  });

  it('of one client do not lock out another behind the same address whose credentials were right before', async () => {
    const { ask, fail } = start();
    const ip = newAddress();
    await ask(ip, RIGHT);
    await fail(ip, LIMIT);
    await expect(ask(ip, 'Bearer more')).rejects.toMatchObject(refused);
    expect(await ask(ip, RIGHT)).toBe(caller);
  });

  it('that were right once are counted again after they stop working', async () => {
    const { authenticate, ask, fail } = start();
    const ip = newAddress();
    await ask(ip, RIGHT);
    await fail(ip, LIMIT);
    authenticate.mockRejectedValueOnce(new ApiError('invalid_api_key'));
    await expect(ask(ip, RIGHT)).rejects.toMatchObject(refused);
    await expect(ask(ip, RIGHT)).rejects.toMatchObject(refused);
    expect(authenticate).toHaveBeenCalledTimes(LIMIT + 2);
  });

  it('do not include expired tokens: an address with many of them stays open', async () => {
    const { authenticate, ask } = start('invalid_token');
    const ip = newAddress();
    for (let i = 0; i < 3 * LIMIT; i++) {
      authenticate.mockRejectedValueOnce(new UnguessedTokenError('it has expired.'));
      await expect(ask(ip, `Bearer expired ${i}`)).rejects.toMatchObject({ code: 'invalid_token' });
    }
    expect(await ask(ip, RIGHT)).toBe(caller);
  });

  it('are counted by all processes together', async () => {
    const [one, other] = [start(), start()];
    const ip = newAddress();
    await one.fail(ip, LIMIT);
    await expect(other.ask(ip, 'Bearer wrong')).rejects.toMatchObject(refused);
  });

  it.each(['missing_credentials', 'secret_key_required', 'identity_unavailable'] as const)(
    'do not include what guesses nothing: %s',
    async (code) => {
      const { fail } = start(code);
      await fail(newAddress(), 3 * LIMIT);
    },
  );
});
