import { endpoints } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App, hashOf, Owner, transferOf } from '../support/app.ts';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { keyHeaders, userToken } from '../support/client.ts';
import { Sandbox } from '../support/sandbox.ts';
import { type AnyService, TestService } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';

let service: AnyService;
let app: App;
let sandbox: Sandbox;

beforeAll(async () => {
  service = await TestService.shared();
  app = new App(service.server);
  sandbox = new Sandbox(service.server);
});
afterAll(() => service.stop());

async function as(user: string): Promise<App> {
  const token = await userToken(service.server, user);
  return new App(service.server, { ...keyHeaders(service.server), authorization: `Bearer ${token}` });
}

describe("a user's token", () => {
  it('creates, reads and uses the own wallet', async () => {
    const user = await as('ana');
    const owner = new Owner();
    await user.createWallet(owner, 'ana');
    await sandbox.faucet(owner.address, 'USDC', '1');
    expectAnswer(await user.get('/svc-wallets/by-user?externalUserId=ana'), endpoints.getWalletByUser);
    const hash = hashOf(await user.execute(owner, [transferOf(USDC, '0xb0b', 1n)]));
    expectAnswer(await user.get(`/transactions/${hash}`), endpoints.getTransaction);
    expectAnswer(
      await user.get(`/transactions/transaction-list?walletAddress=${owner.address}`),
      endpoints.listTransactions,
    );
    expect(await user.balance(owner.address, 'USDC')).toBeTypeOf('bigint');
  });

  it("finds another user's wallet missing, byte for byte as one that does not exist", async () => {
    const owner = new Owner();
    await app.createWallet(owner, 'luis');
    await sandbox.faucet(owner.address, 'USDC', '1');
    const hash = hashOf(await app.execute(owner, [transferOf(USDC, '0xb0b', 1n)]));
    const eve = await as('eve');
    const same = async (existing: string, missing: string) => {
      const [one, other] = [await eve.get(existing), await eve.get(missing)];
      // Apart from the address that the caller named.
      expect([one.status, one.text.replaceAll(/0x[0-9a-f]+/g, '')]).toEqual([
        other.status,
        other.text.replaceAll(/0x[0-9a-f]+/g, ''),
      ]);
      return one;
    };
    const unknown = new Owner().address;
    expectError(
      await same('/svc-wallets/by-user?externalUserId=luis', '/svc-wallets/by-user?externalUserId=nobody'),
      404,
      'wallet_not_found',
    );
    const balance = (address: string) =>
      `/svc-wallets/token-balance?chain=STARKNET&chainToken=USDC&walletPublicKey=${address}`;
    expectError(await same(balance(owner.address), balance(unknown)), 404, 'wallet_not_found');
    const list = (address: string) => `/transactions/transaction-list?walletAddress=${address}`;
    expectError(await same(list(owner.address), list(unknown)), 404, 'wallet_not_found');
    expectError(await same(`/transactions/${hash}`, '/transactions/0x1234'), 404, 'transaction_not_found');
    const calls = [transferOf(USDC, '0xbad', 1n)];
    const prepare = (publicKey: string) => eve.post('/transactions/prepare-typed-data', { publicKey, calls });
    expectError(await prepare(owner.address), 404, 'wallet_not_found');
    expectError(await prepare(unknown), 404, 'wallet_not_found');
  });

  it('cannot create or change for another user', async () => {
    const eve = await as('eve');
    const body = await eve.creation(new Owner(), 'luis');
    expectError(await eve.post('/svc-wallets', body), 401, 'other_user');
    const change = { externalUserId: 'luis', newEncryptedPrivateKey: 'mine now' };
    expectError(await eve.patch('/svc-wallets/update-encryption-details', change), 401, 'other_user');
  });
});

describe('another organisation', () => {
  it('finds a wallet missing, and cannot take its address', async () => {
    const owner = new Owner();
    await app.createWallet(owner, 'tenant');
    const other = await service.organization();
    expectError(await other.get('/svc-wallets/by-user?externalUserId=tenant'), 404, 'wallet_not_found');
    expectError(await other.post('/svc-wallets', await other.creation(owner, 'tenant')), 400, 'wallet_already_exists');
    const prepare = await other.post('/svc-wallets/prepare-upgrade', { walletAddress: owner.address });
    expectError(prepare, 404, 'wallet_not_found');
  });
});

describe('the encrypted key', () => {
  it('is replaced, for the wallet that is named when there are several', async () => {
    const [one, two] = [new Owner(), new Owner()];
    await app.createWallet(one, 'changing');
    const change = { externalUserId: 'changing', newEncryptedPrivateKey: 'new' };
    expectAnswer(await app.patch('/svc-wallets/update-encryption-details', change), endpoints.updateEncryptionDetails);
    expect((await app.get('/svc-wallets/by-user?externalUserId=changing')).body).toMatchObject({
      encryptedPrivateKey: 'new',
    });
    await app.createWallet(two, 'changing');
    expectError(await app.patch('/svc-wallets/update-encryption-details', change), 400, 'wallet_ambiguous');
    const named = {
      ...change,
      newEncryptedPrivateKey: 'newer',
      publicKey: two.address.toUpperCase().replace('X', 'x'),
    };
    expect((await app.patch('/svc-wallets/update-encryption-details', named)).body).toEqual({ success: true });
    expect((await app.get('/svc-wallets/by-user?externalUserId=changing')).body).toMatchObject({
      publicKey: two.address,
      encryptedPrivateKey: 'newer',
    });
    const missing = { ...change, externalUserId: 'nobody' };
    expectError(await app.patch('/svc-wallets/update-encryption-details', missing), 404, 'wallet_not_found');
  });

  it('comes with what is needed to recover its passkey', async () => {
    const owner = new Owner();
    const passkey = { authMethod: 'passkey', credentialId: 'Y3JlZA', prfSupported: true, deviceType: 'multiDevice' };
    await app.post('/svc-wallets', { ...(await app.creation(owner, 'passkey')), ...passkey });
    const reply = await app.get('/svc-wallets/credential-recovery?externalUserId=passkey');
    expectAnswer(reply, endpoints.recoverCredential);
    expect(reply.body).toEqual(passkey);
    expectError(await app.get('/svc-wallets/credential-recovery?externalUserId=nobody'), 404, 'wallet_not_found');
  });
});
