import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { buildPackage as buildSdk } from '../../sdk/build/build-package.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../..');
const own = path.join(root, 'packages/react');
const TSC = path.join(root, 'node_modules/typescript/bin/tsc');
/** Their declarations are what an app has, too. */
const PEERS = ['react', '@types/react', '@tanstack/react-query'];

/**
 * Writes everything that `npm publish` needs into a folder. The compiler emits one module for each source file, with its
 * `'use client'`, against the library as apps install it.
 */
export async function buildPackage(outDir: string, builtSdk?: string): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-react-build-'));
  try {
    await link(folder, builtSdk);
    await emit(folder, outDir);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  await writeFile(path.join(outDir, 'package.json'), `${JSON.stringify(await manifest(), undefined, 2)}\n`);
  await copyFile(path.join(own, 'README.md'), path.join(outDir, 'README.md'));
  await copyFile(path.join(root, 'LICENSE'), path.join(outDir, 'LICENSE'));
}

async function link(folder: string, builtSdk: string | undefined): Promise<void> {
  const installed = (name: string) => path.join(folder, 'node_modules', name);
  for (const name of PEERS) {
    await mkdir(path.dirname(installed(name)), { recursive: true });
    await symlink(path.join(root, 'node_modules', name), installed(name));
  }
  await mkdir(installed('@svc'), { recursive: true });
  if (builtSdk === undefined) await buildSdk(installed('@svc/sdk'));
  else await symlink(builtSdk, installed('@svc/sdk'));
  await cp(path.join(own, 'src'), path.join(folder, 'src'), {
    recursive: true,
    filter: (file) => !file.endsWith('.test.ts'),
  });
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
}

async function emit(folder: string, outDir: string): Promise<void> {
  const config = {
    extends: path.join(own, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      target: 'es2022',
      rootDir: path.join(folder, 'src'),
      outDir,
    },
    include: [path.join(folder, 'src')],
  };
  const file = path.join(folder, 'tsconfig.json');
  await writeFile(file, JSON.stringify(config));
  await run(process.execPath, [TSC, '--project', file]).catch((error: { stdout?: string }) => {
    throw new Error(`@svc/react could not be compiled:\n${error.stdout}`);
  });
}

async function manifest(): Promise<Record<string, unknown>> {
  const { version, peerDependencies } = JSON.parse(await readFile(path.join(own, 'package.json'), 'utf8'));
  return {
    name: '@svc/react',
    version,
    description: 'Hooks for wallets, payments and gift codes in React',
    license: 'MIT',
    type: 'module',
    sideEffects: false,
    exports: {
      '.': { types: './index.d.ts', default: './index.js' },
      './options': { types: './options.d.ts', default: './options.js' },
      './private-balance': { types: './private-balance.d.ts', default: './private-balance.js' },
      './package.json': './package.json',
    },
    types: './index.d.ts',
    peerDependencies,
    publishConfig: { access: 'public' },
  };
}
