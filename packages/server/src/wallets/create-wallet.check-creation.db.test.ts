import type { ErrorCode } from '@svc/protocol';
import { chainIds, classes, contractAddress, toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CreateBody, Owner, refusal, WalletFixture } from '../../testing/wallets.ts';
import { addressOf } from '../chains/starknet/chain.ts';
import { createWallet } from './create-wallet.ts';
import type { WalletDeps } from './signed-execution.ts';
import { findWallet } from './wallet.ts';

let fixture: WalletFixture;
beforeAll(async () => {
  fixture = await WalletFixture.start();
});
afterAll(() => fixture.stop());

const create = (body: CreateBody, caller = fixture.caller(), deps: WalletDeps = fixture) =>
  createWallet(deps, caller, body);
const classAt = (address: string) => fixture.networks.starknet('development').chain.classHashAt(BigInt(address));
const count = async () => (await fixture.db.one<{ n: bigint }>(sql`select count(*) as n from wallets`))?.n;

/** Nothing was stored, and no sponsor was asked to pay. */
async function expectRefused(body: CreateBody, ...[code, caller, deps]: RefusalArguments): Promise<string> {
  const [wallets, asked] = [await count(), fixture.sponsor.requests];
  const message = await refusal(create(body, caller, deps), code);
  expect([await count(), fixture.sponsor.requests]).toEqual([wallets, asked]);
  return message;
}
type RefusalArguments = [code: ErrorCode, caller?: ReturnType<WalletFixture['caller']>, deps?: WalletDeps];

describe('creating a wallet is refused, with nothing stored or sent, for', () => {
  it.each([
    ['publicKey', { publicKey: 'nonsense' }],
    ['userSignature.r', { userSignature: { r: '0xzz', s: '0x1', recovery: 0 } }],
    ['userSignature.s', { userSignature: { r: '0x1', s: `0x${'f'.repeat(64)}`, recovery: 0 } }],
  ])('%s that cannot be read', async (field, changes) => {
    const message = await expectRefused(await fixture.request(new Owner(), 'ana', changes), 'invalid_request');
    expect(message).toContain(`body.${field} `);
  });

  it.each([
    ['class_hash', { class_hash: '0x0' }],
    ['class_hash', { class_hash: `0x8${'0'.repeat(62)}` }],
    ['salt', { salt: '-1' }],
    ['unique', { unique: 'no' }],
    ['unique', { unique: '0x1' }],
    ['calldata[0]', { calldata: ['0x'] }],
  ])('deploymentData.%s that is %o', async (field, changes) => {
    const body = await fixture.request(new Owner(), 'ana');
    const wrong = { ...body, deploymentData: { ...body.deploymentData, ...changes } };
    expect(await expectRefused(wrong, 'invalid_request')).toContain(`body.deploymentData.${field} `);
  });

  it('another chain than Starknet', async () => {
    await expectRefused(await fixture.request(new Owner(), 'ana', { chain: 'BASE' }), 'unsupported_chain');
  });

  it("another user than the token's", async () => {
    const body = await fixture.request(new Owner(), 'ana');
    await expectRefused(body, 'other_user', fixture.caller('luis'));
    await expectRefused({ ...body, chain: 'BASE' }, 'unsupported_chain', fixture.caller('luis'));
  });

  it('an address that the deployment data does not lead to', async () => {
    const publicKey = new Owner().address;
    const message = await expectRefused(await fixture.request(new Owner(), 'ana', { publicKey }), 'address_mismatch');
    expect(message).toContain(publicKey);
  });

  it.each(['class_hash', 'salt'] as const)('an address of another %s', async (field) => {
    const body = await fixture.request(new Owner(), 'ana');
    const deploymentData = { ...body.deploymentData, [field]: '0x77' };
    await expectRefused({ ...body, deploymentData }, 'address_mismatch');
  });

  /** With the address that fits, so that the address is not what is wrong. */
  async function shaped(changes: { classHash?: bigint; salt?: bigint; calldata?: bigint[] }, owner = new Owner()) {
    const { classHash, salt, constructorCalldata } = owner.deployment;
    const deployment = { classHash, salt, constructorCalldata };
    if (changes.classHash !== undefined) deployment.classHash = changes.classHash;
    if (changes.salt !== undefined) deployment.salt = changes.salt;
    if (changes.calldata) deployment.constructorCalldata = changes.calldata;
    const publicKey = addressOf(contractAddress({ ...deployment, deployer: 0n }));
    const body = await fixture.request(owner, 'ana', { publicKey });
    return {
      ...body,
      userSignature: owner.sign(body.typedData, publicKey),
      deploymentData: {
        class_hash: toHex(deployment.classHash),
        salt: toHex(deployment.salt),
        unique: '0',
        calldata: deployment.constructorCalldata.map(toHex),
      },
    };
  }

  it("a salt that is not the owner's key", async () => {
    expect(await expectRefused(await shaped({ salt: 7n }), 'address_mismatch')).toContain('deploymentData.salt');
  });

  it.each([
    ['SVC', classes.svc, (key: bigint) => [key, 1n]],
    ['SVC', classes.svc, () => []],
    ['SVC', classes.svc, () => [0n]],
    ['READY', classes.ready, (key: bigint) => [0n, key, 0n, 0n, key]],
    ['READY', classes.ready, (key: bigint) => [1n, key, 1n]],
  ] as const)('calldata that a wallet of type %s does not have', async (type, classHash, calldata) => {
    const owner = new Owner(classHash);
    const message = await expectRefused(
      await shaped({ calldata: [...calldata(owner.key)] }, owner),
      'address_mismatch',
    );
    expect(message).toContain(`deploymentData.calldata of a wallet of type ${type}`);
  });

  it('a class of the other type', async () => {
    const ready = await fixture.request(new Owner(classes.ready), 'ana', { walletType: 'SVC' });
    expect(await expectRefused(ready, 'class_not_allowed')).toContain('is a class of READY');
    const svc = await fixture.request(new Owner(classes.svc), 'ana', { walletType: 'READY' });
    expect(await expectRefused(svc, 'class_not_allowed')).toContain('is a class of SVC');
  });

  it('a class that is not declared, and one without outside executions', async () => {
    const nowhere = await shaped({ classHash: 0x1234n });
    expect(await expectRefused(nowhere, 'class_not_allowed')).toContain('not declared');
    const token = await classAt('0x049d36570d4e46f48e99674bd3fcc84644ddd6b96f7c741b1562b82f9e004dc7');
    expect(await expectRefused(await shaped({ classHash: token ?? 0n }), 'class_not_allowed')).toContain('SNIP-9');
  });

  it('typed data of another message, another chain, or with calls', async () => {
    const owner = new Owner();
    const body = await fixture.request(owner, 'ana');
    const { domain, message } = body.typedData as { domain: object; message: object };
    const signedAnew = (typedData: Record<string, unknown>) => ({
      ...body,
      typedData,
      userSignature: owner.sign(typedData),
    });
    await expectRefused({ ...body, typedData: { hello: 'world' } }, 'invalid_typed_data');
    const mainnet = { ...body.typedData, domain: { ...domain, chainId: toHex(chainIds.SN_MAIN) } };
    expect(await expectRefused(signedAnew(mainnet), 'invalid_typed_data')).toContain('domain.chainId');
    const call = { To: '0x1', Selector: '0x2', Calldata: [] };
    const calling = { ...body.typedData, message: { ...message, Calls: [call] } };
    expect(await expectRefused(signedAnew(calling), 'invalid_typed_data')).toContain('no calls');
    const other = { ...body.typedData, message: { ...message, Caller: '0x1234' } };
    expect(await expectRefused(signedAnew(other), 'invalid_typed_data')).toContain('ANY_CALLER');
  });

  it('typed data that was altered after it was signed', async () => {
    const body = await fixture.request(new Owner(), 'ana');
    const { message } = body.typedData as { message: object };
    const altered = { ...body.typedData, message: { ...message, Nonce: '0x1' } };
    await expectRefused({ ...body, typedData: altered }, 'invalid_signature');
  });

  it('typed data that has expired', async () => {
    const owner = new Owner();
    const body = await fixture.request(owner, 'ana');
    const { message } = body.typedData as { message: object };
    const past = { ...body.typedData, message: { ...message, 'Execute After': '0x1', 'Execute Before': '0x2' } };
    await expectRefused({ ...body, typedData: past, userSignature: owner.sign(past) }, 'typed_data_expired');
  });

  it("another key's signature, and one for another account", async () => {
    const owner = new Owner();
    const body = await fixture.request(owner, 'ana');
    await expectRefused(
      { ...body, userSignature: new Owner().sign(body.typedData, owner.address) },
      'invalid_signature',
    );
    await expectRefused({ ...body, userSignature: owner.sign(body.typedData, '0x77') }, 'invalid_signature');
    await expectRefused({ ...body, userSignature: { r: '0', s: '0', recovery: 0 } }, 'invalid_signature');
  });

  it('a request that was replayed for another user or another organisation', async () => {
    const body = await fixture.request(new Owner(), 'ana');
    await create(body);
    await expectRefused({ ...body, externalUserId: 'luis' }, 'wallet_already_exists');
    await expectRefused(body, 'wallet_already_exists', fixture.caller(undefined, await fixture.newOrganization()));
    const forged = { ...body, externalUserId: 'luis', userSignature: { r: '1', s: '1', recovery: 0 } };
    await expectRefused(forged, 'invalid_signature');
  });
});

describe('a wallet of a custom class', () => {
  /** A network that has the earliest class, but not in its table. */
  function strangeNetworks(): WalletDeps {
    const networks: WalletDeps['networks'] = {
      starknet: (environment) => {
        const network = fixture.networks.starknet(environment);
        return {
          ...network,
          walletClasses: network.walletClasses.filter(({ classHash }) => classHash !== classes.svcSessions),
        };
      },
      evm: (...args) => fixture.networks.evm(...args),
      token: (...args) => fixture.networks.token(...args),
    };
    return { ...fixture, networks };
  }

  it('is created when the class is declared and supports SNIP-9, by a key of its constructor', async () => {
    const owner = new Owner(classes.svcSessions);
    const created = await create(await fixture.request(owner, 'ana'), fixture.caller(), strangeNetworks());
    expect(created).toMatchObject({ walletType: 'SVC', success: true });
    expect(await findWallet(fixture.db.reads, fixture.caller(), owner.address)).toMatchObject({ ownerKey: owner.key });
  });

  it.each(['allowed_contracts', 'allowed_entrypoints'])('is not sponsored while %s bounds what is', async (list) => {
    const caller = fixture.caller();
    const { organizationId, environment } = caller;
    const [contracts, entrypoints] = list === 'allowed_contracts' ? [['0x2'], null] : [null, ['transfer']];
    await fixture.db.run(sql`
      insert into sponsorship_settings (organization_id, environment, allowed_contracts, allowed_entrypoints)
      values (${organizationId}, ${environment}, ${contracts}, ${entrypoints})`);
    try {
      const body = await fixture.request(new Owner(classes.svcSessions), 'ana');
      await expectRefused(body, 'sponsorship_not_allowed', caller, strangeNetworks());
      expect(await create(await fixture.request(new Owner(classes.svcSessions), 'ana'))).toMatchObject({
        success: true,
      });
    } finally {
      await fixture.db.run(sql`delete from sponsorship_settings`);
    }
  });

  it('is not created by a key that is not in its constructor', async () => {
    const owner = new Owner(classes.svcSessions);
    const body = await fixture.request(owner, 'ana');
    const userSignature = new Owner().sign(body.typedData, owner.address);
    await expectRefused({ ...body, userSignature }, 'invalid_signature', fixture.caller(), strangeNetworks());
  });
});
