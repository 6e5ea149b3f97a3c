import { endpoints } from '@svc/protocol';
import { classes } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App, field, hashOf, Owner, transferOf } from '../support/app.ts';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { keyHeaders, userToken } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
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

interface Prepared {
  readonly typedData: object;
  readonly currentClassHash: string;
  readonly targetClassHash: string;
  readonly currentWalletType: string;
  readonly targetWalletType: string;
}

async function prepared(owner: Owner): Promise<Prepared> {
  const reply = await app.post('/svc-wallets/prepare-upgrade', { walletAddress: owner.address });
  expectAnswer(reply, endpoints.prepareWalletUpgrade);
  return reply.body as Prepared;
}

const upgrade = (owner: Owner, typedData: object, signer = owner) => {
  const { r, s } = signer.sign(typedData, owner.address);
  return app.post('/svc-wallets/upgrade', { walletAddress: owner.address, typedData, signature: [r, s] });
};

describe('an upgrade', () => {
  it.each([
    ['the class with policies', classes.svcPolicies, 'SVC'],
    ['the class with sessions', classes.svcSessions, 'SVC'],
    ['READY', classes.ready, 'READY'],
  ] as const)(
    'leads from %s to the current class, and keeps address, money and history',
    async (_, from, walletType) => {
      const owner = new Owner(from);
      const user = `upgrade ${from}`;
      await app.createWallet(owner, user, walletType);
      await sandbox.faucet(owner.address, 'USDC', '3');
      const { typedData, ...rest } = await prepared(owner);
      expect(BigInt(rest.currentClassHash)).toBe(from);
      expect(BigInt(rest.targetClassHash)).toBe(classes.svc);
      expect(rest).toMatchObject({ currentWalletType: walletType, targetWalletType: 'SVC' });
      const reply = await upgrade(owner, typedData);
      expectAnswer(reply, endpoints.executeWalletUpgrade);
      expect(reply.body).toMatchObject({ newClassHash: rest.targetClassHash, newWalletType: 'SVC' });
      const classNow = async () =>
        BigInt(String((await sandbox.rpc('getClassHashAt', ['latest', owner.address])).result));
      expect(await eventually(classNow, (found) => found === classes.svc)).toBe(classes.svc);
      const wallet = await eventually(
        () => app.get(`/svc-wallets/by-user?externalUserId=${user}`),
        ({ body }) => (body as { walletType: string }).walletType === 'SVC',
      );
      expect(wallet.body).toMatchObject({ walletType: 'SVC', publicKey: owner.address });
      expect(await app.balance(owner.address, 'USDC')).toBe(3_000_000n);
      // Its owner still controls it.
      hashOf(await app.execute(owner, [transferOf(USDC, '0xb0b', 1n)]));
    },
  );

  it('is refused when another key signs, when it is none, and when there is nothing to upgrade', async () => {
    const owner = new Owner(classes.svcSessions);
    await app.createWallet(owner, 'guarded');
    const { typedData } = await prepared(owner);
    expectError(await upgrade(owner, typedData, new Owner()), 400, 'invalid_signature');
    const other = await app.prepare(owner.address, [transferOf(USDC, '0xbad', 1n)]);
    expectError(await upgrade(owner, other), 400, 'invalid_typed_data');
    const current = new Owner();
    await app.createWallet(current, 'up to date');
    const reply = await app.post('/svc-wallets/prepare-upgrade', { walletAddress: current.address });
    expectError(reply, 400, 'class_not_allowed');
    const unknown = await app.post('/svc-wallets/prepare-upgrade', { walletAddress: '0x1234' });
    expectError(unknown, 404, 'wallet_not_found');
  });

  it('needs the secret key', async () => {
    const token = await userToken(service.server, 'someone');
    const user = new App(service.server, { ...keyHeaders(service.server), authorization: `Bearer ${token}` });
    expectError(await user.post('/svc-wallets/prepare-upgrade', { walletAddress: '0x1' }), 401, 'secret_key_required');
  });

  it('from READY brings session keys', async () => {
    const owner = new Owner(classes.ready);
    await app.createWallet(owner, 'ready to sessions', 'READY');
    const { typedData } = await prepared(owner);
    field(await upgrade(owner, typedData), 'transactionHash');
    const call = { contractAddress: owner.address, entrypoint: 'revoke_session_key', calldata: ['0x1'] };
    const reply = await eventually(
      () => app.execute(owner, [call]),
      ({ status }) => status === 200,
    );
    hashOf(reply);
  });
});
