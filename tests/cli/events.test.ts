import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { verifyWebhook } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startReceiver } from '../../packages/server/testing/webhooks.ts';
import { type AnyService, TestService } from '../support/service.ts';
import { runSvc, svcEnv } from './support/run-svc.ts';

const MAIN = path.resolve(import.meta.dirname, '../../packages/cli/src/main.ts');
let service: AnyService;
let listening: ChildProcess | undefined;
beforeAll(async () => {
  service = await TestService.shared();
});
afterAll(async () => {
  listening?.kill('SIGKILL');
  await service.stop();
});

describe('events from the terminal', () => {
  it('go to an app on this machine as they happen, signed with the secret that was shown', async () => {
    const receiver = await startReceiver();
    const words = ['listen', '--json', '--forward', receiver.url, '--events', 'wallet.created', '--every', '1'];
    listening = spawn(process.execPath, [MAIN, ...words], {
      env: svcEnv(service.server),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (!listening.stdout) throw new Error('There is no output.');
    const lines = createInterface({ input: listening.stdout })[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await lines.next()).value ?? '{}') as Record<string, unknown>;
    const { ready, secret } = await next();
    expect(ready).toBe(true);

    await service.wallet({ user: 'listened to' });
    const shown = await next();
    expect(shown).toMatchObject({ status: 204, event: { type: 'wallet.created' } });
    expect(receiver.received).toHaveLength(1);
    const [{ body, headers } = { body: '', headers: {} }] = receiver.received;
    expect(await verifyWebhook(body, headers, String(secret))).toMatchObject({
      type: 'wallet.created',
      data: { externalUserId: 'listened to' },
    });
  });

  it('can be made to happen in development, and only there', async () => {
    const env = svcEnv(service.server);
    const received = await runSvc(['trigger', 'transfer.received', '--json'], { env });
    expect(JSON.parse(received.stdout)).toMatchObject({ type: 'transfer.received', data: { status: 'SUCCESS' } });
    expect(await runSvc(['trigger', 'gift.redeemed'], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/only where a webhook names it/),
    });
    const { publicKey, secretKey } = (await service.keys('production')).keys;
    const production = { ...env, SVC_PUBLIC_KEY: publicKey, SVC_SECRET_KEY: secretKey };
    expect(await runSvc(['trigger', 'wallet.created'], { env: production })).toMatchObject({ code: 2 });
  });
});
