import { readFileSync } from 'node:fs';
import path from 'node:path';
import { classes, toHex } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../packages/sdk/src/client/client.ts';
import { classHashAt } from '../../packages/sdk/src/node/rpc.ts';
import { getTransactionList } from '../../packages/sdk/src/transactions.ts';
import { transfer } from '../../packages/sdk/src/transfers.ts';
import { upgradeWallet } from '../../packages/sdk/src/wallet-upgrades.ts';
import { type CreateWalletParams, createWallet, getTokenBalance, getWallet } from '../../packages/sdk/src/wallets.ts';
import { FakeAuthenticator } from '../../packages/sdk/testing/fake-authenticator.ts';
import { caller } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { Sandbox } from '../support/sandbox.ts';
import { TestService } from '../support/service.ts';

const COMPILED_HASH = path.resolve(import.meta.dirname, '../../contracts/compiled/class-hash.txt');

/** As from a passkey, which skips the slow key derivation of a PIN. */
const encryptKey = `prf1.${Buffer.alloc(32, 7).toString('base64url')}`;
const BOB = '0xb0b';

let service: TestService;
let sandbox: Sandbox;
let client: Client;

beforeAll(async () => {
  service = await TestService.hosted();
  sandbox = new Sandbox(service.server);
  client = createClient(service.server.credentials);
});
afterAll(() => service?.stop());

const newWallet = (externalUserId: string, more: Partial<CreateWalletParams> = {}) => {
  const passkey = { encryptKey, usePasskey: true, passkey: { credentials: new FakeAuthenticator() } };
  return createWallet(client, { ...passkey, externalUserId, chain: 'STARKNET', ...more });
};

async function currentClass(): Promise<bigint | undefined> {
  const { body } = await caller(service.server)('/config');
  const { walletClasses } = body as { walletClasses: { walletType: string; classHash: string; current: boolean }[] };
  const found = walletClasses.find(({ walletType, current }) => walletType === 'SVC' && current);
  return found && BigInt(found.classHash);
}

describe('a wallet of the client library', () => {
  it('has the class that the configuration calls current, which is the compiled contract', async () => {
    const { publicKey } = await newWallet('new');
    const classHash = await classHashAt(client, BigInt(publicKey));
    expect(classHash).toBe(await currentClass());
    expect(classHash).toBe(BigInt(readFileSync(COMPILED_HASH, 'utf8').trim()));
  });

  it.each([
    ['the earlier class with policies', { classHash: toHex(classes.svcPolicies) }],
    ['the earlier class with sessions', { classHash: toHex(classes.svcSessions) }],
    ['READY', { walletType: 'READY', encryptKey: '4815', usePasskey: false }],
  ] as const)(
    'comes to it from %s, and keeps address, balance and history',
    async (from, params: Partial<CreateWalletParams>) => {
      const opens = params.encryptKey ?? encryptKey;
      const externalUserId = `from ${from}`;
      const wallet = await newWallet(externalUserId, params);
      const walletAddress = wallet.publicKey;
      await sandbox.faucet(walletAddress, 'USDC', '10');
      const pay = () => transfer(client, { encryptKey: opens, wallet, amount: 1, token: 'USDC', recipient: BOB });
      const history = async () => {
        const { items } = await getTransactionList(client, { walletAddress });
        return items.map(({ id, transactionHash, status }) => ({ id, transactionHash, status }));
      };
      await pay();
      const before = await eventually(
        history,
        (all) => all.length > 0 && all.every(({ status }) => status === 'SUCCESS'),
      );

      await upgradeWallet(client, { encryptKey: opens, wallet });
      const target = await currentClass();
      const classNow = () => classHashAt(client, BigInt(walletAddress));
      expect(await eventually(classNow, (found) => found === target)).toBe(target);
      expect(await getWallet(client, { externalUserId })).toMatchObject({ publicKey: walletAddress });
      const balance = await getTokenBalance(client, { chainToken: 'USDC', chain: 'STARKNET', externalUserId });
      expect(balance).toMatchObject({ balance: '9000000' });
      expect(await history()).toEqual(expect.arrayContaining(before));
      await pay();
      expect((await history()).length).toBeGreaterThan(before.length);
    },
  );
});
