import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { USDC } from '../support/starknet-client.ts';
import type { LibraryPage } from './pages/sdk-page.ts';
import { addAuthenticator } from './support/authenticator.ts';
import { BROWSER_LIMIT_MS } from './support/chromium.ts';
import { type LibraryPages, openLibraryPages } from './support/library-page.ts';

/** Global of the page: functions passed to `evaluate` run there. */
declare const sdk: LibraryPage['sdk'];

/** Every backup stretches a key, on a busy machine. */
const STORY_LIMIT_MS = 120_000;

let pages: LibraryPages;

beforeAll(async () => {
  pages = await openLibraryPages();
}, BROWSER_LIMIT_MS);
afterAll(() => pages?.stop());

/** A page of a new user. */
async function newUser() {
  const externalUserId = `user ${randomUUID()}`;
  const [page, options] = await Promise.all([pages.openInTest(), pages.optionsOf(externalUserId)]);
  const calls = [{ contractAddress: USDC, entrypoint: 'approve', calldata: ['0xb0b', 1, 0] }];
  return { page, given: { options, externalUserId, calls } };
}

describe('in Chromium, a passkey', { timeout: STORY_LIMIT_MS }, () => {
  it('locks a new wallet and, after a reload, opens it again', async () => {
    const { page, given } = await newUser();
    await addAuthenticator(page);
    const made = await page.evaluate(async ({ options, externalUserId }) => {
      const svc = sdk.createSvc(options);
      const params = { encryptKey: 'kept elsewhere', externalUserId, chain: 'STARKNET', usePasskey: true } as const;
      const wallet = await svc.createWallet(params);
      await svc.waitForTransaction(wallet.transactionHash, { retryIntervalMs: 100 });
      return wallet;
    }, given);
    await page.reload();
    const seen = await page.evaluate(async ({ options, externalUserId, calls }) => {
      const svc = sdk.createSvc(options);
      const wallet = await svc.getWallet({ externalUserId });
      const encryptKey = await svc.passkeys.unlock({ externalUserId });
      const hash = await svc.callAnyContract({ encryptKey, wallet, calls });
      const { success } = await svc.waitForTransaction(hash, { retryIntervalMs: 100 });
      return { publicKey: wallet.publicKey, kind: encryptKey.split('.')[0], success };
    }, given);
    expect(seen).toEqual({ publicKey: made.publicKey, kind: 'prf1', success: true });
  });

  it('leaves the backup as an alternative', async () => {
    const { page, given } = await newUser();
    await addAuthenticator(page);
    const hash = await page.evaluate(async ({ options, externalUserId, calls }) => {
      const svc = sdk.createSvc(options);
      const params = { encryptKey: 'my backup', externalUserId, chain: 'STARKNET' as const, usePasskey: true };
      const wallet = await svc.createWallet(params);
      await svc.waitForTransaction(wallet.transactionHash, { retryIntervalMs: 100 });
      return svc.callAnyContract({ encryptKey: 'my backup', wallet, calls });
    }, given);
    expect(hash).toMatch(/^0x/);
  });

  it('replaces a PIN', async () => {
    const { page, given } = await newUser();
    await addAuthenticator(page);
    const seen = await page.evaluate(async ({ options, externalUserId, calls }) => {
      const svc = sdk.createSvc(options);
      const made = await svc.createWallet({ encryptKey: '1234', externalUserId, chain: 'STARKNET' });
      await svc.waitForTransaction(made.transactionHash, { retryIntervalMs: 100 });
      await svc.passkeys.changeTo({ externalUserId, wallet: made, encryptKey: '1234' });
      const wallet = await svc.getWallet({ externalUserId });
      const withPin = svc.callAnyContract({ encryptKey: '1234', wallet, calls });
      const pin = await withPin.catch((error: { code: string }) => error.code);
      const encryptKey = await svc.passkeys.unlock({ externalUserId });
      return { pin, passkey: await svc.callAnyContract({ encryptKey, wallet, calls }) };
    }, given);
    expect(seen).toEqual({ pin: 'decryption_failed', passkey: expect.stringMatching(/^0x/) });
  });

  const refusals = [
    { what: 'a device that derives no keys', authenticator: { hasPrf: false }, code: 'passkey_prf_unsupported' },
    { what: 'a user who does not confirm', authenticator: { isUserVerified: false }, code: 'passkey_cancelled' },
  ];
  it.each(refusals)('of $what creates no wallet, and gives $code', async ({ authenticator, code }) => {
    const { page, given } = await newUser();
    await addAuthenticator(page, authenticator);
    const seen = await page.evaluate(async ({ options, externalUserId }) => {
      const svc = sdk.createSvc(options);
      const codeOf = (promise: Promise<unknown>) =>
        promise.then(
          () => 'done',
          (error: { code: string }) => error.code,
        );
      const params = { encryptKey: 'backup', externalUserId, chain: 'STARKNET' as const, usePasskey: true };
      return {
        created: await codeOf(svc.createWallet(params)),
        found: await codeOf(svc.getWallet({ externalUserId })),
      };
    }, given);
    expect(seen).toEqual({ created: code, found: 'wallet_not_found' });
  });

  it('of another device does not open the wallet', async () => {
    const { page, given } = await newUser();
    await addAuthenticator(page);
    await page.evaluate(({ options, externalUserId }) => {
      const params = { encryptKey: 'backup', externalUserId, chain: 'STARKNET' as const, usePasskey: true };
      return sdk.createSvc(options).createWallet(params);
    }, given);
    const other = await pages.openInTest();
    await addAuthenticator(other);
    const code = await other.evaluate(
      ({ options, externalUserId }) =>
        sdk
          .createSvc(options)
          .passkeys.unlock({ externalUserId })
          .catch((error: { code: string }) => error.code),
      given,
    );
    expect(code).toMatch(/^passkey_/);
  });
});
