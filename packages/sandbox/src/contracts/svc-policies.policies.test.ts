import { classes, selector } from '@svc/starknet';
import { beforeEach, describe, expect, it } from 'vitest';
import { call, panicOf, STRK, transfer, USDC } from '../../testing/test-chain.ts';
import { BOB, SESSION, TestWallet } from '../../testing/test-wallet.ts';
import type { Executed } from '../execution/types.ts';
import { u256 } from './codec.ts';

const MAX = 2n ** 256n - 1n;
const PER_CALL = 'Spending: exceeds per-call';
const WINDOW = 'Spending: exceeds window limit';

describe.each([
  ['current', classes.svc],
  ['earlier', classes.svcPolicies],
])('spending policies of the %s class', (_name, classHash) => {
  let wallet: TestWallet;
  let validUntil: bigint;
  beforeEach(async () => {
    wallet = await TestWallet.open(classHash);
    validUntil = await wallet.addSession({ validUntil: wallet.now + 100_000n });
  });

  const spend = (...amounts: bigint[]) =>
    wallet.asSession(
      amounts.map((amount) => transfer(USDC, BOB, amount)),
      { validUntil },
    );
  const spending = (name: string, amount: bigint, token = USDC) => call(token, name, [BOB, ...u256.write(amount)]);

  function expectReason({ status, revertReason }: Executed, reason: string): void {
    expect(status).toBe('REVERTED');
    expect(revertReason).toContain(`('${reason}')`);
  }

  it('allow a call of exactly the most, and not one more', async () => {
    await wallet.setPolicy({ maxPerCall: 50n, maxPerWindow: 80n });
    expectReason(await spend(51n), PER_CALL);
    expect((await spend(50n)).status).toBe('SUCCEEDED');
    expect(await wallet.chain.balance(USDC, BOB)).toBe(50n);
  });

  it('allow a window to be filled exactly, and not one more', async () => {
    await wallet.setPolicy({ maxPerCall: 50n, maxPerWindow: 80n });
    await spend(50n);
    expectReason(await spend(31n), WINDOW);
    expect((await spend(30n)).status).toBe('SUCCEEDED');
    expectReason(await spend(1n), WINDOW);
    expect((await spend(0n)).status).toBe('SUCCEEDED');
    expect(await wallet.policy()).toMatchObject({ spent_in_window: 80n });
  });

  it('open the next window at the second the last one ends', async () => {
    await wallet.setPolicy({ maxPerCall: 50n, maxPerWindow: 50n, windowSeconds: 100n });
    const opened = wallet.now;
    await spend(50n);
    wallet.chain.pass(99n);
    expectReason(await spend(1n), WINDOW);
    wallet.chain.pass(1n);
    expect((await spend(50n)).status).toBe('SUCCEEDED');
    expect(await wallet.policy()).toMatchObject({ spent_in_window: 50n, window_start: opened + 100n });
  });

  it('start a window with the spending that comes after the last, however late', async () => {
    await wallet.setPolicy({ maxPerCall: 50n, maxPerWindow: 50n, windowSeconds: 100n });
    wallet.chain.pass(250n);
    await spend(50n);
    expect((await wallet.policy()).window_start).toBe(wallet.now);
    wallet.chain.pass(99n);
    expectReason(await spend(1n), WINDOW);
  });

  it('add up the calls of one transaction', async () => {
    await wallet.setPolicy({ maxPerCall: 50n, maxPerWindow: 80n });
    expectReason(await spend(40n, 41n), WINDOW);
    expectReason(await spend(1n, 51n), PER_CALL);
    expect((await spend(40n, 40n)).status).toBe('SUCCEEDED');
    expect(await wallet.chain.balance(USDC, BOB)).toBe(80n);
  });

  it.each(['transfer', 'approve', 'increase_allowance', 'increaseAllowance'])('count %s', async (name) => {
    await wallet.setPolicy({ maxPerCall: 50n, maxPerWindow: 80n });
    expectReason(await wallet.asSession([spending(name, 51n)], { validUntil }), PER_CALL);
    expect((await wallet.asSession([spending(name, 50n)], { validUntil })).status).toBe('SUCCEEDED');
    expectReason(await spend(31n), WINDOW);
    expect((await wallet.policy()).spent_in_window).toBe(50n);
  });

  it('do not count what gives nothing away, nor other tokens', async () => {
    await wallet.setPolicy({ maxPerCall: 50n, maxPerWindow: 80n });
    await wallet.chain.mint(STRK, wallet.address, 500n);
    const free = [call(USDC, 'balance_of', [BOB]), transfer(STRK, BOB, 500n)];
    expect((await wallet.asSession(free, { validUntil })).status).toBe('SUCCEEDED');
    expect((await wallet.policy()).spent_in_window).toBe(0n);
    expect(await wallet.policy(STRK)).toMatchObject({ max_per_call: 0n, window_seconds: 0n });
  });

  it('hold for sessions, never for the owner', async () => {
    await wallet.setPolicy({ maxPerCall: 50n, maxPerWindow: 80n });
    expect((await wallet.asOwner([transfer(USDC, BOB, 500n)])).status).toBe('SUCCEEDED');
    expect((await wallet.policy()).spent_in_window).toBe(0n);
  });

  it('hold for one session key and not for another', async () => {
    await wallet.setPolicy({ sessionKey: SESSION + 1n });
    expect((await spend(500n)).status).toBe('SUCCEEDED');
  });

  it.skipIf(classHash === classes.svc)(
    'hold for transactions of the account itself, which revert and pay',
    async () => {
      await wallet.setPolicy({ maxPerCall: 50n, maxPerWindow: 80n });
      const outcome = (await wallet.directlyAsSession([transfer(USDC, BOB, 51n)], validUntil)) as Executed;
      expectReason(outcome, PER_CALL);
      expect(outcome.fee).toBeGreaterThan(0n);
      expect((await wallet.session()).calls_used).toBe(0n);
      expect(await wallet.directlyAsSession([transfer(USDC, BOB, 50n)], validUntil)).toMatchObject({
        status: 'SUCCEEDED',
      });
    },
  );

  it.runIf(classHash === classes.svc).each(['transfer_from', 'transferFrom'])(
    'count %s from the account itself, and from no other sender',
    async (name) => {
      await wallet.setPolicy({ maxPerCall: 50n, maxPerWindow: 80n });
      const move = (from: bigint, ...amount: bigint[]) =>
        wallet.asSession([call(USDC, name, [from, BOB, ...amount])], { validUntil });
      expectReason(await move(wallet.address, 51n, 0n), PER_CALL);
      expectReason(await move(wallet.address, 0n, 1n), PER_CALL);
      expectReason(await move(wallet.address, 50n), 'Spending: bad calldata');
      expectReason(await move(wallet.address, 50n, 0n, 0n), 'Spending: bad calldata');
      expectReason(await move(BOB, 51n, 0n), 'ERC20: insufficient allowance');
      await wallet.asOwner([call(USDC, 'approve', [wallet.address, 100n, 0n])]);
      expect((await move(wallet.address, 50n, 0n)).status).toBe('SUCCEEDED');
      expect((await wallet.policy()).spent_in_window).toBe(50n);
    },
  );

  it('cannot be passed by amounts that overflow or calldata that hides them', async () => {
    await wallet.setPolicy({ maxPerCall: MAX, maxPerWindow: MAX });
    await wallet.asSession([spending('approve', 1n)], { validUntil });
    expectReason(await wallet.asSession([spending('approve', MAX)], { validUntil }), WINDOW);
    expect((await wallet.asSession([spending('approve', MAX - 1n)], { validUntil })).status).toBe('SUCCEEDED');
    await wallet.setPolicy({ maxPerCall: 50n, maxPerWindow: 80n });
    for (const calldata of [
      [BOB, 1n],
      [BOB, 2n ** 128n, 0n],
      [BOB, 1n, 0n, 0n],
      [BOB, 0n, 1n],
    ]) {
      const outcome = await wallet.asSession([call(USDC, 'transfer', calldata)], { validUntil });
      expect(outcome.status).toBe('REVERTED');
      expect(outcome.revertReason).toMatch(/Spending: (bad calldata|exceeds per-call)/);
    }
  });

  it('with windows that never end do not overflow either', async () => {
    await wallet.setPolicy({ windowSeconds: 2n ** 64n - 1n });
    expect((await spend(50n)).status).toBe('SUCCEEDED');
    wallet.chain.pass(90_000n);
    expectReason(await spend(31n), WINDOW);
  });

  it('start anew when set again, and are all zeros once removed, which lifts the limit', async () => {
    await wallet.setPolicy();
    await spend(50n);
    wallet.chain.pass(7n);
    await wallet.setPolicy();
    expect(await wallet.policy()).toEqual({
      max_per_call: 50n,
      max_per_window: 80n,
      window_seconds: 100n,
      spent_in_window: 0n,
      window_start: wallet.now,
    });
    const removed = await wallet.own('remove_spending_policy', [SESSION, USDC]);
    expect(removed.events).toContainEqual({
      from: wallet.address,
      keys: [selector('SpendingPolicyRemoved'), SESSION, USDC],
      data: [],
    });
    expect(Object.values(await wallet.policy()).every((value) => value === 0n)).toBe(true);
    expect((await spend(500n)).status).toBe('SUCCEEDED');
  });

  it('outlive the session that they limit', async () => {
    await wallet.setPolicy();
    await wallet.own('revoke_session_key', [SESSION]);
    validUntil = await wallet.addSession();
    expectReason(await spend(51n), PER_CALL);
  });

  it('announce themselves with indexed keys', async () => {
    const set = await wallet.own('set_spending_policy', [SESSION, USDC, 1n, 0n, 2n, 0n, 3n]);
    expect(set.events).toContainEqual({
      from: wallet.address,
      keys: [selector('SpendingPolicySet'), SESSION, USDC],
      data: [1n, 0n, 2n, 0n, 3n],
    });
  });

  it('are set and removed by the account alone, with a window', async () => {
    const set = [SESSION, USDC, 1n, 0n, 2n, 0n, 3n];
    expect(await wallet.chain.ask(wallet.address, 'set_spending_policy', set)).toMatchObject({
      error: { error: panicOf('Account: unauthorized') },
    });
    expect(await wallet.chain.ask(wallet.address, 'remove_spending_policy', [SESSION, USDC])).toMatchObject({
      error: { error: panicOf('Account: unauthorized') },
    });
    await wallet.own('set_spending_policy', [SESSION, USDC, 1n, 0n, 2n, 0n, 0n]);
    await wallet.own('set_spending_policy', [0n, USDC, 1n, 0n, 2n, 0n, 5n]);
    expect((await wallet.policy()).max_per_call).toBe(0n);
    expect((await wallet.policy(USDC, 0n)).max_per_call).toBe(0n);
  });
});

describe('the class without policies', () => {
  it('has no function for them', async () => {
    const wallet = await TestWallet.open(classes.svcSessions);
    for (const name of ['set_spending_policy', 'remove_spending_policy', 'get_spending_policy']) {
      expect(await wallet.chain.ask(wallet.address, name)).toMatchObject({ kind: 'ENTRYPOINT_NOT_FOUND' });
    }
  });
});
