import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importsOf } from '../../packages/sdk/build/manifest.ts';
import { type AnyService, TestService } from '../support/service.ts';
import { type Consumer, newConsumer } from './support/consumer.ts';

const protocol = path.resolve(import.meta.dirname, '../../packages/protocol/src/index.ts');
/** A bundle and compiler runs on a busy machine. */
const BUILD_LIMIT_MS = 300_000;

let service: AnyService;
let consumer: Consumer;

beforeAll(async () => {
  [service, consumer] = await Promise.all([TestService.shared(), newConsumer()]);
}, BUILD_LIMIT_MS);
afterAll(() => Promise.all([service?.stop(), consumer?.remove()]));

const tenLines = `
import { createSvc } from '@svc/sdk';
declare const process: { env: Record<string, string> };
const { BASE_URL: baseUrl = '', PUBLIC_KEY: publicKey = '', SECRET_KEY: secretKey = '' } = process.env;
const svc = createSvc({ baseUrl, publicKey, secretKey });
const wallet = await svc.createWallet({ encryptKey: '481516', externalUserId: 'ana', chain: 'STARKNET' });
const found = await svc.getWallet({ externalUserId: 'ana' });
const { balance } = await svc.getTokenBalance({ chain: 'STARKNET', chainToken: 'USDC', externalUserId: 'ana' });
const same: boolean = BigInt(found.publicKey) === BigInt(wallet.publicKey);
console.log(JSON.stringify({ same, balance: balance satisfies string }));
`;

const privateBalances = `
import { createSvc, SvcPrivateBalanceError } from '@svc/sdk';
import { type PrivateStep, terms } from '@svc/sdk/private-balance';
declare const process: { env: Record<string, string> };
const { BASE_URL: baseUrl = '', PUBLIC_KEY: publicKey = '', SECRET_KEY: secretKey = '' } = process.env;
const svc = createSvc({ baseUrl, publicKey, secretKey });
const { token, lagBlocks } = await svc.privateBalance.terms();
export const steps: PrivateStep[] = ['prepare', 'finish'];
export const blocks = (error: SvcPrivateBalanceError): number | undefined => error.blocksToWait;
await import('@svc/sdk/private-balance/worker');
console.log(JSON.stringify({ token: token satisfies string, lagBlocks: lagBlocks satisfies number, alone: typeof terms }));
`;

const mistakes = `
import { createSvc } from '@svc/sdk';
const svc = createSvc({ baseUrl: 'https://svc.example/v1', publicKey: 'pk_dev_1' });
export const one = svc.createWallet({ encryptKey: '1', externalUserId: 'ana', chain: 'SOLANA' });
export const two = svc.getTokenBalance({ chain: 'STARKNET', chainToken: 'EUR', externalUserId: 'ana' });
export const three: number = (await svc.getWallet({ externalUserId: 'ana' })).publicKey;
export const four = svc.getUsdAmount({ currencyAmount: 1 });
`;

const comparison = `
import type * as Ours from '${protocol}';
import type * as Published from './node_modules/@svc/sdk/protocol/index.js';
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type O = typeof Ours.endpoints;
type P = typeof Published.endpoints;
type Compared = {
  [K in keyof O & keyof P]: [
    Same<Ours.AnswerOf<O[K]>, Published.AnswerOf<P[K]>>,
    Same<Ours.BodyOf<O[K]>, Published.BodyOf<P[K]>>,
    Same<Ours.QueryOf<O[K]>, Published.QueryOf<P[K]>>,
    Same<Ours.ParamsOf<O[K]>, Published.ParamsOf<P[K]>>,
  ];
};
export const names: Same<keyof O, keyof P> = true;
export const compared = (value: Compared): { [K in keyof O]: [true, true, true, true] } => value;
`;

describe('the published package', () => {
  it('type-checks and runs in a project that has installed nothing else', async () => {
    await consumer.write('ten-lines.ts', tenLines);
    expect(await consumer.typeCheck('ten-lines.ts')).toBe('');
    const { baseUrl, publicKey, secretKey } = service.server.credentials;
    const printed = await consumer.run('ten-lines.ts', {
      BASE_URL: baseUrl,
      PUBLIC_KEY: publicKey,
      SECRET_KEY: secretKey,
    });
    expect(JSON.parse(printed)).toEqual({ same: true, balance: '0' });
  });

  it('has private balances and their worker as entries of their own', async () => {
    await consumer.write('private-balances.ts', privateBalances);
    expect(await consumer.typeCheck('private-balances.ts')).toBe('');
    const { baseUrl, publicKey, secretKey } = service.server.credentials;
    const env = { BASE_URL: baseUrl, PUBLIC_KEY: publicKey, SECRET_KEY: secretKey };
    const printed = await consumer.run('private-balances.ts', env);
    expect(JSON.parse(printed)).toEqual({ token: 'USDC', lagBlocks: 0, alone: 'function' });
  });

  it('has types that reject mistakes', async () => {
    await consumer.write('mistakes.ts', mistakes);
    const errors = await consumer.typeCheck('mistakes.ts');
    const lines = [...errors.matchAll(/^mistakes\.ts[(:](\d+)/gm)].map(([, line]) => Number(line));
    expect([...new Set(lines)]).toEqual([4, 5, 6, 7]);
  });

  it("has the types of the interface's schemas for every endpoint", async () => {
    await consumer.write('comparison.ts', comparison);
    expect(await consumer.typeCheck('comparison.ts', { skipLibCheck: true })).toBe('');
  });

  it('needs neither Node nor a schema library at run time', async () => {
    const needed = ['@noble/ciphers', '@scure/starknet', '@zxcvbn-ts/core', '@zxcvbn-ts/language-common', 'hash-wasm'];
    expect(await importsOf(consumer.library)).toEqual(needed);
    const { dependencies } = JSON.parse(await readFile(path.join(consumer.library, 'package.json'), 'utf8'));
    expect(Object.keys(dependencies)).toEqual(needed);
  });

  it('names neither workspace packages nor paths of the build machine', async () => {
    const files = (await readdir(consumer.library, { recursive: true })).filter((name) => /\.(js|ts|json)$/.test(name));
    expect(files.length).toBeGreaterThan(50);
    for (const file of files.filter((name) => name !== 'package.json')) {
      const text = await readFile(path.join(consumer.library, file), 'utf8');
      expect(text, file).not.toMatch(/(from|import\() ?['"](@svc\/|typebox|node:)/);
      expect(text, file).not.toContain(path.resolve(import.meta.dirname, '../..'));
    }
  });
});
