import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { entries, inside, packages } from './paths.ts';

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * The published package.json. Its dependencies are the packages that the built modules import, in the versions of the
 * workspace.
 */
export async function manifest(outDir: string): Promise<Record<string, unknown>> {
  const ours = await Promise.all(inside.map(readManifest));
  const known = Object.assign({}, ...ours.map(({ dependencies }) => dependencies)) as Record<string, string>;
  const imported = await importsOf(outDir);
  return {
    name: '@svc/sdk',
    version: ours[0]?.version,
    description: 'Wallets, payments and gift codes in the browser and on servers',
    license: 'MIT',
    type: 'module',
    sideEffects: ['./sdk/private-balance/worker.js'],
    exports: {
      ...Object.fromEntries(
        entries.map(([name, file]) => [name, { types: `./${file}.d.ts`, default: `./${file}.js` }] as const),
      ),
      './package.json': './package.json',
    },
    types: './sdk/index.d.ts',
    engines: { node: '>=20' },
    dependencies: Object.fromEntries(imported.map((name) => [name, versionOf(name, known)])),
    publishConfig: { access: 'public' },
  };
}

export async function importsOf(outDir: string): Promise<string[]> {
  const files = (await readdir(outDir, { recursive: true })).filter((name) => name.endsWith('.js'));
  const texts = await Promise.all(files.map((file) => readFile(path.join(outDir, file), 'utf8')));
  const targets = texts.flatMap((text) =>
    [...text.matchAll(/(?:^|\n)(?:import|export)\b[^'"\n]*?['"]([^'"\n]+)['"]|\bimport\(\s*['"]([^'"\n]+)['"]/g)].map(
      ([, fixed, lazy]) => fixed ?? lazy ?? '',
    ),
  );
  const names = targets.filter((target) => !target.startsWith('.')).map(packageOf);
  return [...new Set(names)].sort();
}

/** `@noble/curves/abstract` is part of the package `@noble/curves`. */
function packageOf(target: string): string {
  return target.split('/', target.startsWith('@') ? 2 : 1).join('/');
}

function versionOf(name: string, known: Record<string, string>): string {
  const version = known[name];
  if (version === undefined)
    throw new Error(`The library imports ${name}, and none of our packages names its version.`);
  return version;
}

async function readManifest(name: string): Promise<Manifest> {
  return JSON.parse(await readFile(path.join(packages, name, 'package.json'), 'utf8')) as Manifest;
}
