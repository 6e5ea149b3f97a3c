import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBlocks } from '../sdk/support/read-examples.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { TestService } from '../support/service.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const guide = readFileSync(path.join(root, 'docs/sandbox.md'), 'utf8');

let sandbox: Sandbox;
let service: TestService;
beforeAll(async () => {
  service = await TestService.hosted();
  sandbox = service.sandbox;
  // The guide reads mail number 1.
  const body = 'Message-ID: <1@svc.example>\r\nTo: ana@example.com\r\n\r\nHello';
  const sent = await fetch(`${sandbox.url}/mailbox`, {
    method: 'POST',
    headers: { 'content-type': 'message/rfc822' },
    body,
  });
  expect(sent.status).toBe(201);
});
afterAll(() => service.stop());

describe("the sandbox's guide", () => {
  it('has commands that succeed as they stand, one after the other', async () => {
    const blocks = readBlocks(guide, 'sh');
    expect(blocks.length).toBeGreaterThan(5);
    const { dataDir } = service.server;
    await symlink(dataDir, path.join(dataDir, '.svc'));
    const script = blocks.map(({ code }) => code).join('\n');
    const strict = script.replaceAll('curl ', 'curl --silent --show-error --fail ');
    await run('bash', ['--norc', '-euo', 'pipefail', '-c', strict], { cwd: dataDir });

    const [node] = readBlocks(guide, 'js');
    await symlink(path.join(root, 'node_modules'), path.join(dataDir, 'node_modules'));
    const args = ['--input-type=module', '-e', node?.code ?? ''];
    const { stdout } = await run(process.execPath, args, { cwd: dataDir });
    expect(stdout.trim()).toBe('0x5356435f53414e44424f58');
  });
});
