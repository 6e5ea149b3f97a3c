import { afterEach, describe, expect, it, vi } from 'vitest';
import { createMember } from './members.ts';
import { createOperator } from './operator.ts';

const sessionToken = 'kX2vQe0mTz7cBq4nLw9sRy1uFh6gJd3aPo8iVt5bWxY';
const operatorToken = 'op_0123456789';

/** The headers of each request. */
function recorder() {
  const sent: Record<string, string>[] = [];
  const fetch = async (_: string, init?: RequestInit) => {
    sent.push({ ...(init?.headers as Record<string, string>) });
    return Response.json({ data: [] });
  };
  return { sent, fetch };
}

describe('the credential', () => {
  afterEach(() => vi.unstubAllGlobals());

  it.each([
    ['https://svc.example/v1', '__Host-svc_session', 'https://svc.example'],
    ['http://127.0.0.1:8080/v1', 'svc_session', 'http://127.0.0.1:8080'],
  ])('of a member is the cookie and the page of %s, and no key', async (baseUrl, name, origin) => {
    const { sent, fetch } = recorder();
    await createMember({ baseUrl, sessionToken, fetch }).listMembers();
    expect(sent).toEqual([{ cookie: `${name}=${sessionToken}`, origin }]);
  });

  it('of an operator is its token, and no key', async () => {
    const { sent, fetch } = recorder();
    await createOperator({ baseUrl: 'https://svc.example/v1', operatorToken, fetch }).listAccounts();
    expect(sent).toEqual([{ authorization: `Bearer ${operatorToken}` }]);
  });

  it('is refused in a browser, and in a wrong form, without being repeated', () => {
    const baseUrl = 'https://svc.example/v1';
    expect(() => createMember({ baseUrl, sessionToken: 'a b' })).toThrow(/^sessionToken must be the value/);
    expect(() => createOperator({ baseUrl, operatorToken: 'a b' })).toThrow(/^operatorToken must be text/);
    vi.stubGlobal('document', {});
    expect(() => createMember({ baseUrl, sessionToken })).toThrow(/browser/);
    expect(() => createOperator({ baseUrl, operatorToken })).toThrow(/browser/);
  });
});
