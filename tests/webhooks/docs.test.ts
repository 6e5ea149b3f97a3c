import { execFile, spawn } from 'node:child_process';
import { readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventTypes } from '@svc/protocol';
import { sql } from '@svc/store';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { newSecret } from '../../packages/server/src/events/webhooks.ts';
import { secretKey, signedHeaders } from '../../packages/server/src/outbound/webhook-signature.ts';
import { openReceiver } from '../../packages/server/testing/receiver.ts';
import { readBlocks } from '../sdk/support/read-examples.ts';
import { runExample } from '../sdk/support/run-example.ts';
import { abortRequest, floodRequest } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { processEnv } from '../support/server.ts';
import { TestService } from '../support/service.ts';
import { WebhookFixture } from '../support/webhooks.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const LIMIT_MS = 60_000;
const MEBIBYTE = 2 ** 20;

let service: TestService;
let guide: string;
beforeAll(async () => {
  service = await TestService.hosted({ ALLOW_LOOPBACK_URLS: 'on' });
  // The examples look for the keys where a user's own start leaves them.
  await symlink(service.server.dataDir, path.join(service.server.dataDir, '.svc'));
  guide = await readFile(path.join(root, 'docs/webhooks.md'), 'utf8');
});
afterAll(() => service.stop());

async function freePort(): Promise<number> {
  const receiver = await openReceiver();
  receiver.close();
  return Number(new URL(receiver.url).port);
}

/** Runs the commands as they stand, but at this test's addresses; answers what the variables are after them, and all output. */
async function shell(commands: string, port: number, env: Record<string, string> = {}) {
  const script = commands
    .replaceAll('http://127.0.0.1:3000', `http://127.0.0.1:${port}`)
    .replaceAll('curl ', 'curl --silent --show-error --fail ')
    .concat('\necho\necho "$BASE_URL $PUBLIC_KEY $SECRET_KEY $WEBHOOK_ID $WEBHOOK_SECRET"\n');
  const options = { cwd: service.server.dataDir, env: { ...processEnv(), ...env } };
  const { stdout } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', script], options);
  const shown = stdout.trim().split('\n').at(-1)?.split(' ') ?? [];
  const [BASE_URL = '', PUBLIC_KEY = '', SECRET_KEY = '', WEBHOOK_ID = '', WEBHOOK_SECRET = ''] = shown;
  return { stdout, env: { BASE_URL, PUBLIC_KEY, SECRET_KEY, WEBHOOK_ID, WEBHOOK_SECRET } };
}

/** A program of the guide, as it stands; answers what it has printed so far. */
function start(code: string, env: Record<string, string>): () => string {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: root,
    env: { ...processEnv(), ...env },
  });
  onTestFinished(() => void child.kill());
  let output = '';
  const keep = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  return () => output;
}

describe('the guide to webhooks', () => {
  it.each([
    ['docs/webhooks.md', ['"totalPages":', '"replayed":0', '"secret":"whsec_', '"isEnabled":true']],
    ['docs/es/webhooks.md', ['"totalPages":']],
  ])(
    'has a receiver and commands that work together as they stand: %s',
    async (file, answered) => {
      const text = await readFile(path.join(root, file), 'utf8');
      const [program] = readBlocks(text, 'js');
      const [making, ...commands] = readBlocks(text, 'sh');
      const port = await freePort();
      const { env } = await shell(making?.code ?? '', port);
      expect(env).toMatchObject({ WEBHOOK_ID: expect.stringMatching(/^whk_/) });
      const printed = start(program?.code ?? '', { PORT: String(port), WEBHOOK_SECRET: env.WEBHOOK_SECRET });
      const says = (words: string) =>
        eventually(
          async () => printed(),
          (text) => text.includes(words),
        );
      expect(await says('listening')).toContain('listening');
      const { stdout } = await shell(commands.map(({ code }) => code).join('\n'), port, env);
      for (const part of ['"eventType":"webhook.test"', ...answered]) expect(stdout).toContain(part);
      expect(await says('webhook.test')).toContain(env.WEBHOOK_ID);
    },
    LIMIT_MS,
  );

  it('has a receiver that answers 400 to what is not ours', async () => {
    const [program] = readBlocks(guide, 'js');
    const port = await freePort();
    const secret = newSecret();
    const printed = start(program?.code ?? '', { PORT: String(port), WEBHOOK_SECRET: `${newSecret()} ${secret}` });
    await eventually(
      async () => printed(),
      (text) => text.includes('listening'),
    );
    const body = JSON.stringify({ type: 'sku-purchase.completed', timestamp: '2026-11-16T10:00:00.000Z', data: {} });
    const statusOf = async (by: string) => {
      const timestamp = Math.floor(Date.now() / 1_000);
      const headers = signedHeaders({ id: 'evt_1', timestamp, body }, [secretKey(by)]);
      return (await fetch(`http://127.0.0.1:${port}/svc`, { method: 'POST', body, headers })).status;
    };
    expect([await statusOf(secret), await statusOf(secret), await statusOf(newSecret())]).toEqual([204, 204, 400]);
    expect(printed().split('sku-purchase.completed')).toHaveLength(2);
  });

  it('has a receiver that outlives requests that break off or never end', async () => {
    const [program] = readBlocks(guide, 'js');
    const port = await freePort();
    const printed = start(program?.code ?? '', { PORT: String(port), WEBHOOK_SECRET: newSecret() });
    await eventually(
      async () => printed(),
      (text) => text.includes('listening'),
    );
    const url = `http://127.0.0.1:${port}/svc`;
    for (let times = 0; times < 3; times++) await abortRequest(url);
    expect(await floodRequest(url, MEBIBYTE, 64)).toBeLessThan(64 * MEBIBYTE);
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(400);
    expect(printed()).toBe('listening\n');
  });

  it('has lines for another library that accept what is ours', async () => {
    const [example] = readBlocks(guide, 'js standardwebhooks');
    const secret = newSecret();
    const body = '{"type":"webhook.test","timestamp":"2026-11-16T10:00:00.000Z","data":{}}';
    const headers = signedHeaders({ id: 'evt_1', timestamp: Math.floor(Date.now() / 1_000), body }, [
      secretKey(secret),
    ]);
    const lines = (example?.code ?? '').replace(/^import .*$/m, '').concat('told(event);');
    const told: unknown[] = [];
    await runExample(lines, { Webhook, secret, body, headers, told: (event: unknown) => told.push(event) });
    expect(told).toEqual([JSON.parse(body)]);
  });

  it('has a question to the database, in the guide for operators, that names webhooks at which something is due', async () => {
    const operations = await readFile(path.join(root, 'docs/operations.md'), 'utf8');
    const question = readBlocks(operations, 'sql').find(({ code }) => code.includes('webhook_deliveries'));
    const { db } = service.database;
    const webhooks = new WebhookFixture(service);
    const { id } = await webhooks.create('https://hooks.example/due');
    // Of a day ago, and without a job that would send it.
    await db.run(sql`insert into events (id, organization_id, environment, type, subject, data)
      select 'evt_due', organization_id, environment, 'webhook.test', 'due', '{}' from webhooks where id = ${id}`);
    await db.run(sql`insert into webhook_deliveries (id, webhook_id, event_id, next_attempt_at)
      values ('dlv_due', ${id}, 'evt_due', now() - interval '1 day')`);
    const text = (question?.code ?? '').trim().replace(/;$/, '');
    const [first] = await db.rows<{ id: string; due: bigint }>(sql(Object.assign([text], { raw: [text] })));
    expect(first).toMatchObject({ id, due: 1n });
  });

  it('names every type of event, and every reason', () => {
    for (const word of [...eventTypes, 'BY_HAND', 'GONE', 'FAILING']) expect(guide).toContain(`\`${word}\``);
  });
});
