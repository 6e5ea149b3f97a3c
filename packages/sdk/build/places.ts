import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../../..');
export const packages = path.join(root, 'packages');
/** The packages whose code the library carries inside, itself first. */
export const inside = ['sdk', 'protocol', 'starknet'] as const;

/** `packages/sdk/src/client/client.ts` is published as `sdk/client/client`, its declarations beside it. */
export function publishedName(source: string): string {
  const [name, , ...rest] = path.relative(packages, source).split(path.sep);
  return [name, ...rest].join('/').replace(/\.ts$/, '');
}
