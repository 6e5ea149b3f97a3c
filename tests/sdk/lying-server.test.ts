import { classes, toHex } from '@svc/starknet';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../packages/sdk/src/client/client.ts';
import { SvcTypedDataError } from '../../packages/sdk/src/client/errors.ts';
import {
  addSessionKeyToContract,
  createSessionKey,
  executeTransactionWithSession,
} from '../../packages/sdk/src/sessions/sessions.ts';
import { moveToSolana } from '../../packages/sdk/src/solana-transfers.ts';
import { callAnyContract, transfer } from '../../packages/sdk/src/transfers.ts';
import { upgradeWallet } from '../../packages/sdk/src/wallet-upgrades.ts';
import { type CreatedWallet, createWallet } from '../../packages/sdk/src/wallets.ts';
import { FakeAuthenticator } from '../../packages/sdk/testing/fake-authenticator.ts';
import { SOLANA_WALLET } from '../support/examples.ts';
import { Sandbox } from '../support/sandbox.ts';
import { type AnyService, TestService } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';
import { addsCall, callLies, changesFelt, replacesCall } from './support/lies.ts';
import { type Lie, type LyingProxy, openLyingProxy } from './support/lying-proxy.ts';

/** A passkey secret opens at once. */
const encryptKey = `prf1.${Buffer.alloc(32, 7).toString('base64url')}`;
const quick = () => ({ encryptKey, usePasskey: true, passkey: { credentials: new FakeAuthenticator() } });
const PREPARE = '/prepare-typed-data';
let service: AnyService;
let proxy: LyingProxy;
let sandbox: Sandbox;
let wallet: CreatedWallet;

/** A client without cached answers. */
const newClient = (): Client => {
  const { publicKey, secretKey } = service.server.credentials;
  return createClient({ baseUrl: proxy.baseUrl, publicKey, secretKey, bearerToken: secretKey });
};

beforeAll(async () => {
  service = await TestService.shared();
  proxy = await openLyingProxy(service.server.origin);
  sandbox = new Sandbox(service.server);
  wallet = await createWallet(newClient(), { ...quick(), externalUserId: 'ana', chain: 'STARKNET' });
  await sandbox.faucet(wallet.publicKey, 'USDC', '100');
});
afterAll(async () => {
  await proxy?.close();
  await service?.stop();
});
beforeEach(() => proxy.behave());

const two = [
  { contractAddress: USDC, entrypoint: 'transfer', calldata: ['0xb0b', 5, 0] },
  { contractAddress: USDC, entrypoint: 'approve', calldata: ['0x5be2de2', 7, 0] },
];

async function expectNoSignature(work: Promise<unknown>): Promise<void> {
  await expect(work).rejects.toThrow(SvcTypedDataError);
  // The altered answer was refused, not an earlier one.
  expect(proxy.lied()).toHaveLength(1);
  expect(proxy.signed()).toEqual([]);
}

describe('a service that lies about calls gets no signature', () => {
  const lies = callLies(() => wallet.publicKey);

  it.each(lies)('with %s', async (_, lie) => {
    proxy.lie(PREPARE, lie);
    await expectNoSignature(callAnyContract(newClient(), { encryptKey, wallet, calls: two }));
  });

  it.each([
    ['another recipient', changesFelt(0)],
    ['another amount', changesFelt(1)],
    ['another call', replacesCall],
    ['a call more', addsCall],
  ])('of a transfer, with %s', async (_, lie) => {
    proxy.lie(PREPARE, lie);
    await expectNoSignature(
      transfer(newClient(), { encryptKey, wallet, amount: 1, token: 'USDC', recipient: '0xb0b' }),
    );
  });

  it.each([
    ['another allowance', changesFelt(1)],
    ['another call', replacesCall],
    ['a call more', addsCall],
  ])('of a transfer to Solana, with %s', async (_, lie) => {
    proxy.lie(PREPARE, lie);
    await expectNoSignature(moveToSolana(newClient(), { encryptKey, wallet, amount: 1, recipient: SOLANA_WALLET }));
  });

  it('and an honest one does, even with other number formats', async () => {
    proxy.lie(PREPARE, (text) =>
      text.replaceAll(/"0x([0-9a-f]{1,60})"/g, (_, digits: string) => `"0x000${digits.toUpperCase()}"`),
    );
    await callAnyContract(newClient(), { encryptKey, wallet, calls: two });
    expect(proxy.lied()).toHaveLength(1);
    expect(proxy.signed()).toEqual(['/v1/transactions/execute-sponsored-transaction']);
  });
});

describe('a service that lies about a new wallet gets no signature and no ciphertext', () => {
  it.each<[string, Lie]>([
    ['a call in its typed data', addsCall],
    ['another class', (text) => text.replace(/"accountClassHash":"[^"]*"/, '"accountClassHash":"0xbad"')],
    ['no class', (text) => text.replace(/"accountClassHash":"[^"]*"/, '"accountClassHash":null')],
    ...callLies(() => '0x0').filter(([name]) => /chain|mainnet|window|domain|zero caller|allowance|nothing/.test(name)),
  ])('with %s', async (_, lie) => {
    proxy.lie('/prepare-creation', lie);
    const created = createWallet(newClient(), { ...quick(), externalUserId: 'eve', chain: 'STARKNET' });
    await expectNoSignature(created);
  });
});

describe('a service that lies about an upgrade gets no signature', () => {
  let earlier: CreatedWallet;
  beforeAll(async () => {
    proxy.behave();
    const classHash = toHex(classes.svcSessions);
    earlier = await createWallet(newClient(), { ...quick(), externalUserId: 'old', chain: 'STARKNET', classHash });
  });

  it.each<[string, Lie]>([
    ['another class to upgrade to', changesFelt(0)],
    ['another class, and says so', (text) => changesFelt(0)(text).replace(toHex(classes.svc), '0xbad')],
    ['another call', replacesCall],
    ['a call more', addsCall],
    ['another type of wallet', (text) => text.replace('"currentWalletType":"SVC"', '"currentWalletType":"READY"')],
  ])('with %s', async (_, lie) => {
    proxy.lie('/prepare-upgrade', lie);
    await expectNoSignature(upgradeWallet(newClient(), { encryptKey, wallet: earlier }));
  });
});

describe('a service that lies about sessions gets no signature', () => {
  const sessionOf = async (client: Client) => {
    const session = await createSessionKey(client, { encryptKey });
    const { publicKey: sessionPublicKey, validUntil } = session;
    return { session, sessionConfig: { sessionPublicKey, validUntil, maxCalls: 3, allowedEntrypoints: ['transfer'] } };
  };

  it.each([
    ['another session key', changesFelt(0)],
    ['a later end', changesFelt(1)],
    ['more calls', changesFelt(2)],
    ['another list of functions', changesFelt(4)],
    ['a call more', addsCall],
  ])('of the owner, with %s', async (_, lie) => {
    const client = newClient();
    const { sessionConfig } = await sessionOf(client);
    proxy.lie(PREPARE, lie);
    await expectNoSignature(addSessionKeyToContract(client, { encryptKey, wallet, sessionConfig }));
  });

  it('of the session, with an additional or another call', async () => {
    const client = newClient();
    const { session, sessionConfig } = await sessionOf(client);
    await addSessionKeyToContract(client, { encryptKey, wallet, sessionConfig });
    for (const lie of [addsCall, replacesCall, changesFelt(0)]) {
      proxy.behave();
      proxy.lie(PREPARE, lie);
      const calls = two.slice(0, 1);
      await expectNoSignature(executeTransactionWithSession(client, { encryptKey, wallet, session, calls }));
    }
  });
});

describe('a service that lies about its network gets no signature', () => {
  it.each(['SN_MAIN', '0x534e5f4d41494e', 'nowhere!'])('with %s for a development key', async (chainId) => {
    proxy.lie('/config', (text) => text.replace(/"chainId":"[^"]*"/, `"chainId":"${chainId}"`));
    await expectNoSignature(callAnyContract(newClient(), { encryptKey, wallet, calls: two }));
  });
});
