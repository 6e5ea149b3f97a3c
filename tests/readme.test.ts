import { execFile } from 'node:child_process';
import { readdir, readFile, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from './support/server.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '..');
let server: RunningServer;
let script: string;

beforeAll(async () => {
  server = await startServer();
  // The examples look for the keys where a user's own start leaves them.
  await symlink(server.dataDir, path.join(server.dataDir, '.svc'));
  const text = await readFile(path.join(root, 'README.md'), 'utf8');
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  script = blocks
    .filter((block) => block.includes('curl'))
    .join('\n')
    .replaceAll('http://127.0.0.1:8080', server.origin)
    .replaceAll(/^curl /gm, 'echo; curl --silent --show-error --fail ');
});
afterAll(() => server.stop());

describe('the README', () => {
  it('has examples that run as they stand', async () => {
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: server.dataDir });
    const [skus, usd, organization, sku, faucet, gift] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(skus.data).toHaveLength(3);
    expect(usd).toBe(10);
    expect(organization.balance.totalUsd).toBe(10_000);
    expect(sku.id).toBe('cfe-recibo-hogar');
    expect(faucet.transactionHash).toMatch(/^0x[0-9a-f]+$/);
    expect(gift).toMatchObject({ code: 'PRUEBA-5', amount: '5' });
  });

  it('and the documents link only to files that exist', async () => {
    const documents = (await readdir(path.join(root, 'docs'), { recursive: true })).map((name) => `docs/${name}`);
    const files = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...documents];
    for (const file of files.filter((name) => name.endsWith('.md'))) {
      const text = await readFile(path.join(root, file), 'utf8');
      for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)#]+)/g)) {
        await expect(stat(path.resolve(root, path.dirname(file), target)), `${file}: ${target}`).resolves.toBeDefined();
      }
    }
  });
});
