import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import type { EnvironmentRow } from '../organizations/organization-store.ts';
import { isRecipientToken, RecipientTokens } from './user-tokens.ts';

const KEY = new Uint8Array(32).fill(7);
const NOW = Date.parse('2026-11-17T12:00:00Z');
const identity = {
  organizationId: 'org_1',
  environment: 'development',
  externalUserId: 'rcp_1',
  walletAddress: `0x${'1'.repeat(64)}` as never,
} as const;
const settings = (change: Partial<EnvironmentRow> = {}) =>
  ({ organization_id: 'org_1', environment: 'development', ...change }) as EnvironmentRow;
const at = (ms: number, key = KEY) => new RecipientTokens(key, () => ms);

describe("a recipient's token", () => {
  it('names organisation, environment, user and wallet, in every process of the deployment, for 15 minutes', async () => {
    const { token, expiresAt } = await at(NOW).issue(identity);
    expect(isRecipientToken(token)).toBe(true);
    expect(expiresAt.getTime() - NOW).toBe(900_000);
    expect(await at(NOW + 890_000).read(token, settings())).toEqual(identity);
    await expect(at(NOW + 906_000).read(token, settings())).rejects.toMatchObject({ code: 'invalid_token' });
  });

  it.each<[string, Partial<EnvironmentRow>]>([
    ['organisation', { organization_id: 'org_2' }],
    ['environment', { environment: 'production' }],
  ])('is not valid in another %s', async (_, change) => {
    const { token } = await at(NOW).issue(identity);
    await expect(at(NOW).read(token, settings(change))).rejects.toMatchObject({ code: 'invalid_token', status: 401 });
  });

  it('of another deployment, altered, unsigned or signed with the bare secret is not valid', async () => {
    const { token } = await at(NOW).issue(identity);
    const [header, body, signature] = token.split('.');
    const other = Buffer.from(JSON.stringify({ sub: 'rcp_2', iss: 'svc', exp: NOW })).toString('base64url');
    const none = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
    const bare = await new SignJWT({ wallet: identity.walletAddress })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer('svc')
      .setAudience('org_1 development')
      .setSubject('rcp_1')
      .setExpirationTime(NOW / 1_000 + 60)
      .sign(KEY);
    const forged = [`${header}.${other}.${signature}`, `rut_${none}.${body}.`, `rut_${bare}`, 'rut_', 'rut_a.b.c'];
    for (const text of forged) {
      await expect(at(NOW).read(text, settings())).rejects.toMatchObject({ code: 'invalid_token' });
    }
    const { token: theirs } = await at(NOW, new Uint8Array(32).fill(8)).issue(identity);
    await expect(at(NOW).read(theirs, settings())).rejects.toMatchObject({ code: 'invalid_token' });
  });
});
