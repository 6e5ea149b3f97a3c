import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { endpoints } from '@svc/protocol';
import { chainIds, classes, starknetTokens, toHex } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SandboxServer, startSandbox } from '../../packages/sandbox/testing/sandbox-server.ts';
import { createClient } from '../../packages/sdk/src/client/client.ts';
import { transfer } from '../../packages/sdk/src/transfers.ts';
import { createWallet } from '../../packages/sdk/src/wallets.ts';
import { FakeAuthenticator } from '../../packages/sdk/testing/fake-authenticator.ts';
import { credit } from '../../packages/server/src/ledger/ledger.ts';
import { bodyOf, hashOf, type Organization, Owner, transferOf } from '../support/app.ts';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { send } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { Sandbox } from '../support/sandbox.ts';
import { TestService } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';

/** The sandbox's node under another name: a live network for the service, which has no sandbox itself. */
let node: SandboxServer;
let chain: Sandbox;
let service: TestService;
let app: Organization;
let folder: string;
const tokens = starknetTokens.mainnet.map(([token, address, decimals]) => ({ token, address, decimals })).slice(0, 6);

beforeAll(async () => {
  node = await startSandbox();
  chain = new Sandbox({ origin: new URL(node.url).origin });
  folder = await mkdtemp(path.join(tmpdir(), 'svc-network-'));
  const file = path.join(folder, 'network.json');
  const network = { name: 'workshop', chainId: 'SVC_SANDBOX', tokens, classes: { svc: toHex(classes.svc) } };
  await writeFile(file, JSON.stringify(network));
  const { accounts } = await chain.show();
  const pairs = (label: RegExp) =>
    accounts.filter((each) => label.test(each.label)).map(({ address, privateKey }) => `${address}:${privateKey}`);
  const [manager = ''] = pairs(/manager/);
  service = await TestService.hosted({
    SANDBOX: 'off',
    STARKNET_NETWORK: file,
    STARKNET_RPC_URLS: node.rpcUrl,
    STARKNET_PUBLIC_RPC_URL: node.rpcUrl,
    PAYMENT_ADDRESS: manager.split(':')[0] ?? '',
    RELAYER_ACCOUNTS: pairs(/relayer/).join(),
    MANAGER_ACCOUNT: manager,
  });
  app = await service.organization({ environment: 'production' });
  const owner = { organizationId: app.id, environment: 'production' } as const;
  await credit(service.db, { ...owner, type: 'GRANT', amount: 50_000_000n, reference: 'credits of the test' });
});
afterAll(async () => {
  await service?.stop();
  await node?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('a service on the network of a file', () => {
  it('tells apps its chain, tokens and classes, and is ready', async () => {
    const reply = await app.get('/config');
    expectAnswer(reply, endpoints.getConfig);
    expect(reply.body).toMatchObject({ network: 'workshop', chainId: toHex(chainIds.SVC_SANDBOX) });
    const { tokens: told, walletClasses } = reply.body as {
      tokens: unknown[];
      walletClasses: { walletType: string }[];
    };
    expect(told).toHaveLength(tokens.length);
    expect(new Set(walletClasses.map(({ walletType }) => walletType))).toEqual(new Set(['SVC']));
    expect((await send(`${service.server.origin}/readyz`)).body).toMatchObject({ status: 'ok' });
  });

  it('makes wallets, moves their money and pays gifts', async () => {
    const owner = new Owner();
    await app.createWallet(owner, 'ana');
    await chain.faucet(owner.address, 'USDC', '10');
    const hash = hashOf(await app.execute(owner, [transferOf(USDC, '0xb0b', 2_500_000n)]));
    const sent = await eventually(
      async () => (await app.get(`/transactions/${hash}`)).body as { status: string; token: string },
      ({ status }) => status === 'SUCCESS',
    );
    expect(sent).toMatchObject({ status: 'SUCCESS', token: 'USDC' });
    expect(await app.balance('0xb0b', 'USDC')).toBe(2_500_000n);
    const { code } = await app.gift({ amount: 1.5 });
    const body = { walletAddress: owner.address, chain: 'starknet' };
    const url = `${service.server.credentials.baseUrl}/gifts/claim/${code}/redeem`;
    const reply = await send(url, { method: 'POST', body });
    const { giftRedeem } = bodyOf<{ giftRedeem: { id: string } }>(reply, 201);
    const status = `${service.server.credentials.baseUrl}/gifts/claim/${code}/status/${giftRedeem.id}`;
    await eventually(
      async () => (await send(status)).body as { status: string },
      (each) => each.status === 'SUCCESS',
    );
    expect(await app.balance(owner.address, 'USDC')).toBe(9_000_000n);
  });

  it('has no wallets of a class that the file does not name', async () => {
    const owner = new Owner(classes.ready);
    const body = { chain: 'STARKNET', publicKey: owner.address, walletType: 'READY', starkKeyPubAX: owner.publicKey };
    expectError(await app.post('/svc-wallets/prepare-creation', body), 400, 'class_not_allowed');
  });

  it('gets signatures of an app that names the network, and of no other', async () => {
    const { publicKey, secretKey } = app.keys;
    const keys = { baseUrl: service.server.credentials.baseUrl, publicKey, secretKey };
    const encryptKey = `prf1.${Buffer.alloc(32, 7).toString('base64url')}`;
    const order = { encryptKey, chain: 'STARKNET', usePasskey: true } as const;
    const passkey = { credentials: new FakeAuthenticator() };
    const unnamed = createWallet(createClient(keys), { ...order, passkey, externalUserId: 'luis' });
    await expect(unnamed).rejects.toThrow('does not fit your public key');
    const client = createClient({ ...keys, trust: { chainId: 'SVC_SANDBOX', tokens: tokens.slice(0, 1) } });
    const wallet = await createWallet(client, { ...order, passkey, externalUserId: 'luis' });
    await chain.faucet(wallet.publicKey, 'USDC', '1');
    const move = { encryptKey, wallet, amount: '1', recipient: '0xb0c' } as const;
    await expect(transfer(client, { ...move, token: 'STRK' })).rejects.toMatchObject({ code: 'untrusted_token' });
    await transfer(client, { ...move, token: 'USDC' });
    await eventually(
      () => app.balance('0xb0c', 'USDC'),
      (balance) => balance === 1_000_000n,
    );
  });
});
