import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packAll, published } from '../../scripts/tarballs.ts';
import { builtSdk } from '../support/service.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const VERSION = '0.9.9';
const names = published.map(({ name }) => name);

interface Manifest {
  readonly version: string;
  readonly exports?: Record<string, string | Record<string, string>>;
  readonly bin?: Record<string, string>;
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
}

let folder: string;
const installed = (name: string) => path.join(folder, 'node_modules', name);
const manifestOf = async (name: string) =>
  JSON.parse(await readFile(path.join(installed(name), 'package.json'), 'utf8')) as Manifest;

/** A fresh project with the tarballs, as npm unpacks them, and what they ask for from this repository's packages. */
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'svc-packages-'));
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  for (const { name, file } of await packAll(VERSION, path.join(folder, 'tarballs'), await builtSdk())) {
    await mkdir(installed(name), { recursive: true });
    await run('tar', ['-xzf', file, '-C', installed(name), '--strip-components=1']);
  }
  const manifests = await Promise.all(names.map(manifestOf));
  const asked = manifests.flatMap(({ dependencies, peerDependencies }) =>
    Object.keys({ ...dependencies, ...peerDependencies }),
  );
  for (const name of new Set([...asked, '@types/react'])) {
    if (names.includes(name)) continue;
    await mkdir(path.dirname(installed(name)), { recursive: true });
    await symlink(path.join(root, 'node_modules', name), installed(name));
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function typeCheck(compiler: string, file: string, lib: readonly string[]): Promise<string> {
  const compilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: false, types: [], lib },
    ...{ target: 'es2022', module: 'nodenext', moduleResolution: 'nodenext', jsx: 'react-jsx' },
  };
  const project = path.join(folder, `${compiler}-${file}.json`);
  await writeFile(project, JSON.stringify({ compilerOptions, files: [file] }));
  const tsc = path.join(root, 'node_modules', compiler, 'bin/tsc');
  // Its threads check the same types again.
  const threads = compiler === 'typescript' ? ['--singleThreaded'] : [];
  const env = { ...process.env, GOGC: 'off' };
  return run(process.execPath, [tsc, ...threads, '--project', project], { cwd: folder, env }).then(
    () => '',
    (error: { stdout?: string }) => error.stdout ?? String(error),
  );
}

const server = `
import { createSvc, verifyWebhook, type Wallet } from '@svc/sdk';
const svc = createSvc({ baseUrl: 'https://svc.example/v1', publicKey: 'pk_dev_1', secretKey: 'sk_dev_1' });
export const wallet: Wallet = await svc.getWallet({ externalUserId: 'ana' });
export const event = await verifyWebhook('{}', {}, 'whsec_1');
export const done: boolean = (await svc.waitForTransaction('0x1', { timeoutMs: 1 })).success;
`;

const app = `
import { SvcProvider, useTransfer, useUnlock, useWallet } from '@svc/react';
import { walletOptions } from '@svc/react/options';
import { createClient } from '@svc/sdk';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
const client = createClient({ baseUrl: 'https://svc.example/v1', publicKey: 'pk_dev_1', bearerToken: async () => 'x' });
const queries = new QueryClient();
export const address: string | undefined = queries.getQueryData(walletOptions(client, { externalUserId: 'ana' }).queryKey)?.publicKey;
function Pay() {
  const { data: wallet } = useWallet({ externalUserId: 'ana' });
  const unlock = useUnlock();
  const transfer = useTransfer();
  if (!wallet) return null;
  const pay = async () => {
    await unlock.mutateAsync({ wallet });
    const hash: string = await transfer.mutateAsync({ wallet, amount: '1', token: 'USDC', recipient: '0x1' });
    return hash;
  };
  return <button onClick={pay}>{transfer.data ?? wallet.publicKey}</button>;
}
export const App = () => (
  <QueryClientProvider client={queries}>
    <SvcProvider client={client}><Pay /></SvcProvider>
  </QueryClientProvider>
);
`;
const mistakes = `
import { useTransfer, useWallet } from '@svc/react';
export const Wrong = () => {
  useWallet({ externalUserId: 1 });
  useTransfer().mutate({ wallet: { publicKey: '0x1' }, amount: '1', token: 'USDC', recipient: '0x1' });
  useTransfer().variables?.encryptKey;
  return null;
};
`;

describe('the tarballs', () => {
  it.each(['typescript', 'typescript-5.4'])(
    'type-check in a fresh project, their own types included: %s',
    async (compiler) => {
      await writeFile(path.join(folder, 'server.ts'), server);
      await writeFile(path.join(folder, 'app.tsx'), app);
      expect(await typeCheck(compiler, 'server.ts', ['es2022'])).toBe('');
      expect(await typeCheck(compiler, 'app.tsx', ['es2022', 'dom'])).toBe('');
    },
  );

  it('have types that reject mistakes', async () => {
    await writeFile(path.join(folder, 'mistakes.tsx'), mistakes);
    const errors = await typeCheck('typescript', 'mistakes.tsx', ['es2022', 'dom']);
    const lines = [...errors.matchAll(/^mistakes\.tsx[(:](\d+)/gm)].map(([, line]) => Number(line));
    expect([...new Set(lines)]).toEqual([4, 5, 6]);
  });

  it.each(names)('hold what their manifest names, and nothing of the workspace: %s', async (name) => {
    const { version, exports = {}, bin = {}, dependencies = {}, peerDependencies = {} } = await manifestOf(name);
    expect(version).toBe(VERSION);
    const targets = [...Object.values(exports), bin].flatMap((one) =>
      typeof one === 'string' ? one : Object.values(one),
    );
    expect(targets.length).toBeGreaterThan(0);
    for (const target of targets) await readFile(path.join(installed(name), target));
    const ours = Object.entries({ ...dependencies, ...peerDependencies }).filter(([one]) => one.startsWith('@svc/'));
    for (const [one, range] of ours) expect([names.includes(one), range]).toEqual([true, VERSION]);
    const files = await readdir(installed(name), { recursive: true });
    expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'package.json']));
    expect(files.filter((file) => /\.test\.|(?<!\.d)\.tsx?$/.test(file))).toEqual([]);
  });

  it('keep hooks for client components, and query options for all', async () => {
    const firstLine = async (file: string) =>
      (await readFile(path.join(installed('@svc/react'), file), 'utf8')).split('\n')[0];
    expect(await firstLine('wallets.js')).toBe("'use client';");
    expect(await firstLine('provider.js')).toBe("'use client';");
    expect(await firstLine('options.js')).not.toContain('use client');
    await writeFile(
      path.join(folder, 'options.js'),
      "import * as all from '@svc/react/options'; console.log(typeof all.walletOptions);",
    );
    expect((await run(process.execPath, ['options.js'], { cwd: folder })).stdout).toBe('function\n');
  });
});
