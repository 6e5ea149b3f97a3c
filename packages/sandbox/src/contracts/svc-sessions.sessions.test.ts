import { classes, outsideExecutionHash, selector, shortString, starkKey } from '@svc/starknet';
import { beforeEach, describe, expect, it } from 'vitest';
import { call, panicOf, transfer, USDC } from '../../testing/test-chain.ts';
import { BOB, outside, relay, SESSION, SESSION_KEY, sessionSignature, TestWallet } from '../../testing/test-wallet.ts';
import type { Refused } from '../execution/types.ts';

const ownerEntrypoints = [
  'upgrade',
  'add_or_update_session_key',
  'revoke_session_key',
  'set_spending_policy',
  'remove_spending_policy',
  '__execute__',
  'execute_from_outside_v2',
  'set_public_key',
];

const svcClasses = [
  ['current', classes.svc],
  ['earlier with policies', classes.svcPolicies],
  ['earlier with sessions', classes.svcSessions],
] as const;

describe.each(svcClasses)('sessions of the %s class', (_name, classHash) => {
  /** The current class accepts transactions of its owner only. */
  const ownersOnly = classHash === classes.svc;
  let wallet: TestWallet;
  beforeEach(async () => {
    wallet = await TestWallet.open(classHash);
  });
  const pay = (amount = 1n) => transfer(USDC, BOB, amount);

  it('sign for calls that are relayed', async () => {
    const validUntil = await wallet.addSession();
    expect(await wallet.asSession([pay(), pay()], { validUntil })).toMatchObject({ status: 'SUCCEEDED' });
    expect(await wallet.chain.balance(USDC, BOB)).toBe(2n);
    const terms = { valid_until: validUntil, max_calls: 100n, allowed_entrypoints_len: 0n };
    expect(await wallet.session()).toEqual({ ...terms, calls_used: 1n });
  });

  it(`sign ${ownersOnly ? 'no transactions' : 'transactions, too,'} of the account`, async () => {
    const validUntil = await wallet.addSession();
    const sent = await wallet.directlyAsSession([pay()], validUntil);
    if (ownersOnly) expect((sent as Refused).reason).toContain("('Account: invalid signature')");
    else expect(sent).toMatchObject({ status: 'SUCCEEDED' });
    expect((await wallet.session()).calls_used).toBe(ownersOnly ? 0n : 1n);
  });

  it('announce themselves with indexed keys', async () => {
    const validUntil = wallet.now + 5n;
    const added = await wallet.own('add_or_update_session_key', [SESSION, validUntil, 7n, 0n]);
    expect(added.events).toContainEqual({
      from: wallet.address,
      keys: [selector('SessionKeyAdded'), SESSION],
      data: [validUntil, 7n],
    });
    const revoked = await wallet.own('revoke_session_key', [SESSION]);
    expect(revoked.events).toContainEqual({
      from: wallet.address,
      keys: [selector('SessionKeyRevoked'), SESSION],
      data: [],
    });
  });

  /** Relayed it reverts; as a transaction it is refused. */
  async function expectRefused(calls: Parameters<TestWallet['asSession']>[0], validUntil: bigint, reason: string) {
    const relayed = await wallet.asSession(calls, { validUntil });
    expect(relayed.status).toBe('REVERTED');
    expect(relayed.revertReason).toContain(`${hexOf(reason)} ('${reason}')`);
    const direct = (await wallet.directlyAsSession(calls, validUntil)) as Refused;
    expect(direct.refused).toBe('VALIDATION_FAILURE');
    expect(direct.reason).toContain(`('${ownersOnly ? 'Account: invalid signature' : reason}')`);
    expect(await wallet.chain.balance(USDC, BOB)).toBe(0n);
  }

  it('end at the second that they name, not before', async () => {
    const validUntil = await wallet.addSession({ validUntil: wallet.now + 60n });
    wallet.chain.pass(59n);
    expect((await wallet.asSession([pay(0n)], { validUntil })).status).toBe('SUCCEEDED');
    wallet.chain.pass(1n);
    await expectRefused([pay()], validUntil, 'Session: expired');
  });

  it('are not there before they are added and after they are revoked', async () => {
    await expectRefused([pay()], wallet.now + 10n, 'Session: not registered');
    const validUntil = await wallet.addSession();
    await wallet.own('revoke_session_key', [SESSION]);
    await expectRefused([pay()], validUntil, 'Session: not registered');
    expect(await wallet.session()).toMatchObject({ valid_until: 0n, max_calls: 0n, calls_used: 0n });
  });

  it('are known by the end that they name', async () => {
    const validUntil = await wallet.addSession();
    await expectRefused([pay()], validUntil + 1n, 'Session: not registered');
  });

  it('make no more executions than they may, and a failing one does not count', async () => {
    const validUntil = await wallet.addSession({ maxCalls: 2n });
    await wallet.asSession([pay(0n), pay(0n)], { validUntil });
    const forbidden = await wallet.asSession([call(wallet.address, 'get_public_key')], { validUntil });
    expect(forbidden.status).toBe('REVERTED');
    expect((await wallet.session()).calls_used).toBe(1n);
    await wallet.asSession([pay(0n)], { validUntil });
    await expectRefused([pay()], validUntil, 'Session: no calls left');
  });

  it('start afresh when they are added again, with the new list and nothing of the old', async () => {
    const entrypoints = ['transfer', 'approve'].map((name) => selector(name));
    let validUntil = await wallet.addSession({ maxCalls: 1n, allowedEntrypoints: entrypoints });
    await wallet.asSession([pay(0n)], { validUntil });
    validUntil = await wallet.addSession({ maxCalls: 1n, allowedEntrypoints: [selector('approve')] });
    expect(await wallet.session()).toMatchObject({ calls_used: 0n, allowed_entrypoints_len: 1n });
    await expectRefused([pay()], validUntil, 'Session: entrypoint not allowed');
    const approve = call(USDC, 'approve', [BOB, 1n, 0n]);
    expect((await wallet.asSession([approve], { validUntil })).status).toBe('SUCCEEDED');
  });

  it('call what is on their list and nothing else, also inside a multicall', async () => {
    const validUntil = await wallet.addSession({ allowedEntrypoints: [selector('transfer')] });
    const approve = call(USDC, 'approve', [BOB, 1n, 0n]);
    await expectRefused([approve], validUntil, 'Session: entrypoint not allowed');
    await expectRefused([pay(), approve], validUntil, 'Session: entrypoint not allowed');
    expect((await wallet.asSession([pay()], { validUntil })).status).toBe('SUCCEEDED');
  });

  it.each(ownerEntrypoints)('never call %s on any contract, listed or not', async (name) => {
    const validUntil = await wallet.addSession({ allowedEntrypoints: [selector(name), selector('transfer')] });
    await expectRefused([call(USDC, name)], validUntil, 'Session: entrypoint not allowed');
    await expectRefused([pay(), call(USDC, name), pay()], validUntil, 'Session: entrypoint not allowed');
  });

  it('never call any function of the account itself', async () => {
    const validUntil = await wallet.addSession();
    for (const name of ['get_public_key', 'transfer', 'upgrade', 'perform_upgrade', '__validate__']) {
      await expectRefused([call(wallet.address, name)], validUntil, 'Session: entrypoint not allowed');
      await expectRefused([pay(), call(wallet.address, name)], validUntil, 'Session: entrypoint not allowed');
    }
  });

  it('need the signature of their own key', async () => {
    const validUntil = await wallet.addSession();
    const { chain, address } = wallet;
    expect((await wallet.asSession([pay()], { validUntil })).status).toBe('SUCCEEDED');
    const execution = outside(chain, [pay()]);
    const hash = outsideExecutionHash(2, execution, address, chain.block.chainId);
    const [, r = 0n, s = 0n] = sessionSignature(hash, validUntil, 0xbadn);
    const forged = await relay(chain, address, execution, [SESSION, r, s, validUntil]);
    expect(forged.revertReason).toContain("('Account: invalid signature')");
    const owned = await wallet.asSession([pay()], { validUntil, key: wallet.owner.privateKey });
    expect(owned.revertReason).toContain("('Session: not registered')");
  });

  it.each([1, 3, 5])('are not signed with %s felts', async (length) => {
    const validUntil = await wallet.addSession();
    const tx = await wallet.chain.invocation(wallet.owner, [pay()]);
    const signature = [...sessionSignature(tx.hash, validUntil), 0n].slice(0, length);
    expect((await wallet.chain.run({ ...tx, signature })) as Refused).toMatchObject({ refused: 'VALIDATION_FAILURE' });
  });

  it.skipIf(ownersOnly)('are looked at again when their transaction executes', async () => {
    const validUntil = await wallet.addSession({ validUntil: wallet.now + 60n });
    const tx = await wallet.chain.invocation(wallet.owner, [pay()]);
    wallet.chain.pass(60n);
    const signature = sessionSignature(tx.hash, validUntil);
    const outcome = await wallet.chain.run({ ...tx, signature }, { skipValidate: true });
    expect(outcome).toMatchObject({ status: 'REVERTED', revertReason: expect.stringContaining('Session: expired') });
  });

  it(`${ownersOnly ? 'never' : 'may'} have the key of the owner, whose signature knows no limits`, async () => {
    const owner = starkKey(wallet.owner.privateKey);
    await wallet.own('add_or_update_session_key', [owner, wallet.now + 5n, 1n, 0n]);
    expect((await wallet.session(owner)).valid_until).toBe(ownersOnly ? 0n : wallet.now + 5n);
    await wallet.addSession();
    await wallet.own('set_public_key', [SESSION]);
    expect(await wallet.chain.read(wallet.address, 'get_public_key')).toEqual([ownersOnly ? owner : SESSION]);
  });

  it('do not sign messages in the account name', async () => {
    const validUntil = await wallet.addSession();
    const signature = sessionSignature(0x1234n, validUntil);
    expect(await wallet.chain.read(wallet.address, 'is_valid_signature', [0x1234n, 4n, ...signature])).toEqual([0n]);
  });

  it('are added and revoked by the account alone', async () => {
    const { chain } = wallet;
    const validUntil = await wallet.addSession();
    const stranger = await chain.account(0x57a6n, classHash);
    const add = [SESSION + 1n, wallet.now + 5n, 1n, 0n];
    for (const [name, calldata] of [
      ['add_or_update_session_key', add],
      ['revoke_session_key', [SESSION]],
    ] as const) {
      await chain.send(stranger, [call(wallet.address, name, calldata)]);
      expect(await chain.ask(wallet.address, name, calldata)).toMatchObject({
        error: { error: panicOf('Account: unauthorized') },
      });
    }
    expect(await wallet.session()).toMatchObject({ valid_until: validUntil });
    expect(await wallet.session(SESSION + 1n)).toMatchObject({ valid_until: 0n });
  });

  it('cannot be added without a key or with an end that is past', async () => {
    const add = (key: bigint, until: bigint) => call(wallet.address, 'add_or_update_session_key', [key, until, 1n, 0n]);
    for (const one of [add(0n, wallet.now + 5n), add(SESSION, wallet.now)]) await wallet.asOwner([one]);
    expect(await wallet.session(0n)).toMatchObject({ valid_until: 0n });
    expect(await wallet.session()).toMatchObject({ valid_until: 0n });
    await wallet.asOwner([add(SESSION, wallet.now + 1n)]);
    expect(await wallet.session()).toMatchObject({ valid_until: wallet.now + 1n });
  });

  it('show their list entry by entry', async () => {
    const allowedEntrypoints = [5n, 6n];
    await wallet.addSession({ allowedEntrypoints });
    const at = (index: bigint) =>
      wallet.chain.ask(wallet.address, 'get_session_allowed_entrypoint_at', [SESSION, index]);
    expect([await at(0n), await at(1n)]).toEqual(allowedEntrypoints.map((felt) => ({ ok: true, result: [felt] })));
    expect(await at(2n)).toMatchObject({ error: { error: panicOf('Index out of bounds') } });
  });

  it('belong to one account and one chain', async () => {
    const validUntil = await wallet.addSession();
    const { chain } = wallet;
    const block = chain.block;
    chain.block = { ...block, chainId: block.chainId + 1n };
    const tx = await chain.invocation(wallet.owner, [pay()]);
    const signature = sessionSignature(tx.hash, validUntil, SESSION_KEY);
    chain.block = block;
    const here = await chain.invocation(wallet.owner, [pay()], { signature });
    expect(await chain.run(here)).toMatchObject({ refused: 'VALIDATION_FAILURE' });
  });
});

function hexOf(text: string): string {
  return `0x${shortString(text).toString(16)}`;
}
