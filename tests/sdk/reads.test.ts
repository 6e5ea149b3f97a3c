import { createSvc, type Svc, SvcApiError, SvcInputError } from '@svc/sdk';
import { classes } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Owner } from '../support/app.ts';
import { userToken } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import {
  type ExampleData,
  prepareExampleData,
  recipient,
  type TypedData,
  transferred,
  upgradeBody,
} from '../support/examples.ts';
import { type AnyService, TestService } from '../support/service.ts';

/** The initial credits of development and a deposit of 800, less two redeems of one cent and one cent each for their gas. */
const TOTAL_USD = 10_799.96;

let service: AnyService;
let examples: ExampleData;
/** As on a server, with the secret key. */
let svc: Svc;
/** As in the user's browser, with the user's token. */
let mine: Svc;

beforeAll(async () => {
  service = await TestService.shared();
  const { server } = service;
  examples = await prepareExampleData(service);
  const { baseUrl, publicKey, secretKey } = server.credentials;
  svc = createSvc({ baseUrl, publicKey, secretKey });
  // Incoming transfers appear after a moment.
  await eventually(
    () => svc.getTransactionList({ walletAddress: examples.owner.address }),
    ({ items }) => items.some(({ type }) => type === 'RECEIVE'),
  );
  mine = createSvc({ baseUrl, publicKey, bearerToken: () => userToken(server, examples.user) });
});
afterAll(() => service.stop());

async function refusal(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe.each([
  ['a server', () => svc],
  ['a signed-in user', () => mine],
])('%s', (_, as) => {
  it("reads the user's newest wallet", async () => {
    const wallet = await as().getWallet({ externalUserId: examples.user });
    expect(wallet).toMatchObject({ externalUserId: examples.user, walletType: 'SVC', isDeployed: true });
    expect(wallet.encryptedPrivateKey).toBe(`ciphertext of ${examples.user}`);
  });

  it('reads a balance, by address', async () => {
    const params = { chain: 'STARKNET', chainToken: 'USDC', walletPublicKey: examples.owner.address } as const;
    expect(await as().getTokenBalance(params)).toMatchObject({ chainToken: 'USDC', decimals: 6, balance: '96500000' });
  });

  it('reads a balance, by user', async () => {
    const params = { chain: 'STARKNET', chainToken: 'STRK', externalUserId: examples.user } as const;
    expect(await as().getTokenBalance(params)).toMatchObject({ chainToken: 'STRK', decimals: 18, balance: '0' });
  });

  it('reads a transaction by hash and by id, and its status on the chain', async () => {
    const byHash = await eventually(
      () => as().getTransaction({ hashOrId: examples.transfer }),
      ({ status }) => status === 'SUCCESS',
    );
    expect(byHash).toMatchObject({ type: 'SEND', token: 'USDC', amount: '1500000', status: 'SUCCESS' });
    expect(await as().getTransaction({ hashOrId: byHash.id })).toEqual(byHash);
    const status = await as().getTransactionStatus({ hash: examples.transfer });
    expect(status).toMatchObject({ status: 'ACCEPTED_ON_L2', blockNumber: expect.any(Number) });
  });

  it('reads a page of transactions, and iterates over all', async () => {
    const walletAddress = examples.owner.address;
    const page = await as().getTransactionList({ walletAddress, limit: 1 });
    expect(Object.keys(page).sort()).toEqual(['items', 'limit', 'page', 'total']);
    expect(page).toMatchObject({ page: 1, limit: 1, items: [{ transactionHash: expect.any(String) }] });
    const all = [];
    for await (const transaction of as().transactions({ walletAddress, pageSize: 1 })) all.push(transaction.id);
    expect(all).toHaveLength(page.total);
    const whole = await as().getTransactionList({ walletAddress });
    expect(all).toEqual(whole.items.map(({ id }) => id));
  });

  it('filters transactions by function and date', async () => {
    const walletAddress = examples.owner.address;
    const year = new Date().getUTCFullYear();
    expect(await as().getTransactionList({ walletAddress, calledFunction: 'mint' })).toMatchObject({ total: 0 });
    expect(await as().getTransactionList({ walletAddress, year: year - 2 })).toMatchObject({ total: 0 });
    const found = await as().getTransactionList({ walletAddress, calledFunction: 'transfer' });
    expect(new Set(found.items.map(({ functionName }) => functionName))).toEqual(new Set(['transfer']));
    expect(new Set(found.items.map(({ type }) => type))).toEqual(new Set(['SEND', 'RECEIVE']));
  });

  it('records a transfer, and again the same record', async () => {
    const params = {
      transactionHash: examples.transfer,
      expectedSender: examples.owner.address,
      expectedRecipient: recipient,
      expectedToken: 'USDC',
      expectedAmount: transferred,
      chain: 'STARKNET',
    } as const;
    const recorded = await as().recordSend(params);
    expect((await as().recordSend(params)).id).toBe(recorded.id);
    const other = await refusal(as().recordSend({ ...params, expectedAmount: '2' }));
    expect(other).toMatchObject({ code: 'transaction_mismatch', status: 400 });
  });

  it('syncs transfers from the chain', async () => {
    const { synced, total } = await as().syncOnChain({ walletAddress: examples.owner.address });
    expect(total).toBeGreaterThanOrEqual(synced);
  });

  it('reads the SKUs on offer', async () => {
    const { items, total } = await as().listSkus({ limit: 3 });
    expect(items).toHaveLength(3);
    const ids = new Set<string>();
    for await (const { id } of as().skus({ pageSize: 50 })) ids.add(id);
    expect(ids.size).toBe(total);
    expect(await as().getSku({ id: items[0]?.id ?? '' })).toEqual(items[0]);
    const streaming = [];
    for await (const sku of as().skus({ category: 'STREAMING' })) streaming.push(sku);
    expect(new Set(streaming.map(({ category }) => category))).toEqual(new Set(['STREAMING']));
  });

  it('checks a reference before paying', async () => {
    const checkable = [];
    for await (const sku of as().skus()) if (sku.canCheckSkuReference) checkable.push(sku.id);
    const answer = await as().checkSkuReference({ id: checkable[0] ?? '', reference: 'not one' });
    expect(answer).toMatchObject({ valid: false, reason: expect.any(String) });
  });

  it('converts to USD', async () => {
    expect(await as().getUsdAmount({ currencyAmount: 12.34, currency: 'USD' })).toBe(12.34);
    expect(await as().getUsdAmount({ currencyAmount: 185, currency: 'MXN' })).toBeGreaterThan(0);
  });

  it('reads which passkey opens a wallet', async () => {
    const none = { credentialId: null, authMethod: null, prfSupported: null, deviceType: null };
    expect(await as().recoverCredential({ externalUserId: examples.user })).toEqual(none);
  });

  it('reads the configuration', async () => {
    expect(await as().getConfig()).toMatchObject({ rpcUrl: service.server.credentials.rpcUrl });
  });

  it('gets a code, a status and a request id for missing things', async () => {
    const error = await refusal(as().getSku({ id: 'nothing-like-it' }));
    expect(error).toBeInstanceOf(SvcApiError);
    expect(error).toMatchObject({
      code: 'sku_not_found',
      status: 404,
      requestId: expect.stringMatching(/^[\w-]{8,}$/),
    });
    const both = { walletPublicKey: examples.owner.address, externalUserId: examples.user };
    const params = { chain: 'STARKNET', chainToken: 'USDC', ...both } as unknown;
    const unclear = await refusal(as().getTokenBalance(params as Parameters<Svc['getTokenBalance']>[0]));
    expect(unclear).toBeInstanceOf(SvcInputError);
  });
});

describe('a server', () => {
  it("reads the organisation's credits and their changes", async () => {
    expect(await svc.getOrganization()).toMatchObject({ balance: { totalUsd: TOTAL_USD } });
    const { items, total } = await svc.listLedger();
    const all = [];
    for await (const entry of svc.ledger({ pageSize: 1 })) all.push(entry);
    expect(all).toHaveLength(total);
    expect(all.slice(0, items.length)).toEqual(items);
  });

  it("upgrades a wallet with the owner's signature", async () => {
    const owner = new Owner(classes.svcSessions);
    await service.app.createWallet(owner, `owner of ${owner.address}`);
    const walletAddress = owner.address;
    const prepared = await svc.prepareWalletUpgrade({ walletAddress });
    expect(prepared).toMatchObject({ currentWalletType: 'SVC', targetWalletType: 'SVC' });
    const { signature } = upgradeBody(owner, prepared.typedData as TypedData);
    const upgraded = await svc.executeWalletUpgrade({
      walletAddress,
      typedData: prepared.typedData,
      signature: signature as string[],
    });
    expect(upgraded).toMatchObject({ newClassHash: prepared.targetClassHash, newWalletType: 'SVC' });
    const { success } = await svc.waitForTransaction(upgraded.transactionHash, { retryIntervalMs: 50 });
    expect(success).toBe(true);
  });

  it('performs a write once that is sent twice with the same key', async () => {
    let lost = 0;
    const { baseUrl, publicKey, secretKey } = service.server.credentials;
    const flaky = createSvc({
      baseUrl,
      publicKey,
      secretKey,
      // The first answer to each write is lost.
      fetch: async (input, init) => {
        const answer = await fetch(input, init);
        if (init?.method === 'POST' && lost++ === 0) throw new TypeError('fetch failed');
        return answer;
      },
    });
    const { total } = await flaky.syncOnChain({ walletAddress: examples.owner.address });
    expect(total).toBeGreaterThan(0);
    expect(lost).toBe(2);
  });
});

describe('a signed-in user', () => {
  it("cannot read another user's wallet, nor data of the organisation", async () => {
    const { server } = service;
    const token = await userToken(server, 'another user');
    expect(await refusal(mine.getWallet({ externalUserId: examples.user }, token))).toMatchObject({
      code: 'wallet_not_found',
    });
    expect(await refusal(mine.getOrganization())).toMatchObject({ code: 'secret_key_required' });
    const { baseUrl, publicKey } = server.credentials;
    const anonymous = createSvc({ baseUrl, publicKey });
    expect(await refusal(anonymous.listSkus())).toMatchObject({ code: 'missing_bearer_token' });
  });
});

describe('a rate limit', () => {
  it('that is exceeded gives the time to wait', async () => {
    const { baseUrl } = (await service.anotherHosted({ RATE_LIMIT_PER_MINUTE: '5' })).credentials;
    const { publicKey, secretKey } = (await service.organization()).keys;
    const strict = createSvc({ baseUrl, publicKey, secretKey, maxRetries: 0 });
    const errors = [];
    for (let count = 0; count < 6; count++) errors.push(await refusal(strict.getOrganization()));
    const [limitReached] = errors.filter((error) => error !== undefined);
    expect(limitReached).toMatchObject({ code: 'rate_limited', status: 429, retryAfterMs: expect.any(Number) });
  });
});
