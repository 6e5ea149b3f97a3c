import { endpoints, type Organization } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrokenInvariants } from '../../packages/server/testing/ledger.ts';
import type { App } from '../support/app.ts';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { eventually } from '../support/eventually.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { TestService } from '../support/service.ts';

let service: TestService;
let sandbox: Sandbox;
beforeAll(async () => {
  service = await TestService.hosted();
  sandbox = service.sandbox;
});
afterAll(async () => {
  expect(await findBrokenInvariants(service.database.db)).toEqual([]);
  await service.stop();
});

/** A new organisation without credits. */
const newApp = (): Promise<App> => service.organization();

async function organizationOf(app: App): Promise<Organization> {
  const reply = await app.get('/organization');
  expectAnswer(reply, endpoints.getOrganization);
  return reply.body as Organization;
}
async function addressOf(app: App): Promise<string> {
  const { depositAddress } = await organizationOf(app);
  expect(depositAddress).toMatch(/^0x[0-9a-f]{64}$/);
  return depositAddress ?? '';
}
const totalOf = async (app: App) => (await organizationOf(app)).balance.totalUsd;
const credited = (app: App, usd: number) =>
  eventually(
    () => totalOf(app),
    (total) => total >= usd,
  );
const report = (app: App, transactionHash: string) =>
  app.post('/organization/deposits', { transactionHash, chain: 'STARKNET' });

describe('USDC at a deposit address', () => {
  it('is credited without any call, and its report answers the entry', async () => {
    const app = await newApp();
    const hash = await sandbox.faucet(await addressOf(app), 'USDC', '12.5');
    expect(await credited(app, 12.5)).toBe(12.5);
    const reply = await report(app, hash);
    expectAnswer(reply, endpoints.createDeposit);
    expect(reply.body).toMatchObject({ type: 'DEPOSIT', amountUsd: 12.5, reference: hash });
    expect(await totalOf(app)).toBe(12.5);
  });

  it('is credited to the development organisation of npm start', async () => {
    const { app } = service;
    await sandbox.faucet(await addressOf(app), 'USDC', '3');
    expect(await credited(app, 10_003)).toBe(10_003);
  });

  it('is credited to its organisation alone: who reports the hash of another’s deposit gets nothing', async () => {
    const [app, stranger] = [await newApp(), await newApp()];
    const [address, strangers] = [await addressOf(app), await addressOf(stranger)];
    expect(address).not.toBe(strangers);
    const hash = await sandbox.faucet(address, 'USDC', '20');
    const [theft, own] = [await report(stranger, hash), await report(app, hash)];
    expectError(theft, 400, 'transaction_mismatch');
    expectAnswer(own, endpoints.createDeposit);
    await sandbox.faucet(strangers, 'USDC', '1');
    expect(await credited(stranger, 1)).toBe(1);
    expect(await totalOf(app)).toBe(20);
  });

  it('counts once although two processes follow the chain and are told of it at the same time', async () => {
    const app = await newApp();
    const second = app.at(await service.anotherHosted());
    const hash = await sandbox.faucet(await addressOf(app), 'USDC', '12.5');
    const replies = await Promise.all([app, second, app, second].map((each) => report(each, hash)));
    for (const reply of replies) expectAnswer(reply, endpoints.createDeposit);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    // By then both have read the block.
    await sandbox.faucet(await addressOf(app), 'USDC', '1');
    expect(await credited(app, 13.5)).toBe(13.5);
    expect((await app.get('/organization/ledger')).body).toMatchObject({ total: 2 });
  });

  it('is sent to the manager, who pays with it', async () => {
    const app = await newApp();
    const address = await addressOf(app);
    const { address: manager } = await sandbox.account('manager');
    const before = await app.balance(manager, 'USDC');
    await sandbox.faucet(address, 'USDC', '40');
    const swept = await eventually(
      () => app.balance(address, 'USDC'),
      (left) => left === 0n,
      60_000,
    );
    expect(swept).toBe(0n);
    expect((await app.balance(manager, 'USDC')) - before).toBeGreaterThanOrEqual(40_000_000n);
    expect(await totalOf(app)).toBe(40);
  }, 180_000);
});

describe('the payment address', () => {
  it('credits nobody, and the refusal names the deposit address', async () => {
    const app = await newApp();
    const { paymentAddress } = (await app.get('/config')).body as { paymentAddress: string };
    const refusal = await report(app, await sandbox.faucet(paymentAddress, 'USDC', '5'));
    expectError(refusal, 400, 'transaction_mismatch');
    expect(refusal.text).toContain(await addressOf(app));
    expect(await totalOf(app)).toBe(0);
  });
});
