import { describe, expect, it } from 'vitest';
import { measureSize } from '../../packages/sdk/build/measure-size.ts';

/** Measured in docs/benchmarks.md, with room for fixes. Before raising it, check what was added. */
const MAX_GZIP_BYTES = 50_000;
/** The estimate of a secret's strength, with its list of common passwords. */
const MAX_LAZY_GZIP_BYTES = 250_000;
/** A bundler beside other tests. */
const BUNDLE_LIMIT_MS = 60_000;

describe('what the library adds to an app with wallets', { timeout: BUNDLE_LIMIT_MS }, () => {
  it('stays small, without schemas and without a JSON-RPC library', async () => {
    const { gzip, lazyGzip, modules } = await measureSize('first-wallet.ts');
    expect(gzip).toBeLessThan(MAX_GZIP_BYTES);
    expect(lazyGzip).toBeLessThan(MAX_LAZY_GZIP_BYTES);
    expect(
      modules.filter((name) => /typebox|zxcvbn|schemas\/|endpoints\/|node_modules\/starknet\//.test(name)),
    ).toEqual([]);
  });

  it('loads private balances with their first use, also where the app has every operation', async () => {
    const { modules } = await measureSize('everything.ts');
    expect(modules.filter((name) => /private-balance|@noble\/ciphers/.test(name))).toEqual([]);
  });

  it('omits what the app does not use', async () => {
    const unused = ['gifts', 'gift-claims', 'gifts-bulk', 'purchases', 'sessions', 'skus'];
    const resourcesOf = async (entry: 'first-wallet.ts' | 'everything.ts') =>
      (await measureSize(entry)).modules.map((name) => /packages\/sdk\/src\/([^/.]+)/.exec(name)?.[1] ?? '');
    expect(await resourcesOf('everything.ts')).toEqual(expect.arrayContaining(unused));
    expect((await resourcesOf('first-wallet.ts')).filter((name) => unused.includes(name))).toEqual([]);
  });
});
