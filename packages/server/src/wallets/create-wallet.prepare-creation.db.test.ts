import type { BodyOf, endpoints } from '@svc/protocol';
import { ANY_CALLER, classes, parseOutsideExecutionTypedData, toHex } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Owner, refusal, WalletFixture } from '../../testing/wallets.ts';
import { prepareCreation } from './create-wallet.ts';

type Body = BodyOf<typeof endpoints.prepareWalletCreation>;

let fixture: WalletFixture;
beforeAll(async () => {
  fixture = await WalletFixture.start();
});
afterAll(() => fixture.stop());

const prepare = (owner: Owner, changes: Partial<Body> = {}) => {
  const known = { chain: 'STARKNET', publicKey: owner.address, starkKeyPubAX: toHex(owner.key) } as const;
  return prepareCreation(fixture, fixture.caller(), { ...known, walletType: owner.walletType, ...changes });
};

describe('preparing the creation of a wallet', () => {
  it('answers an execution without calls, for anyone to send, for an hour at most', async () => {
    const { typedData } = await prepare(new Owner());
    const read = parseOutsideExecutionTypedData(typedData);
    if (!read.ok) throw new Error(read.reason);
    const { execution, chainId } = read.value;
    expect(chainId).toBe(fixture.networks.starknet('development').chain.chainId);
    expect(execution).toMatchObject({ caller: ANY_CALLER, calls: [] });
    expect(execution.executeBefore - execution.executeAfter).toBeLessThanOrEqual(3_600n);
    const another = parseOutsideExecutionTypedData((await prepare(new Owner())).typedData);
    expect(another.ok && another.value.execution.nonce).not.toBe(execution.nonce);
  });

  it.each([
    ['the current class', classes.svc],
    ['an earlier class', classes.svcPolicies],
    ['the earliest class', classes.svcSessions],
    ['READY', classes.ready],
  ])('finds %s by the address, in any spelling', async (_, classHash) => {
    const owner = new Owner(classHash);
    const publicKey = toHex(BigInt(owner.address)).toUpperCase().replace('0X', '0x');
    expect(await prepare(owner, { publicKey })).toMatchObject({ accountClassHash: toHex(classHash) });
  });

  it('answers the current class of the type for any other address', async () => {
    const untyped = { chain: 'STARKNET', publicKey: '0x1234', starkKeyPubAX: toHex(new Owner().key) } as const;
    const svc = await prepareCreation(fixture, fixture.caller(), untyped);
    expect(svc).toMatchObject({ accountClassHash: toHex(classes.svc) });
    const ready = { walletType: 'READY', publicKey: '0x1234' } as const;
    expect(await prepare(new Owner(), ready)).toMatchObject({ accountClassHash: toHex(classes.ready) });
  });

  it('takes a class of the type that is named', async () => {
    const classHash = toHex(classes.svcSessions);
    expect(await prepare(new Owner(), { classHash })).toMatchObject({ accountClassHash: classHash });
  });

  it('refuses other classes', async () => {
    const message = await refusal(prepare(new Owner(), { classHash: toHex(classes.ready) }), 'class_not_allowed');
    expect(message).toContain('is a class of READY');
    expect(await refusal(prepare(new Owner(), { classHash: '0x1234' }), 'class_not_allowed')).toContain('not declared');
  });

  it('refuses other chains and fields that cannot be read', async () => {
    await refusal(prepare(new Owner(), { chain: 'BASE' }), 'unsupported_chain');
    for (const [field, value] of [
      ['publicKey', '0x0'],
      ['starkKeyPubAX', 'nonsense'],
      ['starkKeyPubAX', '0'],
      ['classHash', '0'],
    ] as const) {
      expect(await refusal(prepare(new Owner(), { [field]: value }), 'invalid_request')).toContain(`body.${field} `);
    }
  });

  it('is refused where there is no such chain', async () => {
    const body = { chain: 'STARKNET', publicKey: '0x1', starkKeyPubAX: '0x1' } as const;
    const production = { ...fixture.caller(), environment: 'production' } as const;
    await refusal(prepareCreation(fixture, production, body), 'chain_not_configured');
  });
});
