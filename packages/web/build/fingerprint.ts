import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { entries } from './entries.ts';
import { root } from './paths.ts';

/** Sources and dependency versions of the pages. */
const SOURCES = [
  ...Object.values(entries).map((file) => `packages/web/${file}`),
  'packages/web/src',
  'packages/web/build',
  'packages/sdk/src',
  'packages/starknet/src',
  'packages/protocol/src',
  'package-lock.json',
];
const LENGTH = 16;

/** Equal fingerprints mean equal builds. Test files do not count. */
export async function fingerprint(folder: string = root, sources: readonly string[] = SOURCES): Promise<string> {
  const hash = createHash('sha256');
  for (const source of sources) {
    for (const file of await filesAt(path.join(folder, source))) {
      hash.update(`${path.relative(folder, file).split(path.sep).join('/')}\0`);
      hash.update(await readFile(file)).update('\0');
    }
  }
  return hash.digest('hex').slice(0, LENGTH);
}

async function filesAt(place: string): Promise<string[]> {
  const entries = await readdir(place, { withFileTypes: true, recursive: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOTDIR') return undefined;
      throw error;
    },
  );
  if (entries === undefined) return [place];
  return entries
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !/[/\\]testing[/\\]/.test(file))
    .sort();
}
