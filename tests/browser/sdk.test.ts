import { randomUUID } from 'node:crypto';
import type { SvcWallet } from '@svc/sdk';
import { formatPrivateAddress, publicPoint } from '@svc/starknet/private-balance';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App } from '../support/app.ts';
import { USDC } from '../support/starknet-client.ts';
import type { LibraryPage } from './pages/sdk-page.ts';
import { BROWSER_LIMIT_MS } from './support/chromium.ts';
import { newFilledWallet } from './support/filled-wallet.ts';
import { type LibraryPages, openLibraryPages, type PageOptions } from './support/library-page.ts';

/** Global of the page: functions passed to `evaluate` run there. */
declare const sdk: LibraryPage['sdk'];
declare const askWorker: LibraryPage['askWorker'];
declare const startProofWorker: LibraryPage['startProofWorker'];

const encryptKey = '481516';
const externalUserId = 'ana';
const RECIPIENT = '0xb0b';
/** Every owner signature stretches a key, on a busy machine. */
const STORY_LIMIT_MS = 120_000;

let pages: LibraryPages;
let page: Page;
let options: PageOptions;
let wallet: SvcWallet;

beforeAll(async () => {
  pages = await openLibraryPages();
  [page, options] = await Promise.all([pages.open(), pages.optionsOf(externalUserId)]);
  wallet = await newFilledWallet(pages.server, page, { options, encryptKey, externalUserId });
}, BROWSER_LIMIT_MS);
afterAll(() => pages?.stop());

/** Arguments of the functions below. */
const given = () => ({ options, wallet, encryptKey, externalUserId, recipient: RECIPIENT, usdc: USDC });

describe('in Chromium, the library', { timeout: STORY_LIMIT_MS }, () => {
  it('creates a wallet that opens with its PIN, and finds it again', async () => {
    expect(wallet).toEqual({
      publicKey: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      encryptedPrivateKey: expect.stringMatching(/^svc1\./),
      walletType: 'SVC',
      classHash: expect.stringMatching(/^0x/),
      transactionHash: expect.stringMatching(/^0x/),
      isNew: true,
    });
    const found = await page.evaluate(
      ({ options, externalUserId }) => sdk.createSvc(options).getWallet({ externalUserId }),
      given(),
    );
    expect(found).toMatchObject({ publicKey: wallet.publicKey, encryptedPrivateKey: wallet.encryptedPrivateKey });
  });

  it('transfers, waits for the receipt, and shows the transfer in status, record and list', async () => {
    const seen = await page.evaluate(async ({ options, wallet, encryptKey, recipient }) => {
      const svc = sdk.createSvc(options);
      const hash = await svc.transfer({ encryptKey, wallet, amount: '1.5', token: 'USDC', recipient });
      const receipt = await svc.waitForTransaction(hash, { retryIntervalMs: 100 });
      const { rpcUrl } = await svc.getConfig();
      const alone = await sdk.waitForTransaction(hash, { nodeUrl: rpcUrl });
      const { items, total } = await svc.getTransactionList({ walletAddress: wallet.publicKey });
      return {
        hash,
        receipt,
        same: alone.blockNumber === receipt.blockNumber,
        status: await svc.getTransactionStatus({ hash }),
        record: await svc.getTransaction({ hashOrId: hash }),
        listed: items.some((item) => item.transactionHash === hash) && total >= items.length,
      };
    }, given());
    expect(seen).toMatchObject({
      receipt: { transactionHash: seen.hash, success: true, executionStatus: 'SUCCEEDED' },
      same: true,
      status: { transactionHash: seen.hash, status: 'ACCEPTED_ON_L2' },
      record: { type: 'SEND', amount: '1500000', token: 'USDC' },
      listed: true,
    });
    expect(seen.receipt.events.length).toBeGreaterThan(0);
  });

  it('calls any contract, several calls in one transaction', async () => {
    const before = await new App(pages.server).balance('0xca11', 'USDC');
    await page.evaluate(async ({ options, wallet, encryptKey, usdc }) => {
      const svc = sdk.createSvc(options);
      const call = { contractAddress: usdc, entrypoint: 'transfer', calldata: ['0xca11', 2, 0] };
      const hash = await svc.callAnyContract({
        encryptKey,
        wallet,
        calls: [call, { ...call, calldata: ['0xca11', 3, 0] }],
      });
      await svc.waitForTransaction(hash, { retryIntervalMs: 100 });
    }, given());
    expect((await new App(pages.server).balance('0xca11', 'USDC')) - before).toBe(5n);
  });

  it('reads balances, rates, services and the network', async () => {
    const read = await page.evaluate(async ({ options, externalUserId, wallet }) => {
      const svc = sdk.createSvc(options);
      const pages: string[] = [];
      for await (const transaction of svc.transactions({ walletAddress: wallet.publicKey })) pages.push(transaction.id);
      return {
        byUser: await svc.getTokenBalance({ chain: 'STARKNET', chainToken: 'USDC', externalUserId }),
        byAddress: await svc.getTokenBalance({
          chain: 'STARKNET',
          chainToken: 'STRK',
          walletPublicKey: wallet.publicKey,
        }),
        usd: await svc.getUsdAmount({ currencyAmount: 185, currency: 'MXN' }),
        sku: (await svc.getSku({ id: 'telmex-recibo' })).id,
        network: (await svc.getConfig()).network,
        unique: new Set(pages).size === pages.length,
      };
    }, given());
    expect(read).toMatchObject({
      byUser: { chainToken: 'USDC', decimals: 6, balance: expect.stringMatching(/^\d+$/) },
      byAddress: { balance: '0', decimals: 18 },
      usd: 10,
      sku: 'telmex-recibo',
      unique: true,
    });
  });

  it('changes a PIN: the new one opens the wallet, the old one no longer', async () => {
    const user = `bea ${randomUUID()}`;
    const own = { ...given(), options: await pages.optionsOf(user), user };
    const seen = await page.evaluate(async ({ options, user, usdc, recipient }) => {
      const svc = sdk.createSvc(options);
      const made = await svc.createWallet({ encryptKey: '1111', externalUserId: user, chain: 'STARKNET' });
      await svc.waitForTransaction(made.transactionHash, { retryIntervalMs: 100 });
      await svc.changeEncryptKey({ externalUserId: user, wallet: made, encryptKey: '1111', newEncryptKey: '2222' });
      const wallet = await svc.getWallet({ externalUserId: user });
      const calls = [{ contractAddress: usdc, entrypoint: 'approve', calldata: [recipient, 1, 0] }];
      const use = (encryptKey: string) => svc.callAnyContract({ encryptKey, wallet, calls });
      return { old: await use('1111').catch((error: { code: string }) => error.code), new: await use('2222') };
    }, own);
    expect(seen).toEqual({ old: 'decryption_failed', new: expect.stringMatching(/^0x/) });
  });

  it('creates a READY wallet, and refuses it session keys before anything is sent', async () => {
    const user = `ria ${randomUUID()}`;
    const own = { options: await pages.optionsOf(user), user };
    const seen = await page.evaluate(async ({ options, user }) => {
      const svc = sdk.createSvc(options);
      const params = { encryptKey: '1234', externalUserId: user, chain: 'STARKNET', walletType: 'READY' } as const;
      const wallet = await svc.createWallet(params);
      const sessionConfig = { sessionPublicKey: '0x1', validUntil: 4e9, maxCalls: 1, allowedEntrypoints: [] };
      const adding = svc.sessions.addSessionKeyToContract({ encryptKey: '1234', wallet, sessionConfig });
      return { type: wallet.walletType, code: await adding.catch((error: { code: string }) => error.code) };
    }, own);
    expect(seen).toEqual({ type: 'READY', code: 'INVALID_WALLET_TYPE_FOR_SESSION' });
  });

  it('leaves upgrades to servers', async () => {
    const code = await page.evaluate(
      ({ options, wallet }) =>
        sdk
          .createSvc(options)
          .prepareWalletUpgrade({ walletAddress: wallet.publicKey })
          .catch((error: { code: string }) => error.code),
      given(),
    );
    expect(code).toBe('secret_key_required');
  });

  it('refuses a secret key', async () => {
    const { baseUrl, publicKey, secretKey } = pages.server.credentials;
    const code = await page.evaluate(
      (options) => {
        try {
          sdk.createSvc(options);
          return 'taken';
        } catch (error) {
          return (error as { code: string }).code;
        }
      },
      { baseUrl, publicKey, secretKey },
    );
    expect(code).toBe('secret_key_in_browser');
  });

  it("reports a wrong token with the service's code and the request id", async () => {
    const error = await page.evaluate(
      (options) =>
        sdk
          .createSvc({ ...options, bearerToken: 'nonsense' })
          .getWallet({ externalUserId: 'ana' })
          .then(
            () => undefined,
            (error: InstanceType<typeof sdk.SvcApiError>) => ({ status: error.status, id: error.requestId }),
          ),
      options,
    );
    expect(error).toEqual({ status: 401, id: expect.any(String) });
  });

  it('shields, transfers and unshields with progress, its proofs made in a worker', async () => {
    const privateAddress = formatPrivateAddress(publicPoint(5n));
    const seen = await page.evaluate(
      async ({ options, wallet, encryptKey, privateAddress }) => {
        const [started, failed, steps] = [[] as string[], [] as string[], [] as string[]];
        const proofWorker = () => {
          const worker = startProofWorker();
          started.push('worker');
          worker.addEventListener?.('error', () => failed.push('worker'));
          return worker;
        };
        const { privateBalance } = sdk.createSvc({ ...options, proofWorker });
        const own = { encryptKey, wallet, retryIntervalMs: 100, onStep: (step: string) => steps.push(step) };
        const keys = await privateBalance.deriveKeys({ encryptKey, wallet });
        const before = await privateBalance.getPrivateBalance({ keys });
        await privateBalance.shield({ ...own, amount: '5' });
        await privateBalance.transfer({ ...own, amount: '1.25', recipient: privateAddress });
        await privateBalance.unshield({ ...own, amount: '3' });
        const after = await privateBalance.getPrivateBalance({ keys });
        const [unshielded, sent, shielded] = await privateBalance.history({ keys });
        return {
          before,
          after,
          steps,
          started,
          failed,
          newest: [unshielded, sent, shielded].map((item) => item?.amount),
        };
      },
      { ...given(), privateAddress },
    );
    const steps = ['prepare', 'fund', 'prove', 'submit', 'finish'];
    expect(seen.steps).toEqual([...steps, ...steps, ...steps]);
    expect(Number(seen.after.balance) - Number(seen.before.balance)).toBeCloseTo(0.75);
    expect(seen.newest).toEqual(['3', '1.25', '5']);
    expect({ started: seen.started.length, failed: seen.failed }).toEqual({ started: 2, failed: [] });
  });

  it('works in a worker', async () => {
    const answer = await page.evaluate((message) => askWorker(message), { options, externalUserId });
    expect(answer).toMatchObject({ wallet: { publicKey: wallet.publicKey } });
  });

  it('refuses a secret key in a worker too', async () => {
    const { baseUrl, publicKey, secretKey } = pages.server.credentials;
    const message = { options: { baseUrl, publicKey, secretKey }, externalUserId };
    const answer = await page.evaluate((message) => askWorker(message), message);
    expect(answer).toEqual({ error: 'secret_key_in_browser' });
  });
});
