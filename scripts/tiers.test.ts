import { globSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import config from '../vitest.config.ts';

interface Tier {
  readonly test: { readonly name: string; readonly include: readonly string[]; readonly exclude?: readonly string[] };
}

const root = path.resolve(import.meta.dirname, '..');
const tiers = config.test?.projects as readonly Tier[];

function tiersOf(file: string): string[] {
  const matches = (pattern: string) => path.posix.matchesGlob(file, pattern);
  return tiers.flatMap(({ test: { name, include, exclude = [] } }) =>
    include.some(matches) && !exclude.some(matches) ? [name] : [],
  );
}

it('every test file belongs to exactly one tier', () => {
  const files = globSync('{packages,contracts,scripts,tests,bench,examples}/**/*.test.{ts,tsx}', {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  }).map((file) => file.replaceAll(path.sep, '/'));
  expect(files.length).toBeGreaterThan(400);
  expect(files.filter((file) => tiersOf(file).length !== 1)).toEqual([]);
});
