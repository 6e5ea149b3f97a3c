// Runs every `@example` of the doc comments in packages/sdk/src against a running service, each on its own and in any order.
//
// An example is plain JavaScript without imports and types. It may use every export of the library, and these names:
// `svc`, `client`, `baseUrl`, `publicKey`, `secretKey`, `bearerToken`, `nodeUrl`, `externalUserId`, `wallet`, `encryptKey`,
// `credentialId` (of the wallet's passkey), `recipient`, `spender`, `tokenAddress`, `transactionHash` (1.5 USDC to `recipient`),
// `storage`, `session` (registered), `earlierWallet`, `gift` with `redeemId`, `purchase`, `webhook`, `ownSku`, and `payload` with
// `me` (a recipient with `ownWallet`, `opener`, `recipientToken`, `passkeyOfRecipient` and `recoveryCode`), and `payload` with
// `headers` of a webhook, `member` (an owner) with `sessionToken`, `operator` with `operatorToken`, `treasury` with
// `proposal`, `readyProposal`, `signerKey` and `signerPrivateKey`, and `sharedTreasury`. Users: `ana`, who has a wallet, and the
// `externalUserId` of `wallet`. Add more in support/example-scope.ts.
import path from 'node:path';
import { createMember, createOperator, createSvc } from '@svc/sdk';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FakeAuthenticator } from '../../packages/sdk/testing/fake-authenticator.ts';
import { type AnyService, TestService } from '../support/service.ts';
import {
  EXAMPLE_LIMIT_MS,
  type ExampleFixture,
  PREPARE_LIMIT_MS,
  prepareExamples,
  scopeOf,
} from './support/example-scope.ts';
import { readExamples } from './support/read-examples.ts';
import { runExample } from './support/run-example.ts';

const examples = readExamples(path.resolve(import.meta.dirname, '../../packages/sdk/src'));
let service: AnyService;
let fixture: ExampleFixture;

beforeAll(async () => {
  service = await TestService.shared();
  const origin = `http://localhost:${new URL(service.server.origin).port}`;
  vi.stubGlobal('navigator', { userAgent: navigator.userAgent, credentials: new FakeAuthenticator({ origin }) });
  fixture = await prepareExamples(service);
}, PREPARE_LIMIT_MS);
afterAll(async () => {
  vi.unstubAllGlobals();
  await service.stop();
});

describe('the examples in doc comments', () => {
  it.each(examples.map(({ place, code }) => [place, code]))(
    'run: %s',
    async (_, code) => {
      await runExample(code, await scopeOf(fixture, code));
    },
    EXAMPLE_LIMIT_MS,
  );

  it('cover every operation', () => {
    const all = examples.map(({ code }) => code).join('\n');
    const baseUrl = 'https://svc.example/v1';
    const clients = {
      svc: createSvc({ baseUrl, publicKey: 'pk_dev_x' }),
      operator: createOperator({ baseUrl, operatorToken: 'op' }),
      member: createMember({ baseUrl, sessionToken: 'x'.repeat(43) }),
    };
    const names = Object.entries(clients).flatMap(([client, operations]) =>
      Object.entries(operations).flatMap(([name, value]) =>
        typeof value === 'function'
          ? [`${client}.${name}`]
          : Object.keys(value).map((inner) => `${client}.${name}.${inner}`),
      ),
    );
    const missing = names.filter((name) => !all.includes(`${name}(`));
    expect(missing).toEqual([]);
  });

  it('are checked: a failing one fails the test', async () => {
    await expect(runExample('await svc.getSku({ id: "none" });', fixture.common)).rejects.toThrow();
    await expect(runExample('undeclared.name();', fixture.common)).rejects.toThrow(ReferenceError);
  });
});
