import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { countInstalled, describeProgress, packagesToInstall } from './install-progress.mjs';

const root = path.resolve(import.meta.dirname, '..');

it('waits for the packages that fit this machine, and for no others', () => {
  const packages = {
    '': {},
    'packages/server': {},
    'node_modules/@svc/server': { link: true },
    'node_modules/everywhere': {},
    'node_modules/mac': { os: ['darwin'] },
    'node_modules/arm': { os: ['linux'], cpu: ['arm64'] },
    'node_modules/not-windows': { os: ['!win32'] },
    'node_modules/musl': { os: ['linux'], libc: ['musl'] },
    'packages/server/node_modules/nested': {},
  };
  expect(packagesToInstall({ packages }, { platform: 'linux', arch: 'x64' })).toEqual([
    'node_modules/everywhere',
    'node_modules/not-windows',
    'packages/server/node_modules/nested',
  ]);
});

it('reaches nearly all of the lock file on an installed clone', async () => {
  const lock = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8'));
  const packages = packagesToInstall(lock, process);
  expect(countInstalled(root, packages) / packages.length).toBeGreaterThan(0.9);
});

it('shows how far the installation is', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-progress-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(path.join(folder, 'node_modules/a'), { recursive: true });
  await mkdir(path.join(folder, 'node_modules/b'));
  expect(countInstalled(folder, ['node_modules/a', 'node_modules/b'])).toBe(0);
  await writeFile(path.join(folder, 'node_modules/a/package.json'), '{}');
  const installed = countInstalled(folder, ['node_modules/a', 'node_modules/b']);
  expect(describeProgress({ installed, total: 2, seconds: 12 })).toBe(
    `${'█'.repeat(12)}${'░'.repeat(12)}  50 %  1 of 2 packages, 12 s`,
  );
  expect(describeProgress({ installed: 0, total: 2, seconds: 1 })).toContain('  0 %  reading the lock file');
});
