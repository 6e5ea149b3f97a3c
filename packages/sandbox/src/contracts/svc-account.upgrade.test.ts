import { classes, constructorCalldata, selector, starkKey } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { call, panicOf, STRK, TestChain, transfer, USDC } from '../../testing/test-chain.ts';
import {
  BOB,
  OWNER_KEY,
  outside,
  ownerSignature,
  relay,
  relayer,
  SESSION,
  TestWallet,
} from '../../testing/test-wallet.ts';
import type { Executed } from '../execution/types.ts';
import { erc20 } from './erc20.ts';
import { uncompiledSvcAccount, unrepairedSvcAccount } from './svc-account.ts';

const pay = (amount = 1n) => transfer(USDC, BOB, amount);
const PUBLIC_KEY = starkKey(OWNER_KEY);
const readyCalldata = constructorCalldata('READY', PUBLIC_KEY);

describe.each([
  ['with policies', classes.svcPolicies],
  ['with sessions', classes.svcSessions],
  ['whose branches no node takes', unrepairedSvcAccount.classHash],
  ['of the time before the contract was compiled', uncompiledSvcAccount.classHash],
])('an upgrade from the earlier class %s', (_name, classHash) => {
  it('keeps address, owner, balance, sessions and spent nonces, and makes multicalls atomic', async () => {
    const wallet = await TestWallet.open(classHash);
    const validUntil = await wallet.addSession({ allowedEntrypoints: [selector('transfer')] });
    await wallet.asSession([pay()], { validUntil });
    const spent = outside(wallet.chain, [pay()]);
    const signed = ownerSignature(wallet.chain, wallet.owner, spent);
    await relay(wallet.chain, wallet.address, spent, signed);
    const before = { session: await wallet.session(), balance: await wallet.chain.balance(USDC, wallet.address) };

    const { events } = await wallet.mustAsOwner([call(wallet.address, 'upgrade', [classes.svc])]);
    expect(events[0]).toEqual({ from: wallet.address, keys: [selector('Upgraded'), classes.svc], data: [] });
    expect(await wallet.chain.classHashAt(wallet.address)).toBe(classes.svc);
    expect(await wallet.session()).toEqual(before.session);
    expect(await wallet.chain.balance(USDC, wallet.address)).toBe(before.balance);
    expect(await wallet.chain.read(wallet.address, 'get_public_key')).toEqual([PUBLIC_KEY]);
    expect((await relay(wallet.chain, wallet.address, spent, signed)).revertReason).toContain('SRC9: duplicated nonce');

    await wallet.setPolicy({ maxPerCall: 5n });
    expect((await wallet.asSession([pay(6n)], { validUntil })).revertReason).toContain('Spending: exceeds per-call');
    expect((await wallet.asSession([pay(5n)], { validUntil })).status).toBe('SUCCEEDED');
    expect((await wallet.asOwner([pay(), pay(2_000_000n)])).status).toBe('REVERTED');
  });
});

describe('an upgrade', () => {
  it('keeps the policies of the earlier class and what was spent', async () => {
    const wallet = await TestWallet.open(classes.svcPolicies);
    const validUntil = await wallet.addSession();
    await wallet.setPolicy();
    await wallet.asSession([pay(50n)], { validUntil });
    const policy = await wallet.policy();
    await wallet.own('upgrade', [classes.svc]);
    expect(await wallet.policy()).toEqual(policy);
    expect((await wallet.asSession([pay(31n)], { validUntil })).revertReason).toContain('exceeds window limit');
  });

  it('is for the account itself, to a class that is there', async () => {
    const wallet = await TestWallet.open();
    const stranger = await wallet.chain.simulate(relayer.address, [call(wallet.address, 'upgrade', [classes.ready])]);
    expect(stranger.revertReason).toContain("('Account: unauthorized')");
    expect((await wallet.own('upgrade', [0n])).revertReason).toContain("('Account: invalid class hash')");
    expect((await wallet.own('upgrade', [0x99n])).revertReason).toContain('is not declared.');
    expect(await wallet.chain.classHashAt(wallet.address)).toBe(classes.svc);
  });

  it('to READY, which finds no owner in its own place, leaves an account without one', async () => {
    const wallet = await TestWallet.open();
    await wallet.mustAsOwner([call(wallet.address, 'upgrade', [classes.ready])]);
    for (const entrypoint of ['get_owner', 'get_owner_guid']) {
      expect(await wallet.chain.ask(wallet.address, entrypoint)).toMatchObject({
        error: { error: panicOf('argent/owner-not-found') },
      });
    }
  });

  it('does nothing when a later call of its multicall fails', async () => {
    const wallet = await TestWallet.open();
    await wallet.asOwner([call(wallet.address, 'upgrade', [classes.svcPolicies]), pay(2_000_000n)]);
    expect(await wallet.chain.classHashAt(wallet.address)).toBe(classes.svc);
  });
});

describe('an upgrade from READY', () => {
  const upgradeTo = (wallet: TestWallet, classHash: bigint) =>
    wallet.chain.send(wallet.owner, [call(wallet.address, 'upgrade', [classHash, 0n])]) as Promise<Executed>;

  it('keeps address, owner, balance and spent nonces, and can then have sessions', async () => {
    const wallet = await TestWallet.open(classes.ready, readyCalldata);
    const spent = outside(wallet.chain, [pay()]);
    const signed = ownerSignature(wallet.chain, wallet.owner, spent);
    await relay(wallet.chain, wallet.address, spent, signed);
    const outcome = await upgradeTo(wallet, classes.svc);
    expect(outcome.status).toBe('SUCCEEDED');
    expect(outcome.events[0]).toEqual({ from: wallet.address, keys: [selector('Upgraded'), classes.svc], data: [] });
    expect(outcome.trace.execute?.calls[0]?.calls.map((one) => one.callType)).toEqual(['LIBRARY_CALL', 'LIBRARY_CALL']);
    expect(await wallet.chain.classHashAt(wallet.address)).toBe(classes.svc);
    expect(await wallet.chain.read(wallet.address, 'get_public_key')).toEqual([PUBLIC_KEY]);
    expect(await wallet.chain.balance(USDC, wallet.address)).toBe(999_999n);
    expect((await relay(wallet.chain, wallet.address, spent, signed)).revertReason).toContain('SRC9: duplicated nonce');
    const validUntil = await wallet.addSession();
    expect((await wallet.asSession([pay()], { validUntil })).status).toBe('SUCCEEDED');
  });

  it('works relayed, as the service does it', async () => {
    const wallet = await TestWallet.open(classes.ready, readyCalldata);
    await wallet.mustAsOwner([call(wallet.address, 'upgrade', [classes.svc, 0n])]);
    expect(await wallet.chain.classHashAt(wallet.address)).toBe(classes.svc);
  });

  it('leads to no class without perform_upgrade, to none that is no account, and back to none', async () => {
    const wallet = await TestWallet.open(classes.ready, readyCalldata);
    expect((await upgradeTo(wallet, classes.svcSessions)).revertReason).toContain("('ENTRYPOINT_NOT_FOUND')");
    expect((await upgradeTo(wallet, erc20.classHash)).revertReason).toContain("('ENTRYPOINT_NOT_FOUND')");
    expect((await upgradeTo(wallet, classes.ready)).revertReason).toContain("('argent/downgrade-not-allowed')");
    expect((await upgradeTo(wallet, 0x99n)).revertReason).toContain('is not declared.');
    expect(await wallet.chain.classHashAt(wallet.address)).toBe(classes.ready);
  });

  it('is refused while a second key guards the account', async () => {
    const wallet = await TestWallet.open(classes.ready, [0n, PUBLIC_KEY, 0n, 0n, SESSION]);
    const upgrade = call(wallet.address, 'upgrade', [classes.svc, 0n]);
    const outcome = await wallet.chain.simulate(wallet.address, [upgrade]);
    expect(outcome.revertReason).toContain('Account: guardian is set');
  });

  it('is refused with data that would be ignored', async () => {
    const wallet = await TestWallet.open(classes.ready, readyCalldata);
    const upgrade = call(wallet.address, 'upgrade', [classes.svc, 1n, 7n]);
    expect((await wallet.chain.simulate(wallet.address, [upgrade])).revertReason).toContain('Account: unexpected data');
    expect(await wallet.chain.classHashAt(wallet.address)).toBe(classes.ready);
  });

  it('cannot be played on an SVC account', async () => {
    const wallet = await TestWallet.open();
    const again = await wallet.own('perform_upgrade', [classes.svc, 0n]);
    expect(again.revertReason).toContain("('Account: no legacy owner')");
    const stranger = await wallet.chain.ask(wallet.address, 'perform_upgrade', [classes.svc, 0n]);
    expect(stranger).toMatchObject({ error: { error: panicOf('Account: unauthorized') } });
  });
});

describe('an account that was upgraded', () => {
  it('pays its own fees as before', async () => {
    const chain = new TestChain();
    const owner = await chain.account(OWNER_KEY, classes.ready, readyCalldata);
    await chain.must(owner, [call(owner.address, 'upgrade', [classes.svc, 0n])]);
    const before = await chain.balance(STRK, owner.address);
    const { fee } = await chain.must(owner, []);
    expect(await chain.balance(STRK, owner.address)).toBe(before - fee);
  });
});
