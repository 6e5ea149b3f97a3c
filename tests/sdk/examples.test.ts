// Every `@example` in a doc comment of packages/sdk/src runs here, against the running service, each by itself and in no order.
//
// An example is plain JavaScript, without imports and types. It may name everything that the library exports, and without
// further ado `svc`, `client`, `baseUrl`, `publicKey`, `secretKey`, `bearerToken`, `nodeUrl`, `externalUserId`, `wallet`, `encryptKey`,
// `credentialId` (of the wallet's passkey), `recipient`, `spender`, `tokenAddress`, `transactionHash` (of 1.5 USDC to `recipient`),
// `storage`, `session` (registered), `earlierWallet`, `gift` with `redeemId`, `purchase`, `webhook`, `ownSku`, and `payload` with `headers` of a webhook. More goes
// into support/example-scope.ts. Users are `ana`, who has a wallet, and the `externalUserId` of `wallet`.
import path from 'node:path';
import { createSvc } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FakeAuthenticator } from '../../packages/sdk/testing/fake-authenticator.ts';
import { startService, type TestService } from '../support/service.ts';
import {
  EXAMPLE_LIMIT_MS,
  type ExampleWorld,
  PREPARE_LIMIT_MS,
  prepareExampleWorld,
  scopeOf,
} from './support/example-scope.ts';
import { readExamples } from './support/read-examples.ts';
import { runExample } from './support/run-example.ts';

const examples = readExamples(path.resolve(import.meta.dirname, '../../packages/sdk/src'));
let service: TestService;
let world: ExampleWorld;

beforeAll(async () => {
  vi.stubGlobal('navigator', { userAgent: navigator.userAgent, credentials: new FakeAuthenticator() });
  service = await startService();
  world = await prepareExampleWorld(service);
}, PREPARE_LIMIT_MS);
afterAll(async () => {
  vi.unstubAllGlobals();
  await service.stop();
});

describe('the examples in the comments', () => {
  it.each(examples.map(({ place, code }) => [place, code]))(
    'run: %s',
    async (_, code) => {
      await runExample(code, await scopeOf(world, code));
    },
    EXAMPLE_LIMIT_MS,
  );

  it('show every operation', () => {
    const all = examples.map(({ code }) => code).join('\n');
    const svc = createSvc({ baseUrl: 'https://svc.example/v1', publicKey: 'pk_dev_x' });
    const names = Object.entries(svc).flatMap(([name, value]) =>
      typeof value === 'function' ? [name] : Object.keys(value).map((inner) => `${name}.${inner}`),
    );
    const missing = names.filter((name) => !all.includes(`svc.${name}(`));
    expect(missing).toEqual([]);
  });

  it('are checked: one that fails, fails', async () => {
    await expect(runExample('await svc.getSku({ id: "none" });', world.common)).rejects.toThrow();
    await expect(runExample('nobody.knows();', world.common)).rejects.toThrow(ReferenceError);
  });
});
