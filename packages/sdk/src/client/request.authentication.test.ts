import type { Access, endpoints } from '@svc/protocol';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { failure, fakeClient, json, PUBLIC_KEY, refusal, SECRET_KEY } from '../../testing/fake-client.ts';
import type { Client } from './client.ts';
import { authentication, request, requireBearerToken } from './request.ts';

const key = { 'x-api-key': PUBLIC_KEY };
const bearer = (token: string) => ({ ...key, authorization: `Bearer ${token}` });
const server = fakeClient([]).client;
const browser = fakeClient([], { secretKey: undefined }).client;
const signedIn = fakeClient([], { secretKey: undefined, bearerToken: 'of-ana' }).client;
const both = fakeClient([], { bearerToken: 'of-ana' }).client;

describe('the headers of each access', () => {
  it.each<[Access, string, typeof server, string | undefined, Record<string, string>]>([
    ['none', 'anyone', both, 'of-bob', {}],
    ['public', 'anyone', both, 'of-bob', key],
    ['both', 'a server', server, undefined, bearer(SECRET_KEY)],
    ['both', 'a signed-in user', signedIn, undefined, bearer('of-ana')],
    ['both', 'a client with both', both, undefined, bearer('of-ana')],
    ['both', 'a call with its own token', both, 'of-bob', bearer('of-bob')],
    ['secret', 'a server', both, undefined, bearer(SECRET_KEY)],
    ['secret', 'a call with its own token', browser, SECRET_KEY, bearer(SECRET_KEY)],
    ['either', 'a server', both, 'of-bob', bearer(SECRET_KEY)],
    ['either', 'a signed-in user', signedIn, 'of-bob', key],
  ])('%s, for %s', async (access, _, client, token, headers) => {
    expect(await authentication(client, access, token)).toEqual(headers);
  });

  it('are refused before anything is sent if credentials are missing', async () => {
    expect(await failure(authentication(browser, 'both'))).toMatchObject({ code: 'missing_bearer_token' });
    expect(await failure(authentication(signedIn, 'secret'))).toMatchObject({ code: 'secret_key_required' });
  });
});

const list = (client: Client) =>
  request<typeof endpoints.listSkus>(client, { route: 'GET /skus', access: 'both', query: {} });

describe('a bearer token', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('that is a function is called for each attempt', async () => {
    const tokens = ['first', 'second', 'third'];
    const bearerToken = async () => tokens.shift() ?? '';
    const { client, sent } = fakeClient([refusal(500), refusal(500), json(1)], { bearerToken });
    await list(client);
    expect(sent.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', 'Bearer second', 'Bearer third']);
  });

  it('that is a function and fails, fails with its own error', async () => {
    const reason = new Error('signed out');
    const { client, sent } = fakeClient([], { bearerToken: () => Promise.reject(reason) });
    expect(await failure(list(client))).toBe(reason);
    expect(sent).toEqual([]);
  });

  it.each(['', ' ', 'two words', 'line\nbreak', 'é', 7 as unknown as string])(
    'such as %j is refused',
    async (token) => {
      expect(await failure(authentication(server, 'both', token))).toMatchObject({ code: 'invalid_input' });
    },
  );

  it('is never a secret key in a browser', async () => {
    vi.stubGlobal('navigator', { userAgent: 'Mozilla/5.0 (X11; Linux x86_64)' });
    expect(await failure(authentication(browser, 'both', SECRET_KEY))).toMatchObject({ code: 'secret_key_in_browser' });
    expect(await authentication(browser, 'both', 'of-ana')).toEqual(bearer('of-ana'));
  });

  it('is required where documented, even with a secret key', () => {
    expect(() => requireBearerToken(server)).toThrow(expect.objectContaining({ code: 'missing_bearer_token' }));
    expect(requireBearerToken(signedIn)).toBe('of-ana');
    expect(requireBearerToken(signedIn, 'of-bob')).toBe('of-bob');
  });
});
