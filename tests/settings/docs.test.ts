import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Keys } from '../support/app.ts';
import { admin } from '../support/operator.ts';
import { type AnyService, TestService } from '../support/service.ts';

const root = path.resolve(import.meta.dirname, '../..');
let service: AnyService;

beforeAll(async () => {
  service = await TestService.shared();
});
afterAll(() => service.stop());

describe('the guide to settings', () => {
  it('links only to files that exist', async () => {
    const text = await readFile(path.join(root, 'docs/settings.md'), 'utf8');
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)#]+)/g)) {
      await expect(readFile(path.resolve(root, 'docs', target)), target).resolves.toBeDefined();
    }
  });
});

describe("the operator's commands", () => {
  it('are judged by the same rules, and stand in the same log', async () => {
    const { id } = await admin<{ id: string }>(service, 'organizations', 'create', 'Tienda Verde');
    const keys = await admin<Keys>(service, 'keys', 'create', id, 'development');
    const set = (change: string) => admin(service, 'settings', 'set', id, 'development', change);
    await expect(set('notificationEmail=nobody')).rejects.toThrow(/notificationEmail must match format "email"/);
    const keySet = 'jwksUrl=http://127.0.0.1:4000';
    await expect(admin(service, 'settings', 'set', id, 'production', keySet)).rejects.toThrow(
      /jwksUrl must lead to a public address/,
    );
    await set('jwtIssuer=https://id.example');
    const headers = { 'x-api-key': keys.publicKey, authorization: `Bearer ${keys.secretKey}` };
    const ask = async (place: string) =>
      (await fetch(`${service.server.credentials.baseUrl}/organization/${place}`, { headers })).json();
    expect(await ask('settings')).toMatchObject({ jwtIssuer: 'https://id.example', notificationEmail: null });
    const log = (await ask('audit-log')) as { data: { actor: string; action: string }[] };
    expect(log.data.map(({ actor, action }) => `${actor} ${action}`)).toEqual([
      'operator settings.updated',
      'operator key.created',
      'operator key.created',
      'operator organization.created',
    ]);
  });
});
