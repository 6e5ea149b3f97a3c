import { classes, toHex } from '@svc/starknet';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../packages/sdk/src/client/client.ts';
import { SvcApiError, SvcInputError, SvcKeyError, SvcTypedDataError } from '../../packages/sdk/src/client/errors.ts';
import { openWalletKey } from '../../packages/sdk/src/keys/seal.ts';
import { callContract, classHashAt } from '../../packages/sdk/src/node/rpc.ts';
import { sendSignedCalls, signCalls } from '../../packages/sdk/src/signing/calls.ts';
import { callAnyContract, transfer } from '../../packages/sdk/src/transfers.ts';
import {
  executeWalletUpgrade,
  prepareWalletUpgrade,
  signWalletUpgrade,
  upgradeWallet,
} from '../../packages/sdk/src/wallet-upgrades.ts';
import { type CreateWalletParams, createWallet, getTokenBalance, getWallet } from '../../packages/sdk/src/wallets.ts';
import { FakeAuthenticator } from '../../packages/sdk/testing/fake-authenticator.ts';
import { Owner } from '../support/app.ts';
import { userToken } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { Sandbox } from '../support/sandbox.ts';
import { TestService } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';

/** A passkey secret opens at once, while a PIN is stretched. Only a wallet with a passkey accepts it. */
const encryptKey = `prf1.${Buffer.alloc(32, 7).toString('base64url')}`;
const PIN = '4815';
const READY = { walletType: 'READY', encryptKey: PIN, usePasskey: false } as const;
const BOB = '0xb0b';
let service: TestService;
let sandbox: Sandbox;
let client: Client;
/** Paths requested by this file's client. */
let requests: string[] = [];
/** A test that is run again has users of its own. */
let attempt = 0;

beforeAll(async () => {
  service = await TestService.hosted();
  sandbox = new Sandbox(service.server);
  const watched = (url: string, init?: RequestInit) => {
    requests.push(new URL(url).pathname);
    return fetch(url, init);
  };
  client = createClient({ ...service.server.credentials, fetch: watched });
});
afterAll(() => service?.stop());
beforeEach(() => {
  attempt++;
});

const userOf = (name: string) => `${name}, attempt ${attempt}`;
const newAddress = () => new Owner().address;

/** Opens with `encryptKey` as a passkey's backup. READY has no passkeys and needs the PIN. */
const quick = () => ({ encryptKey, usePasskey: true, passkey: { credentials: new FakeAuthenticator() } });

const newWallet = (name: string, more: Partial<CreateWalletParams> = {}) =>
  createWallet(client, { ...quick(), externalUserId: userOf(name), chain: 'STARKNET', ...more });

async function richWallet(name: string, more: Partial<CreateWalletParams> = {}) {
  const wallet = await newWallet(name, more);
  await sandbox.faucet(wallet.publicKey, 'USDC', '10');
  return wallet;
}

/** In raw units, from the chain. */
async function balanceOf(address: string): Promise<bigint | undefined> {
  const contractAddress = BigInt(USDC);
  const [low] = await callContract(client, { contractAddress, entrypoint: 'balance_of', calldata: [BigInt(address)] });
  return low;
}

describe('a new wallet', () => {
  it.each([
    ['of the type SVC', {}, 'SVC', classes.svc],
    ['of the type READY', READY, 'READY', classes.ready],
    ['of a class of its own', { classHash: toHex(classes.svcPolicies) }, 'SVC', classes.svcPolicies],
  ] as const)(
    '%s is deployed, found again and controlled by its owner',
    async (_, params: Partial<CreateWalletParams>, walletType, classHash) => {
      const { encryptKey: opens = encryptKey } = params;
      const user = userOf(`owner of ${classHash}`);
      const wallet = await newWallet(`owner of ${classHash}`, params);
      expect(wallet).toMatchObject({ walletType, classHash: toHex(classHash) });
      expect(await classHashAt(client, BigInt(wallet.publicKey))).toBe(classHash);
      const { publicKey, encryptedPrivateKey } = await getWallet(client, { externalUserId: user });
      expect({ publicKey, encryptedPrivateKey }).toEqual({
        publicKey: wallet.publicKey,
        encryptedPrivateKey: wallet.encryptedPrivateKey,
      });
      await sandbox.faucet(publicKey, 'USDC', '2');
      const found = { publicKey, encryptedPrivateKey };
      await transfer(client, { encryptKey: opens, wallet: found, amount: '0.5', token: 'USDC', recipient: BOB });
      const balance = await getTokenBalance(client, { chainToken: 'USDC', chain: 'STARKNET', externalUserId: user });
      expect(balance).toMatchObject({ balance: '1500000', decimals: 6 });
    },
  );

  it('opens with the PIN it was created with', async () => {
    const wallet = await richWallet('pin', { encryptKey: PIN, usePasskey: false });
    await transfer(client, { encryptKey: PIN, wallet, amount: 1, token: 'USDC', recipient: BOB });
    expect(await balanceOf(wallet.publicKey)).toBe(9_000_000n);
  });

  it('of two simultaneous calls for one user is one wallet, and both get it', async () => {
    const answers = await Promise.all([newWallet('at once'), newWallet('at once'), newWallet('at once')]);
    const { publicKey, encryptedPrivateKey } = await getWallet(client, { externalUserId: userOf('at once') });
    const stored = { publicKey, encryptedPrivateKey, walletType: 'SVC', classHash: toHex(classes.svc) };
    for (const answer of answers) expect(answer).toMatchObject(stored);
    expect(answers.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(answers.map(({ transactionHash }) => transactionHash)).size).toBe(1);
    for (const wallet of answers) expect(await openWalletKey({ encryptKey, wallet })).toBeTypeOf('bigint');
  });

  it('is the one that the user has, unless an additional one is asked for', async () => {
    const first = await newWallet('twice');
    expect(await newWallet('twice')).toEqual({ ...first, isNew: false });
    const other = await newWallet('twice', { additional: true });
    expect(other).toMatchObject({ isNew: true });
    expect(other.publicKey).not.toBe(first.publicKey);
    expect(await getWallet(client, { externalUserId: userOf('twice') })).toMatchObject({ publicKey: other.publicKey });
  });

  it('is not answered where another encryptKey opens the one that the user has', async () => {
    const { publicKey, encryptedPrivateKey } = await newWallet('other secret');
    const another = `prf1.${Buffer.alloc(32, 8).toString('base64url')}`;
    const again = newWallet('other secret', { encryptKey: another });
    await expect(again).rejects.toMatchObject({ constructor: SvcKeyError, code: 'decryption_failed' });
    const kept = await getWallet(client, { externalUserId: userOf('other secret') });
    expect(kept).toMatchObject({ publicKey, encryptedPrivateKey });
  });

  it('is refused before any request on another chain, without an encryptKey, or with an invalid class', async () => {
    requests = [];
    await expect(newWallet('unused', { chain: 'BASE' })).rejects.toThrow(SvcInputError);
    await expect(newWallet('unused', { encryptKey: '' })).rejects.toMatchObject({ code: 'weak_encrypt_key' });
    await expect(newWallet('unused', { usePasskey: false })).rejects.toThrow(/usePasskey/);
    await expect(newWallet('unused', { classHash: 'latest' })).rejects.toThrow(SvcInputError);
    expect(requests).toEqual([]);
    const undeclared = newWallet('unused', { classHash: '0x1234' });
    await expect(undeclared).rejects.toMatchObject({ constructor: SvcApiError, code: 'class_not_allowed' });
  });
});

describe('money moves', () => {
  it('by the name of a token and by its address, exactly', async () => {
    const wallet = await richWallet('payer');
    const recipient = newAddress();
    await transfer(client, { encryptKey, wallet, amount: 0.1, token: 'USDC', recipient });
    await transfer(client, {
      encryptKey,
      wallet,
      amount: '0.000001',
      token: 'OTHER',
      tokenAddress: USDC,
      decimals: 6,
      recipient,
    });
    expect(await balanceOf(recipient)).toBe(100_001n);
    expect(await balanceOf(wallet.publicKey)).toBe(9_899_999n);
  });

  it('in many calls at once, all or none', async () => {
    const wallet = await richWallet('many calls');
    const [one, other] = [newAddress(), newAddress()];
    const send = (to: string, amount: number) => ({
      contractAddress: USDC,
      entrypoint: 'transfer',
      calldata: [to, amount, 0],
    });
    await callAnyContract(client, { encryptKey, wallet, calls: [send(one, 1), send(other, 2)] });
    expect([await balanceOf(one), await balanceOf(other)]).toEqual([1n, 2n]);
    const tooMuch = callAnyContract(client, { encryptKey, wallet, calls: [send(one, 1), send(other, 99_000_000)] });
    await expect(tooMuch).rejects.toMatchObject({ code: 'transaction_reverted' });
    expect([await balanceOf(one), await balanceOf(other)]).toEqual([1n, 2n]);
    await expect(callAnyContract(client, { encryptKey, wallet, calls: [] })).rejects.toThrow(SvcInputError);
  });

  it('once, however often the same signed calls are sent', async () => {
    const wallet = await richWallet('sends again');
    const recipient = newAddress();
    const calls = [{ contractAddress: USDC, entrypoint: 'transfer', calldata: [recipient, 1, 0] }];
    const signed = await signCalls(client, { encryptKey, wallet, calls });
    const stored = JSON.parse(JSON.stringify(signed)) as typeof signed;
    const hash = await sendSignedCalls(client, signed);
    expect(await sendSignedCalls(client, stored)).toBe(hash);
    expect(await balanceOf(recipient)).toBe(1n);
  });

  it('not with a wrong PIN, and nothing signed leaves the device', async () => {
    const wallet = await richWallet('forgetful', { encryptKey: PIN, usePasskey: false });
    requests = [];
    const attempt = transfer(client, { encryptKey: '0000', wallet, amount: 1, token: 'USDC', recipient: BOB });
    await expect(attempt).rejects.toMatchObject({ constructor: SvcKeyError, code: 'decryption_failed' });
    expect(requests.filter((path) => path.includes('execute'))).toEqual([]);
    expect(await balanceOf(wallet.publicKey)).toBe(10_000_000n);
  });

  it("for a user's own token, and for no other user's", async () => {
    const { baseUrl, publicKey } = service.server.credentials;
    const app = createClient({ baseUrl, publicKey });
    const [externalUserId, recipient] = [userOf('jo'), newAddress()];
    const token = await userToken(service.server, externalUserId);
    const wallet = await createWallet(app, { ...quick(), externalUserId, chain: 'STARKNET' }, token);
    await sandbox.faucet(wallet.publicKey, 'USDC', '1');
    const order = { encryptKey, wallet, amount: 1, token: 'USDC', recipient } as const;
    const another = await userToken(service.server, 'eve');
    await expect(transfer(app, order, another)).rejects.toMatchObject({ code: 'wallet_not_found' });
    await expect(transfer(app, order)).rejects.toMatchObject({ code: 'missing_bearer_token' });
    await transfer(app, order, () => Promise.resolve(token));
    expect(await balanceOf(recipient)).toBe(1_000_000n);
  });

  it("after the sandbox's clock was moved forward and back", async () => {
    const wallet = await richWallet('late');
    const recipient = newAddress();
    const pay = () => transfer(client, { encryptKey, wallet, amount: 1, token: 'USDC', recipient });
    // The service reads the chain's clock once a second.
    const paid = () =>
      eventually(
        () => pay().catch(String),
        (answer) => answer.startsWith('0x'),
      );
    await sandbox.ask('/starknet/time', { increaseSeconds: 86_400 });
    const ahead = await paid();
    await sandbox.ask('/starknet/time', { offsetSeconds: 0 });
    expect([ahead, await paid()]).toEqual([expect.stringMatching(/^0x/), expect.stringMatching(/^0x/)]);
    expect(await balanceOf(recipient)).toBe(2_000_000n);
  });
});

describe('an upgrade', () => {
  it.each([
    ['the class with policies', { classHash: toHex(classes.svcPolicies) }],
    ['the class with sessions', { classHash: toHex(classes.svcSessions) }],
    ['READY', READY],
  ] as const)('leads from %s to the current class, and the wallet still opens and pays', async (from, params) => {
    const { encryptKey: opens = encryptKey }: Partial<CreateWalletParams> = params;
    const wallet = await richWallet(`upgrade from ${from}`, params);
    const upgraded = await upgradeWallet(client, { encryptKey: opens, wallet });
    expect(upgraded).toMatchObject({ newClassHash: toHex(classes.svc), newWalletType: 'SVC' });
    const classNow = () => classHashAt(client, BigInt(wallet.publicKey));
    expect(await eventually(classNow, (found) => found === classes.svc)).toBe(classes.svc);
    await transfer(client, { encryptKey: opens, wallet, amount: 1, token: 'USDC', recipient: BOB });
    expect(await balanceOf(wallet.publicKey)).toBe(9_000_000n);
  });

  it.each([
    ['an earlier class', { classHash: toHex(classes.svcSessions) }],
    ['READY', READY],
  ] as const)('from %s is signed in a browser and executed by a server', async (from, params) => {
    const { encryptKey: opens = encryptKey }: Partial<CreateWalletParams> = params;
    const { publicKey: walletAddress, encryptedPrivateKey } = await newWallet(`signs from ${from}`, params);
    const { baseUrl, publicKey } = service.server.credentials;
    const browser = createClient({ baseUrl, publicKey });
    const { typedData, currentWalletType } = await prepareWalletUpgrade(client, { walletAddress });
    const wallet = { publicKey: walletAddress, encryptedPrivateKey };
    const requests = { encryptKey: opens, wallet, typedData, currentWalletType };
    const other = { ...requests, targetClassHash: toHex(classes.svcPolicies) };
    await expect(signWalletUpgrade(browser, other)).rejects.toThrow(SvcTypedDataError);
    const signature = await signWalletUpgrade(browser, requests);
    const upgraded = await executeWalletUpgrade(client, { walletAddress, typedData, signature });
    expect(upgraded).toMatchObject({ newClassHash: toHex(classes.svc), newWalletType: 'SVC' });
  });

  it('can target another class, and needs the right PIN and the secret key', async () => {
    const wallet = await newWallet('particular', { classHash: toHex(classes.svcSessions) });
    const targetClassHash = toHex(classes.svcPolicies);
    const wrong = upgradeWallet(client, { encryptKey: '0000', wallet, targetClassHash });
    await expect(wrong).rejects.toMatchObject({ code: 'decryption_failed' });
    const { baseUrl, publicKey } = service.server.credentials;
    const app = createClient({
      baseUrl,
      publicKey,
      bearerToken: () => userToken(service.server, userOf('particular')),
    });
    await expect(upgradeWallet(app, { encryptKey, wallet })).rejects.toMatchObject({ code: 'secret_key_required' });
    expect(await upgradeWallet(client, { encryptKey, wallet, targetClassHash })).toMatchObject({
      newClassHash: targetClassHash,
    });
  });
});
