import { execFile } from 'node:child_process';
import { readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../support/server.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
let server: RunningServer;

beforeAll(async () => {
  server = await startServer();
  // The example looks for the keys where a user's own start leaves them, and for starknet.js among the dependencies.
  await symlink(server.dataDir, path.join(server.dataDir, '.svc'));
  await symlink(path.join(root, 'node_modules'), path.join(server.dataDir, 'node_modules'));
});
afterAll(() => server.stop());

describe('the guide to wallets', () => {
  it('has an example that runs as it stands', async () => {
    const text = await readFile(path.join(root, 'docs/wallets.md'), 'utf8');
    const [, script = ''] = /```js\n([\s\S]*?)```/.exec(text) ?? [];
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: server.dataDir });
    expect(stdout).toMatch(/^0x[0-9a-f]+ 0x[0-9a-f]+ \{/);
    expect(stdout).toContain("type: 'SEND'");
    expect(stdout).toContain("amount: '2500000'");
  });
});
