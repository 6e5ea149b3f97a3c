import { createClient, type Wallet } from '@svc/sdk';
import { QueryClient } from '@tanstack/react-query';
import { build } from 'vite';
import { afterEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import type { ChangeHook, ReadHook } from './factory.ts';
import * as hooks from './index.ts';
import { svcKey } from './keys.ts';
import * as options from './options.ts';
import { createVault, withoutSecrets } from './secrets.ts';

const stored = { publicKey: '0x0b', encryptedPrivateKey: 'svc1.secret', externalUserId: 'ana', walletType: 'SVC' };

/** A service that gives every request the same answer. */
const clientOf = (status: number, body: unknown) =>
  createClient({
    baseUrl: 'https://svc.example/v1',
    publicKey: 'pk_dev_1',
    bearerToken: 'of-ana',
    maxRetries: 0,
    fetch: async () => Response.json(body, { status }),
  });

describe('query options', () => {
  it('read without React, under a key that names no secret', async () => {
    const client = clientOf(200, stored);
    const asked = options.walletOptions(client, { externalUserId: 'ana' });
    const queries = new QueryClient();
    const { encryptedPrivateKey, ...shown } = stored;
    expect(await queries.fetchQuery(asked)).toEqual(shown);
    expect(asked.queryKey).toEqual(['svc', 'pk_dev_1', 'wallet', { externalUserId: 'ana' }]);
    expect(
      JSON.stringify(
        queries
          .getQueryCache()
          .getAll()
          .map(({ state }) => state),
      ),
    ).not.toContain(encryptedPrivateKey);
    // The key knows the type of what is stored under it.
    expectTypeOf(queries.getQueryData(asked.queryKey)).toEqualTypeOf<options.CachedWallet | null | undefined>();
    expect(queries.getQueryData(asked.queryKey)?.publicKey).toBe('0x0b');
  });

  it('answer null for a user without a wallet, and the error of every other refusal', async () => {
    const read = (status: number, error: string) =>
      new QueryClient().fetchQuery(
        options.walletOptions(clientOf(status, { error, message: 'No.' }), { externalUserId: 'ana' }),
      );
    expect(await read(404, 'wallet_not_found')).toBeNull();
    await expect(read(401, 'invalid_token')).rejects.toMatchObject({ code: 'invalid_token' });
  });

  it('belong to the beginning of keys that invalidates them', () => {
    const client = clientOf(200, {});
    const { queryKey } = options.balanceOptions(client, {
      chain: 'STARKNET',
      chainToken: 'USDC',
      externalUserId: 'ana',
    });
    expect(queryKey.slice(0, 3)).toEqual(svcKey(client, 'balance'));
    expect(queryKey.slice(0, 2)).toEqual(svcKey(client));
  });

  it('poll until the value is final', () => {
    const { refetchInterval } = options.purchaseOptions(clientOf(200, {}), { id: '1' });
    const after = (data: unknown, status = 'success') =>
      (refetchInterval as (query: unknown) => number | false)({ state: { data, status } });
    expect([after({ status: 'PROCESSING' }), after(undefined, 'pending')]).toEqual([2_000, 2_000]);
    expect([after({ status: 'SUCCESS' }), after({ status: 'FAILED' }), after(undefined, 'error')]).toEqual([
      ...[false, false, false],
    ]);
  });
});

describe('secrets', () => {
  afterEach(() => vi.useRealTimers());

  it('are left out of parameters and results, at every place that holds them', () => {
    const onProgress = () => undefined;
    const params = {
      encryptKey: 'pin',
      newEncryptKey: 'pin2',
      backupEncryptKey: 'pin3',
      wallet: stored,
      session: { publicKey: '0x1', encryptedPrivateKey: 'svc1.session' },
      limit: 5n,
      onProgress,
    };
    const kept = withoutSecrets(params);
    expect(kept).toEqual({
      wallet: { publicKey: '0x0b', externalUserId: 'ana', walletType: 'SVC' },
      session: { publicKey: '0x1' },
      limit: 5n,
      onProgress,
    });
    expectTypeOf(kept).not.toHaveProperty('encryptKey');
    expectTypeOf(kept.wallet).not.toHaveProperty('encryptedPrivateKey');
    expect(withoutSecrets('0xhash')).toBe('0xhash');
  });

  it('of an opened wallet are forgotten in time, on demand, and never kept without a time', () => {
    vi.useFakeTimers();
    const heard = vi.fn();
    const vault = createVault(1_000);
    vault.subscribe(heard);
    vault.put('0x0B', 'pin');
    expect(vault.get('0xb')).toBe('pin');
    vi.advanceTimersByTime(1_000);
    expect(vault.get('0xb')).toBeUndefined();
    vault.put('0x1', 'pin');
    vault.forget('0x1');
    expect(vault.get('0x1')).toBeUndefined();
    expect(heard).toHaveBeenCalledTimes(4);
    const closed = createVault(0);
    closed.put('0x1', 'pin');
    expect(closed.get('0x1')).toBeUndefined();
  });
});

describe('the types of hooks', () => {
  it('are those of the SDK, with the wallet of useWallet and without a PIN where useUnlock gives it', () => {
    expectTypeOf(hooks.useWallet).toExtend<
      ReadHook<{ readonly externalUserId: string }, options.CachedWallet | null>
    >();
    expectTypeOf(hooks.useSkus).toBeCallableWith();
    expectTypeOf(hooks.useConfig).toBeCallableWith();
    expectTypeOf(hooks.useWallet).toBeCallableWith(hooks.skipToken);
    type Params<H> = H extends ChangeHook<infer P, unknown> ? P : never;
    type Transfer = Parameters<ReturnType<typeof hooks.useTransfer>['mutate']>[0];
    const payment = { amount: '1', token: 'USDC', recipient: '0x1' } as const;
    expectTypeOf<{ wallet: options.CachedWallet } & typeof payment>().toExtend<Transfer>();
    expectTypeOf<{ wallet: Wallet; encryptKey: string } & typeof payment>().toExtend<Transfer>();
    expectTypeOf<{ wallet: { publicKey: string } } & typeof payment>().not.toExtend<Transfer>();
    expectTypeOf<Params<typeof hooks.useExecuteWithSession>>().toHaveProperty('encryptKey').toEqualTypeOf<string>();
    type Variables = NonNullable<ReturnType<typeof hooks.useTransfer>['variables']>;
    expectTypeOf<Variables>().not.toHaveProperty('encryptKey');
  });
});

describe('a bundle', () => {
  const entry = 'virtual:entry';
  const modulesOf = async (code: string) => {
    const result = await build({
      configFile: false,
      logLevel: 'error',
      plugins: [
        {
          name: 'entry',
          resolveId: (id) => (id === entry ? `${import.meta.dirname}/entry.ts` : null),
          load: (id) => (id.endsWith('/entry.ts') ? code : null),
        },
      ],
      build: { write: false, rolldownOptions: { input: entry, preserveEntrySignatures: 'strict' } },
    });
    const chunks = [result].flat().flatMap((built) => ('output' in built ? built.output : []));
    return chunks
      .flatMap((chunk) => (chunk.type === 'chunk' ? Object.entries(chunk.modules) : []))
      .filter(([, { renderedLength }]) => renderedLength > 0)
      .map(([id]) => id);
  };

  it('holds what its hooks use and nothing else', async () => {
    const modules = (await modulesOf("export { useSkus } from '@svc/react';")).join('\n');
    expect(modules).toContain('packages/sdk/src/skus.ts');
    expect(modules).not.toMatch(
      /packages\/sdk\/src\/(purchases|sessions|signing|keys|wallets)|packages\/react\/src\/wallets/,
    );
  });

  it('holds private balances only where their own entry is used', async () => {
    const modules = async (code: string) => (await modulesOf(code)).join('\n');
    expect(await modules("export * from '@svc/react';")).not.toContain('packages/starknet/src/private-balance');
    const own = await modules("export { useShield } from '@svc/react/private-balance';");
    expect(own).toContain('packages/sdk/src/private-balance/operations.ts');
  });

  it('of query options alone holds no React', async () => {
    const modules = (await modulesOf("export { walletOptions } from '@svc/react/options';")).join('\n');
    expect(modules).not.toMatch(/node_modules\/(react|@tanstack)\//);
  });
});

describe('the hooks', () => {
  it('work in their provider only, which only client components can hold', async () => {
    const { readFileSync, readdirSync } = await import('node:fs');
    const isServerSafe = ['index.ts', 'keys.ts', 'options.ts', 'secrets.ts'];
    const sources = readdirSync(import.meta.dirname).filter((name) => !name.endsWith('.test.ts'));
    const marked = sources.filter((name) =>
      readFileSync(`${import.meta.dirname}/${name}`, 'utf8').startsWith("'use client';\n"),
    );
    expect(marked.sort()).toEqual(sources.filter((name) => !isServerSafe.includes(name)).sort());
  });
});
