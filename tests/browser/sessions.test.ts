import type { SvcWallet } from '@svc/sdk';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { USDC } from '../support/starknet-client.ts';
import type { LibraryPage } from './pages/sdk-page.ts';
import { BROWSER_LIMIT_MS } from './support/chromium.ts';
import { newFilledWallet } from './support/filled-wallet.ts';
import { type LibraryPages, openLibraryPages, type PageOptions } from './support/library-page.ts';

/** Global of the page: functions passed to `evaluate` run there. */
declare const sdk: LibraryPage['sdk'];

const encryptKey = '481516';
const externalUserId = 'ana';
/** Every signature stretches a key, on a busy machine. */
const STORY_LIMIT_MS = 120_000;

let pages: LibraryPages;
let page: Page;
let options: PageOptions;
let wallet: SvcWallet;

beforeAll(async () => {
  pages = await openLibraryPages({ stretchesOnce: true });
  [page, options] = await Promise.all([pages.open(), pages.optionsOf(externalUserId)]);
  wallet = await newFilledWallet(pages.server, page, { options, encryptKey, externalUserId });
}, BROWSER_LIMIT_MS);
afterAll(() => pages?.stop());

/** Arguments of the functions below. */
const given = () => ({ options, wallet, encryptKey, recipient: '0xb0b', usdc: USDC });

describe('in Chromium, the library', { timeout: STORY_LIMIT_MS }, () => {
  it('registers, uses and revokes a session key', async () => {
    const seen = await page.evaluate(async ({ options, wallet, encryptKey, usdc, recipient }) => {
      const svc = sdk.createSvc(options);
      const wait = (hash: string) => svc.waitForTransaction(hash, { retryIntervalMs: 100 });
      const session = await svc.sessions.createSessionKey({ encryptKey: '2342' });
      const { publicKey: sessionPublicKey, validUntil } = session;
      const sessionConfig = { sessionPublicKey, validUntil, maxCalls: 2, allowedEntrypoints: ['transfer'] };
      await wait(await svc.sessions.addSessionKeyToContract({ encryptKey, wallet, sessionConfig }));
      const read = () => svc.sessions.getSessionData({ walletAddress: wallet.publicKey, sessionPublicKey });
      const call = (entrypoint: string) => ({ contractAddress: usdc, entrypoint, calldata: [recipient, 1, 0] });
      const use = (entrypoint: string) =>
        svc.executeTransactionWithSession({ encryptKey: '2342', wallet, session, calls: [call(entrypoint)] });
      const code = (promise: Promise<unknown>) => promise.catch((error: { code: string }) => error.code);
      const registered = await read();
      const used = (await wait(await use('transfer'))).success;
      const refused = await code(use('approve'));
      const afterUse = await read();
      await wait(await svc.sessions.revokeSessionKey({ encryptKey, wallet, sessionPublicKey }));
      return { registered, used, refused, afterUse, revoked: await code(use('transfer')) };
    }, given());
    expect(seen).toMatchObject({
      registered: { isActive: true, remainingCalls: 2 },
      used: true,
      refused: 'SESSION_ENTRYPOINT_NOT_ALLOWED',
      afterUse: { isActive: true, remainingCalls: 1 },
      revoked: 'SESSION_REVOKED',
    });
  });

  it('sets a session up with a spending policy, which the wallet enforces until it is removed', async () => {
    const seen = await page.evaluate(async ({ options, wallet, encryptKey, usdc, recipient }) => {
      const svc = sdk.createSvc(options);
      const wait = (hash: string) => svc.waitForTransaction(hash, { retryIntervalMs: 100 });
      const session = await svc.sessions.createSessionKey({ encryptKey });
      const { publicKey: sessionPublicKey, validUntil } = session;
      const limits = { token: usdc, maxPerCall: 10n, maxPerWindow: 20n, windowSeconds: 3_600 };
      const sessionConfig = { sessionPublicKey, validUntil, maxCalls: 9, allowedEntrypoints: [] };
      await wait(await svc.sessions.setupSession({ encryptKey, wallet, sessionConfig, spendingPolicies: [limits] }));
      const spend = (amount: number) =>
        svc.executeTransactionWithSession({
          encryptKey,
          wallet,
          session,
          calls: [{ contractAddress: usdc, entrypoint: 'transfer', calldata: [recipient, amount, 0] }],
        });
      const read = () =>
        svc.sessions.getSpendingPolicy({ walletAddress: wallet.publicKey, sessionPublicKey, token: usdc });
      await wait(await spend(10));
      const over = await spend(11).catch((error: Error) => error.message);
      const policy = await read();
      const spendingPolicyConfig = { ...limits, sessionPublicKey, maxPerCall: 11n };
      await wait(await svc.sessions.setSpendingPolicy({ encryptKey, wallet, spendingPolicyConfig }));
      const raised = (await wait(await spend(11))).success;
      await wait(await svc.sessions.removeSpendingPolicy({ encryptKey, wallet, sessionPublicKey, token: usdc }));
      return { over, policy, raised, removed: await read(), unlimited: (await wait(await spend(50))).success };
    }, given());
    expect(seen.over).toContain('Spending: exceeds per-call');
    expect(seen).toMatchObject({
      policy: { maxPerCall: 10n, maxPerWindow: 20n, windowSeconds: 3_600, spentInWindow: 10n },
      raised: true,
      removed: { maxPerCall: 0n, maxPerWindow: 0n, windowSeconds: 0, spentInWindow: 0n, windowStart: 0 },
      unlimited: true,
    });
  });
});
