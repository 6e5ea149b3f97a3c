import type { CreatedWallet } from '@svc/protocol';
import { classes, encodeArray, selector, toHex, UDC_ADDRESS } from '@svc/starknet';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type CreateBody, Owner, refusal, WalletFixture } from '../../testing/wallets.ts';
import { createWallet } from './create-wallet.ts';
import type { WalletDeps } from './signed-execution.ts';
import { findWallet } from './wallet.ts';

let fixture: WalletFixture;
beforeAll(async () => {
  fixture = await WalletFixture.start();
});
afterAll(() => fixture.stop());
afterEach(() => {
  fixture.sponsor.beforeSend = () => {};
  fixture.sponsor.knowsHashes = true;
});

const create = (body: CreateBody, caller = fixture.caller(), deps: WalletDeps = fixture) =>
  createWallet(deps, caller, body);
const classAt = (address: string) => fixture.networks.starknet('development').chain.classHashAt(BigInt(address));

describe('creating a wallet', () => {
  it.each([
    ['SVC', classes.svc],
    ['READY', classes.ready],
    ['SVC of an earlier class', classes.svcPolicies],
    ['SVC of the earliest class', classes.svcSessions],
  ])('deploys %s and answers both shapes', async (_, classHash) => {
    const owner = new Owner(classHash);
    const body = await fixture.request(owner, 'ana', { publicKey: owner.address.toUpperCase().replace('0X', '0x') });
    const created = await create(body);
    expect(created).toMatchObject({
      id: expect.stringMatching(/^wal_/),
      externalUserId: 'ana',
      apiPublicKey: 'pk_dev_1',
      publicKey: body.publicKey,
      normalizedPublicKey: owner.address,
      walletPublicKey: body.publicKey,
      walletType: owner.walletType,
      chain: 'STARKNET',
      isDeployed: false,
      success: true,
    });
    expect(await classAt(owner.address)).toBe(classHash);
    await fixture.settle(created.txHash);
    expect(await findWallet(fixture.db.reads, fixture.caller(), owner.address)).toMatchObject({
      isDeployed: true,
      ownerKey: owner.key,
      classHash,
    });
  });

  it('takes signatures in decimal and any spelling of the address', async () => {
    const owner = new Owner();
    const body = await fixture.request(owner, 'ana');
    const { r, s, recovery } = body.userSignature;
    const userSignature = { r: BigInt(r).toString(), s: BigInt(s).toString(), recovery };
    const publicKey = toHex(BigInt(owner.address));
    expect(await create({ ...body, userSignature, publicKey })).toMatchObject({ normalizedPublicKey: owner.address });
  });

  it('is SVC unless told otherwise', async () => {
    const { walletType, ...body } = await fixture.request(new Owner(), 'ana');
    expect(walletType).toBe('SVC');
    expect(await create(body)).toMatchObject({ walletType: 'SVC' });
  });

  it('answers the same wallet again, also when the typed data has expired', async () => {
    const body = await fixture.request(new Owner(), 'ana');
    const first = await create(body);
    const again = { ...body, typedData: { forgotten: true }, encryptedPrivateKey: 'another' };
    expect(await create(again)).toEqual(first);
    expect(await create(body, fixture.caller('ana'))).toEqual(first);
  });

  it('creates one wallet for many requests at once', async () => {
    const owner = new Owner();
    const bodies = await Promise.all([1, 2, 3].map(() => fixture.request(owner, 'ana')));
    const before = fixture.sponsor.stored.size;
    const answers = await Promise.all([...bodies, ...bodies].map((body) => create(body)));
    expect(new Set(answers.map(({ id, txHash }) => `${id} ${txHash}`)).size).toBe(1);
    expect(fixture.sponsor.stored.size).toBe(before + 1);
  });

  it('has one owner when two users ask at once', async () => {
    const owner = new Owner();
    const body = await fixture.request(owner, 'ana');
    const others = [{ ...body, externalUserId: 'luis' }, await fixture.request(owner, 'luis')];
    const answers = await Promise.allSettled([body, ...others].map((one) => create(one)));
    const users = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.externalUserId] : []));
    expect(new Set(users).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status === 'rejected')) {
      expect(answer).toMatchObject({ reason: { code: 'wallet_already_exists' } });
    }
  });

  it('with ifNone creates one wallet for simultaneous requests of one user, and answers it to all', async () => {
    const owners = [new Owner(), new Owner(), new Owner(), new Owner()];
    const bodies = await Promise.all(owners.map((owner) => fixture.request(owner, 'pau', { ifNone: true })));
    const before = fixture.sponsor.stored.size;
    const answers = await Promise.all(bodies.map((body) => create(body)));
    expect(new Set(answers.map(({ id, txHash }) => `${id} ${txHash}`)).size).toBe(1);
    expect(fixture.sponsor.stored.size).toBe(before + 1);
    expect(await create(await fixture.request(new Owner(), 'pau', { ifNone: true }))).toEqual(answers[0]);
  });

  it('with ifNone answers no wallet of another type, user or organisation, and none that failed', async () => {
    const first = await create(await fixture.request(new Owner(), 'rut', { ifNone: true }));
    const others = [
      await create(await fixture.request(new Owner(classes.ready), 'rut', { ifNone: true })),
      await create(await fixture.request(new Owner(), 'ben', { ifNone: true })),
      await create(
        await fixture.request(new Owner(), 'rut', { ifNone: true }),
        fixture.caller(undefined, await fixture.newOrganization()),
      ),
    ];
    await fixture.settle(first.txHash, 'REVERTED');
    const anew = await create(await fixture.request(new Owner(), 'rut', { ifNone: true }));
    expect(new Set([first, ...others, anew].map(({ id }) => id)).size).toBe(5);
  });

  it('without ifNone creates as many wallets as requested', async () => {
    const bodies = await Promise.all([1, 2, 3].map(() => fixture.request(new Owner(), 'sol')));
    const ids = (await Promise.all(bodies.map((body) => create(body)))).map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
  });

  it('with ifNone waits for a request of the same user that is being stored, in another transaction', async () => {
    const body = await fixture.request(new Owner(), 'max', { ifNone: true });
    const other = await fixture.request(new Owner(), 'max', { ifNone: true });
    const found = await createWallet(overtakenBy(other), fixture.caller(), body);
    expect(found.normalizedPublicKey).toBe(other.publicKey);
    expect(found).toEqual(await create(other));
  });

  /** A sponsor that is overtaken: before it relays anything, the other request is stored, but not sent. */
  function overtakenBy(other: CreateBody, then = async () => {}): WalletDeps {
    const sponsor: WalletDeps['sponsor'] = {
      prepare: (request) => fixture.sponsor.prepare(request),
      sponsor: async (...args) => {
        fixture.sponsor.beforeSend = () => {
          throw new Error('away');
        };
        await expect(create(other)).rejects.toThrow('away');
        fixture.sponsor.beforeSend = () => {};
        await then();
        return fixture.sponsor.sponsor(...args);
      },
    };
    return { ...fixture, sponsor };
  }

  it('finds the wallet that another request has stored in the meantime, and stores no second relay', async () => {
    const owner = new Owner();
    const [body, same] = [await fixture.request(owner, 'ana'), await fixture.request(owner, 'ana')];
    const before = fixture.sponsor.stored.size;
    const found = await createWallet(overtakenBy(same), fixture.caller(), body);
    expect(found).toEqual(await create(same));
    expect(fixture.sponsor.stored.size).toBe(before + 1);
  });

  it('never shows or replaces the wallet that another user has stored in the meantime', async () => {
    const refusedAfter = (mine: CreateBody, theirs: CreateBody, then?: () => Promise<void>) =>
      refusal(createWallet(overtakenBy(theirs, then), fixture.caller(), mine), 'wallet_already_exists');
    const replayed = await fixture.request(new Owner(), 'ana');
    await refusedAfter(replayed, { ...replayed, externalUserId: 'luis' });
    const owner = new Owner();
    await refusedAfter(await fixture.request(owner, 'ana'), await fixture.request(owner, 'luis'));
    const unlucky = new Owner();
    const fail = async () => fixture.settle((await create(theirs)).txHash, 'VOIDED');
    const theirs = await fixture.request(unlucky, 'luis');
    const [mine, before] = [
      await fixture.request(unlucky, 'ana', { encryptedPrivateKey: 'mine' }),
      fixture.sponsor.stored.size,
    ];
    await refusedAfter(mine, theirs, fail);
    expect(fixture.sponsor.stored.size).toBe(before + 1);
    expect(await findWallet(fixture.db.reads, fixture.caller(), unlucky.address)).toMatchObject({
      externalUserId: 'luis',
      encryptedPrivateKey: 'ciphertext',
    });
  });

  it('is answered by the same request when the chain was away after storing', async () => {
    const body = await fixture.request(new Owner(), 'ana');
    fixture.sponsor.beforeSend = () => {
      throw new Error('away');
    };
    await expect(create(body)).rejects.toThrow('away');
    fixture.sponsor.beforeSend = () => {};
    const created = await create(body);
    expect(created.success).toBe(true);
    expect(created).toEqual(await create(body));
  });

  it('stores the hash that a paymaster tells later, and says so until then', async () => {
    fixture.sponsor.knowsHashes = false;
    const created = await create(await fixture.request(new Owner(), 'ana'));
    expect(created.txHash).toMatch(/^0x/);
    const waiting = await fixture.request(new Owner(), 'ana');
    fixture.sponsor.beforeSend = () => {
      throw new Error('away');
    };
    await expect(create(waiting)).rejects.toThrow('away');
    await refusal(create(waiting), 'chain_unavailable');
  });
});

describe('creating a wallet again after its deployment failed', () => {
  async function failed(owner: Owner): Promise<{ body: CreateBody; created: CreatedWallet }> {
    await fixture.sandbox.post('/starknet/faults', { kind: 'revert', reason: 'out of luck' });
    const body = await fixture.request(owner, 'ana');
    const created = await create(body);
    await fixture.settle(created.txHash);
    return { body, created };
  }

  it('needs newly signed typed data, and then deploys it as the same wallet', async () => {
    const owner = new Owner();
    const { body, created } = await failed(owner);
    expect(await findWallet(fixture.db.reads, fixture.caller(), owner.address)).toMatchObject({ isDeployed: false });
    expect(await refusal(create(body), 'transaction_reverted')).toContain('sign it anew');
    const again = await create(await fixture.request(owner, 'ana', { encryptedPrivateKey: 'newer' }));
    expect(again).toMatchObject({ id: created.id, encryptedPrivateKey: 'newer' });
    expect(again.txHash).not.toBe(created.txHash);
    await fixture.settle(again.txHash);
    expect(await findWallet(fixture.db.reads, fixture.caller(), owner.address)).toMatchObject({ isDeployed: true });
  });

  it('is not for another user', async () => {
    const owner = new Owner();
    await failed(owner);
    await refusal(create(await fixture.request(owner, 'luis')), 'wallet_already_exists');
  });

  it('believes the chain when it is reorganised and says something else', async () => {
    const owner = new Owner();
    const created = await create(await fixture.request(owner, 'ana'));
    const isDeployed = async () => (await findWallet(fixture.db.reads, fixture.caller(), owner.address))?.isDeployed;
    await fixture.settle(created.txHash);
    expect(await isDeployed()).toBe(true);
    await fixture.settle(created.txHash, 'REVERTED');
    expect(await isDeployed()).toBe(false);
    await fixture.settle(created.txHash);
    expect(await isDeployed()).toBe(true);
  });

  it('is deployed when an earlier try succeeds after all', async () => {
    const owner = new Owner();
    const first = await create(await fixture.request(owner, 'ana'));
    await fixture.settle(first.txHash, 'REVERTED');
    const second = await create(await fixture.request(owner, 'ana'));
    await fixture.settle(first.txHash);
    await fixture.settle(second.txHash, 'REVERTED');
    expect(await create(await fixture.request(owner, 'ana'))).toMatchObject({ isDeployed: true, txHash: first.txHash });
  });
});

describe('a wallet whose account stands already', () => {
  async function deployElsewhere(owner: Owner): Promise<void> {
    const { classHash, salt, constructorCalldata } = owner.deployment;
    const calldata = [classHash, salt, 0n, ...encodeArray(constructorCalldata)];
    await fixture.send([{ to: UDC_ADDRESS, selector: selector('deploy_contract'), calldata }]);
  }

  it('is not deployed again by a paymaster that has failed to once', async () => {
    const owner = new Owner();
    const created = await create(await fixture.request(owner, 'ana'));
    await fixture.settle(created.txHash, 'VOIDED');
    await create(await fixture.request(owner, 'ana'));
    const last = [...fixture.sponsor.stored.values()].at(-1);
    expect(last).toMatchObject({ account: BigInt(owner.address), deployment: undefined });
  });

  it('is taken over with the class that it has', async () => {
    const owner = new Owner(classes.svcPolicies);
    await deployElsewhere(owner);
    const created = await create(await fixture.request(owner, 'ana'));
    await fixture.settle(created.txHash);
    expect(await findWallet(fixture.db.reads, fixture.caller(), owner.address)).toMatchObject({
      isDeployed: true,
      classHash: classes.svcPolicies,
    });
  });
});
