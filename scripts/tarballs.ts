// Builds the packages that apps install, in the version of this repository.
//
//   npm run tarballs     writes dist/tarballs/svc-sdk-….tgz, svc-react-….tgz and svc-cli-….tgz
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildPackage as buildCli } from '../packages/cli/build/build-package.ts';
import { buildPackage as buildReact } from '../packages/react/build/build-package.ts';
import { buildPackage as buildSdk } from '../packages/sdk/build/build-package.ts';
import { type Manifest, setVersion } from './release-plan.ts';

const root = path.resolve(import.meta.dirname, '..');

/** Packages that apps install; the others are parts of the service, which runs from this repository. Built with the library at hand. */
export const published = [
  { name: '@svc/sdk', build: (folder: string, sdk: string) => cp(sdk, folder, { recursive: true }) },
  { name: '@svc/react', build: buildReact },
  { name: '@svc/cli', build: (folder: string) => buildCli(folder) },
];

export interface Tarball {
  readonly name: string;
  readonly file: string;
  readonly entryCount: number;
  readonly size: number;
  readonly integrity: string;
}

/** Builds every published package and packs it into the folder. */
export async function buildTarballs(version: string, outDir: string): Promise<Tarball[]> {
  const sdk = mkdtempSync(path.join(tmpdir(), 'svc-release-'));
  try {
    await buildSdk(sdk);
    return await packAll(version, outDir, sdk);
  } finally {
    rmSync(sdk, { recursive: true, force: true });
  }
}

/** With the library as it was built in a folder. */
export async function packAll(version: string, outDir: string, sdk: string): Promise<Tarball[]> {
  rmSync(outDir, { recursive: true, force: true });
  mkdirSync(outDir, { recursive: true });
  const tarballs = [];
  for (const { name, build } of published) {
    const folder = mkdtempSync(path.join(tmpdir(), 'svc-release-'));
    try {
      await build(folder, sdk);
      const manifest = path.join(folder, 'package.json');
      // The tarball carries the new version before the repository does.
      const released = setVersion(JSON.parse(readFileSync(manifest, 'utf8')) as Manifest, version);
      writeFileSync(manifest, `${JSON.stringify(released, undefined, 2)}\n`);
      tarballs.push(pack(name, folder, outDir));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return tarballs;
}

function pack(name: string, folder: string, outDir: string): Tarball {
  const answer = npm('pack', folder, '--json', '--pack-destination', outDir);
  const [packed] = JSON.parse(answer) as { filename: string; size: number; entryCount: number; integrity: string }[];
  if (!packed) throw new Error(`npm packed nothing for ${name}.`);
  const { filename, size, entryCount, integrity } = packed;
  return { name, file: path.join(outDir, filename), size, entryCount, integrity };
}

/** The npm that runs this script, else the one on the path. */
export function npm(...args: string[]): string {
  const { npm_execpath: own } = process.env;
  const [command, first] = own?.endsWith('.js') ? [process.execPath, [own]] : ['npm', []];
  const isTask = args[0] === 'run';
  const result = spawnSync(command, [...first, ...args], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', isTask ? 'inherit' : 'pipe', isTask ? 'inherit' : 'pipe'],
  });
  if (result.status !== 0) throw new Error(`npm ${args.join(' ')} failed.\n${result.stderr ?? ''}`);
  return result.stdout ?? '';
}

if (process.argv[1] === import.meta.filename) {
  const { version = '' } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest;
  for (const { file } of await buildTarballs(version, path.join(root, 'dist/tarballs'))) {
    console.log(path.relative(process.cwd(), file));
  }
}
