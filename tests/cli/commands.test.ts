import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnyService, OPERATOR_TOKEN, TestService } from '../support/service.ts';
import { runSvc, startSvc, svcEnv } from './support/run-svc.ts';

let service: AnyService;
beforeAll(async () => {
  service = await TestService.shared();
});
afterAll(() => service.stop());

const svc = (...words: string[]) => runSvc(words, { env: svcEnv(service.server) });

async function json<T>(...words: string[]): Promise<T> {
  const { code, stdout, stderr } = await svc('--json', ...words);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as T;
}

describe('the command line', () => {
  it('shows the service and the organisation of the keys, and never the secret key', async () => {
    const { code, stdout } = await startSvc(['status'], { env: svcEnv(service.server) });
    expect(code).toBe(0);
    expect(stdout).toContain(service.server.credentials.organizationId);
    expect(stdout).not.toContain(service.server.credentials.secretKey);
  });

  it('lists wallets, transactions and events, for people and as JSON', async () => {
    const owner = await service.wallet({ user: 'cli user' });
    const wallets = await json<{ id: string; publicKey: string }[]>('wallets', '--search', 'cli user');
    expect(wallets.map(({ publicKey }) => BigInt(publicKey))).toEqual([BigInt(owner.address)]);
    const [text, shown, events] = await Promise.all([
      svc('wallets'),
      json<{ chain: { balances: unknown[] } }>('wallets', 'show', wallets[0]?.id ?? ''),
      json<{ type: string }[]>('events', '--type', 'wallet.created'),
    ]);
    expect(text.stdout).toMatch(/CREATED +ID +USER[\s\S]*cli user/);
    expect(shown.chain).toBeDefined();
    expect(events.map(({ type }) => type)).toEqual(['wallet.created']);
    await expect
      .poll(async () => (await svc('transactions', '--type', 'RECEIVE')).stdout, { timeout: 30_000 })
      .toMatch(/RECEIVE +SUCCESS +100 USDC/);
  });

  it('makes and revokes keys, and asks before where it can', async () => {
    const made = await json<{ id: string; secretKey: string }>('keys', 'create', 'secret');
    const env = { ...svcEnv(service.server), SVC_SECRET_KEY: made.secretKey };
    expect((await runSvc(['settings'], { env })).code).toBe(0);
    expect(await svc('keys', 'revoke', made.id)).toMatchObject({ code: 2, stderr: expect.stringMatching(/--yes/) });
    expect((await svc('keys', 'revoke', made.id, '--yes')).code).toBe(0);
    expect((await runSvc(['settings'], { env })).code).toBe(1);
  });

  it('changes settings, and credits the organisation from the faucet', async () => {
    await json('settings', 'set', 'notificationEmail=ana@example.com', 'publicKeyGiftsDailyUsd=10');
    expect(await json('settings')).toMatchObject({ notificationEmail: 'ana@example.com', publicKeyGiftsDailyUsd: 10 });
    const { transactionHash } = await json<{ transactionHash: string }>('faucet', '--amount', '7');
    expect(transactionHash).toMatch(/^0x/);
  });

  it('answers errors in one sentence, with the exit code of their kind', async () => {
    const missing = await svc('wallets', 'show', 'wal_missing', '--json');
    expect(missing).toMatchObject({ code: 1, stdout: '' });
    expect(JSON.parse(missing.stderr)).toMatchObject({ error: 'wallet_not_found', requestId: expect.any(String) });
    const env = svcEnv(service.server);
    expect(await startSvc(['walets'], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/Did you mean wallets/),
    });
    const nowhere = { ...svcEnv(service.server), SVC_BASE_URL: 'http://127.0.0.1:1/v1' };
    expect(await runSvc(['status'], { env: nowhere })).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/could not be reached/),
    });
  });

  it('does what the operator does with the token, and nothing without it', async () => {
    const env = { ...svcEnv(service.server), OPERATOR_TOKEN };
    const { organizationId } = service.server.credentials;
    const shown = await runSvc(['operator', 'organizations', 'show', organizationId], { env });
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('Development') });
    expect(await svc('operator', 'health')).toMatchObject({ code: 2, stderr: expect.stringMatching(/OPERATOR_TOKEN/) });
    const wrong = { ...env, OPERATOR_TOKEN: 'op_wrong-0123456789-0123456789-0123456789' };
    expect((await runSvc(['operator', 'health'], { env: wrong })).code).toBe(1);
  });

  it('has the service examine itself where the operator asks', async () => {
    const env = { ...svcEnv(service.server), OPERATOR_TOKEN };
    const { stdout } = await runSvc(['doctor', '--json'], { env });
    const findings = JSON.parse(stdout) as { check: string; level: string; fix?: string }[];
    const names = findings.map(({ check }) => check);
    expect(names).toEqual(
      expect.arrayContaining(['database', 'clock', 'deployed', 'tokens', 'manager account', 'mail']),
    );
    expect(findings.filter(({ level, fix }) => level !== 'ok' && !fix)).toEqual([]);
  });

  it('examines the deployment and says what is well', async () => {
    const findings = await json<{ check: string; level: string }[]>('doctor');
    expect(findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ check: 'database', level: 'ok' }),
        expect.objectContaining({ check: 'keys', level: 'ok' }),
        expect.objectContaining({ check: 'chain', level: 'ok' }),
      ]),
    );
  });
});
