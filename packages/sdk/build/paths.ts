import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../../..');
export const packages = path.join(root, 'packages');
/** Packages that are bundled into the library, itself first. */
export const inside = ['sdk', 'protocol', 'starknet'] as const;

/** `packages/sdk/src/client/client.ts` is published as `sdk/client/client`. */
export function publishedName(source: string): string {
  const [name, , ...rest] = path.relative(packages, source).split(path.sep);
  return [name, ...rest].join('/').replace(/\.ts$/, '');
}

const sources = {
  '.': 'index',
  './private-balance': 'private-balance/index',
  './private-balance/worker': 'private-balance/worker',
};
/** What apps import, each with its published file. */
export const entries: readonly (readonly [name: string, file: string])[] = Object.entries(sources).map(
  ([name, source]) => [name, `sdk/${source}`],
);
export const entrySources = Object.values(sources).map((source) => path.join(packages, `sdk/src/${source}.ts`));
