import { execFile } from 'node:child_process';
import { readdir, readFile, stat, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBlocks } from './sdk/support/read-examples.ts';
import type { RunningServer } from './support/server.ts';
import { TestService } from './support/service.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '..');
const LIMIT_MS = 120_000;
let service: TestService;
let server: RunningServer;

beforeAll(async () => {
  service = await TestService.hosted({ ALLOW_LOOPBACK_URLS: 'on' });
  server = service.server;
  // The examples look for the keys where a user's own start leaves them, and for starknet.js among the dependencies.
  await symlink(server.dataDir, path.join(server.dataDir, '.svc'));
  await symlink(path.join(root, 'node_modules'), path.join(server.dataDir, 'node_modules'));
});
afterAll(() => service.stop());

const read = (file: string) => readFile(path.join(root, file), 'utf8');

/** Runs the shell commands of documents as they stand, as one script; answers the JSON that they print. */
async function shell(files: string[], select = (_: string) => true) {
  const texts = await Promise.all(files.map(read));
  const script = texts
    .flatMap((text) => readBlocks(text, 'sh'))
    .map(({ code }) => code)
    .filter(select)
    .join('\n')
    .replaceAll(/\bcurl /g, 'curl --silent --show-error --fail ')
    // Each answer on a line of its own.
    .replaceAll(/^(?=curl |echo |organization (?!\(\)))/gm, 'echo; ');
  const { stdout } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', script], { cwd: server.dataDir });
  expect(stdout).not.toContain(server.credentials.secretKey);
  return stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

async function runWalletGuide(file: string): Promise<void> {
  const [example] = readBlocks(await read(file), 'js');
  const args = ['--input-type=module', '-e', example?.code ?? ''];
  const { stdout } = await run(process.execPath, args, { cwd: server.dataDir });
  expect(stdout).toMatch(/^0x[0-9a-f]+ 0x[0-9a-f]+ \{/);
  expect(stdout).toContain("type: 'SEND'");
  expect(stdout).toContain("amount: '2500000'");
}

describe('the README and the guides', () => {
  it(
    'have examples that run as they stand, in the order of a reader, on one service',
    async () => {
      const [skus, usd, organization, sku, faucet, gift] = await shell(['README.md'], (code) => code.includes('curl'));
      expect(skus.data).toHaveLength(3);
      expect(usd).toBe(10);
      expect(organization.balance.totalUsd).toBe(10_000);
      expect(sku.id).toBe('cfe-recibo-hogar');
      expect(faucet.transactionHash).toMatch(/^0x[0-9a-f]+$/);
      expect(gift).toMatchObject({ code: 'PRUEBA-5', amount: '5' });

      const answers = await shell(['docs/settings.md']);
      const [changed, settings, restored, checked, branded, brand, unbranded, limited, ...others] = answers;
      const [sponsorship, unlimited, revoked, hidden, offered, service, renamed, removed, credited, log] = others;
      expect(changed).toMatchObject({ notificationEmail: 'avisos@tienda.example', giftsNeedSecretKey: true });
      expect(settings).toEqual(changed);
      expect(restored).toMatchObject({ notificationEmail: null, giftsNeedSecretKey: false });
      expect(checked).toMatchObject({ valid: false, externalUserId: null });
      expect(branded).toMatchObject({ name: 'Tienda Azul', color: '#0b5a9d' });
      expect(brand).toEqual(branded);
      expect(unbranded).toMatchObject({ name: null, color: null });
      expect(limited).toMatchObject({ userDailyTransactions: 500, allowedEntrypoints: ['transfer', 'approve'] });
      expect(sponsorship).toMatchObject({ ...limited, user: { externalUserId: 'ana' } });
      expect(unlimited).toMatchObject({ userDailyTransactions: null, allowedEntrypoints: null });
      expect(revoked).toEqual({ success: true });
      expect([hidden.isOffered, offered.isOffered]).toEqual([false, true]);
      expect(service).toMatchObject({ id: 'agua-recibo', isOwn: true, isOffered: true });
      expect(renamed.name).toBe('Agua del Centro: pago de recibo');
      expect(removed).toEqual({ success: true });
      expect(credited).toMatchObject({ type: 'DEPOSIT', amountUsd: 25 });
      const byCaller = (log.data as { action: string; actor: string }[]).filter(({ actor }) => actor !== 'service');
      expect(byCaller.map(({ action }) => action).slice(0, 3)).toEqual(['sku.deleted', 'sku.updated', 'sku.created']);

      // Nothing that a reader ran took the keys away.
      const again = await shell(['README.md'], (code) => code.includes('RECARGAS'));
      expect(again[0].data).toHaveLength(3);
    },
    LIMIT_MS,
  );

  it.each(['docs', 'docs/es'])(
    'have first steps that run as they stand, in the order of a reader: %s',
    async (folder) => {
      await runWalletGuide(`${folder}/wallets.md`);
      const files = [`${folder}/start.md`, `${folder}/gifts.md`];
      const answers = await shell(files, (code) => code.includes('$BASE_URL'));
      const [skus, gift, bulk, claim, state, evidence, paused, deleted] = answers;
      expect(skus.data).toHaveLength(3);
      expect(gift).toMatchObject({ name: 'Navidad', maxRedeems: 100, claimUrl: expect.stringContaining(gift.code) });
      expect(bulk).toMatchObject({ created: 2 });
      expect(claim).toMatchObject({ valid: true, gift: { code: gift.code, amount: '5' } });
      expect(state).toMatchObject({ destinationChain: 'starknet', amount: 5 });
      expect(evidence).toMatchObject({ id: state.id, giftId: gift.id });
      expect(paused).toMatchObject({ id: gift.id, isActive: false });
      expect(deleted).toMatchObject({ success: true });
      expect(answers).toHaveLength(8);
    },
    LIMIT_MS,
  );

  it('have Spanish settings that run as they stand', async () => {
    const [changed, settings, restored, branded, brand, unbranded, revoked] = await shell(['docs/es/settings.md']);
    expect(changed).toMatchObject({ notificationEmail: 'avisos@tienda.example', giftsNeedSecretKey: true });
    expect([settings, restored.notificationEmail]).toEqual([changed, null]);
    expect([brand, unbranded.name]).toEqual([branded, null]);
    expect(revoked).toEqual({ success: true });
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
