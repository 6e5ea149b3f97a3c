import { classes, selector, toHex } from '@svc/starknet';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { waitForTransactionOf } from '../../packages/sdk/src/node/wait-for-transaction.ts';
import type { Session, SpendingLimits } from '../../packages/sdk/src/sessions/session-wallet.ts';
import { getSessionData, setupSession } from '../../packages/sdk/src/sessions/sessions.ts';
import {
  getSpendingPolicy,
  removeSpendingPolicy,
  setSpendingPolicy,
} from '../../packages/sdk/src/sessions/spending-policies.ts';
import { encryptKey, pay, SessionFixture, type TestWallet } from '../support/sessions.ts';
import { STRK, USDC } from '../support/starknet-client.ts';

let fixture: SessionFixture;
beforeAll(async () => {
  fixture = await SessionFixture.start();
});
afterEach(() => fixture.returnToPresent());
afterAll(() => fixture.service.stop());

const WINDOW_SECONDS = 3_600;
const limits: SpendingLimits = { token: USDC, maxPerCall: 10n, maxPerWindow: '25', windowSeconds: WINDOW_SECONDS };
const none = { maxPerCall: 0n, maxPerWindow: 0n, windowSeconds: 0, spentInWindow: 0n, windowStart: 0 };
const over = (reason: string) => ({
  name: 'SvcApiError',
  code: 'transaction_reverted',
  message: expect.stringContaining(reason),
});

function set(wallet: TestWallet, { publicKey }: Session, more: Partial<SpendingLimits> = {}): Promise<string> {
  const spendingPolicyConfig = { sessionPublicKey: publicKey, ...limits, ...more };
  return setSpendingPolicy(fixture.client, { encryptKey, wallet, spendingPolicyConfig }, fixture.bearerToken);
}

function remove(wallet: TestWallet, { publicKey }: Session): Promise<string> {
  const params = { encryptKey, wallet, sessionPublicKey: publicKey, token: USDC };
  return removeSpendingPolicy(fixture.client, params, fixture.bearerToken);
}

function policyOf(wallet: TestWallet, session: Session, token = USDC) {
  const key = { walletAddress: wallet.publicKey, sessionPublicKey: session.publicKey };
  return getSpendingPolicy(fixture.client, { ...key, token });
}

function setup(wallet: TestWallet, session: Session, spendingPolicies?: readonly SpendingLimits[]): Promise<string> {
  const { publicKey, validUntil } = session;
  const sessionConfig = { sessionPublicKey: publicKey, validUntil, maxCalls: 10, allowedEntrypoints: ['transfer'] };
  return setupSession(fixture.client, { encryptKey, wallet, sessionConfig, spendingPolicies }, fixture.bearerToken);
}

describe.each([
  ['current', classes.svc],
  ['earlier', classes.svcPolicies],
])('a spending policy of a wallet of the %s class with policies', (_name, classHash) => {
  it('caps each call and each window until it is removed', async () => {
    const { wallet, session } = await fixture.registered({}, classHash);
    expect(await policyOf(wallet, session)).toEqual(none);
    await fixture.settle(set(wallet, session));
    const fresh = await policyOf(wallet, session);
    expect(fresh).toMatchObject({
      maxPerCall: 10n,
      maxPerWindow: 25n,
      windowSeconds: WINDOW_SECONDS,
      spentInWindow: 0n,
    });
    expect(fresh.windowStart).toBeGreaterThan(1_700_000_000);

    await expect(fixture.execute(wallet, session, [pay(11n)])).rejects.toMatchObject(
      over('Spending: exceeds per-call'),
    );
    await fixture.settle(fixture.execute(wallet, session, [pay(10n), pay(10n), pay(5n)]));
    expect(await policyOf(wallet, session)).toMatchObject({ spentInWindow: 25n });
    const window = over('Spending: exceeds window limit');
    await expect(fixture.execute(wallet, session, [pay(1n)])).rejects.toMatchObject(window);
    await fixture.travel(WINDOW_SECONDS);
    await fixture.settle(fixture.execute(wallet, session, [pay(10n)]));

    await fixture.settle(remove(wallet, session));
    expect(await policyOf(wallet, session)).toEqual(none);
    await fixture.settle(fixture.execute(wallet, session, [pay(1_000n)]));
  });

  it('works for a wallet of type SHHH', async () => {
    const { wallet, session } = await fixture.registered({}, classHash);
    const shhh = { ...wallet, walletType: 'SHHH' as const };
    await fixture.settle(set(shhh, session));
    expect(await policyOf(wallet, session)).toMatchObject({ maxPerCall: 10n });
    await fixture.settle(remove(shhh, session));
    expect(await policyOf(wallet, session)).toEqual(none);
  });
});

describe('a session with its policies', () => {
  it('is set with its session in one transaction, and enforced', async () => {
    const [wallet, session] = [await fixture.wallet(), await fixture.session()];
    const policies = [limits, { ...limits, token: STRK, maxPerCall: 2n ** 256n - 1n }];
    const hash = await fixture.settle(setup(wallet, session, policies));
    const { events } = await waitForTransactionOf(fixture.client, hash);
    // In this order the key never works without its limits.
    const order = ['SpendingPolicySet', 'SpendingPolicySet', 'SessionKeyAdded'].map((name) => toHex(selector(name)));
    const names = events.map(({ keys }) => keys[0] ?? '');
    expect(names.filter((name) => order.includes(name))).toEqual(order);
    const key = { walletAddress: wallet.publicKey, sessionPublicKey: session.publicKey };
    expect(await getSessionData(fixture.client, key)).toMatchObject({ isActive: true, remainingCalls: 10 });
    expect(await policyOf(wallet, session)).toMatchObject({ maxPerCall: 10n, maxPerWindow: 25n });
    expect(await policyOf(wallet, session, STRK)).toMatchObject({ maxPerCall: 2n ** 256n - 1n });
    await expect(fixture.execute(wallet, session, [pay(11n)])).rejects.toMatchObject(
      over('Spending: exceeds per-call'),
    );
    await fixture.settle(fixture.execute(wallet, session, [pay(10n)]));
  });

  it('is refused if the wallet would skip a failing policy, and can be set in separate steps', async () => {
    const [wallet, session] = [await fixture.wallet(classes.svcPolicies), await fixture.session()];
    const refused = { name: 'SvcSessionError', code: 'SPENDING_POLICIES_UNSUPPORTED' };
    const [before, key] = [
      fixture.signedRequests,
      { walletAddress: wallet.publicKey, sessionPublicKey: session.publicKey },
    ];
    await expect(setup(wallet, session, [limits])).rejects.toMatchObject(refused);
    await expect(setup(wallet, session, [limits])).rejects.toThrow(
      /upgrade.*setSpendingPolicy.*addSessionKeyToContract/i,
    );
    expect(fixture.signedRequests).toBe(before);
    expect(await getSessionData(fixture.client, key)).toMatchObject({ isActive: false });

    await fixture.settle(set(wallet, session));
    await fixture.register(wallet, session);
    await expect(fixture.execute(wallet, session, [pay(11n)])).rejects.toMatchObject(
      over('Spending: exceeds per-call'),
    );
    await fixture.settle(fixture.execute(wallet, session, [pay(10n)]));
  });

  it('works without policies on any class with sessions', async () => {
    const [wallet, session] = [await fixture.wallet(classes.svcPolicies), await fixture.session()];
    await fixture.settle(setup(wallet, session));
    await fixture.settle(fixture.execute(wallet, session, [pay(11n)]));
  });
});

describe('a wallet of the class without policies', () => {
  const unsupported = { name: 'SvcSessionError', code: 'SPENDING_POLICIES_UNSUPPORTED' };

  it('is refused with the advice to upgrade, instead of a success without effect', async () => {
    const { wallet, session } = await fixture.registered({}, classes.svcSessions);
    await expect(set(wallet, session)).rejects.toMatchObject(unsupported);
    await expect(set(wallet, session)).rejects.toThrow(/upgrade/i);
    await expect(remove(wallet, session)).rejects.toMatchObject(unsupported);
    await expect(policyOf(wallet, session)).rejects.toMatchObject(unsupported);
  });

  it('gets no session with limits, and one without', async () => {
    const [wallet, session] = [await fixture.wallet(classes.svcSessions), await fixture.session()];
    const key = { walletAddress: wallet.publicKey, sessionPublicKey: session.publicKey };
    await expect(setup(wallet, session, [limits])).rejects.toMatchObject(unsupported);
    expect(await getSessionData(fixture.client, key)).toMatchObject({ isActive: false });
    await fixture.settle(setup(wallet, session));
    expect(await getSessionData(fixture.client, key)).toMatchObject({ isActive: true });
  });
});

describe('a wallet of type READY', () => {
  it('is refused by its declared type, or else by its class', async () => {
    const [ready, session] = [await fixture.wallet(classes.ready), await fixture.session()];
    const refused = { name: 'SvcSessionError', code: 'INVALID_WALLET_TYPE_FOR_SESSION' };
    for (const wallet of [{ ...ready, walletType: 'READY' as const }, ready]) {
      await expect(set(wallet, session)).rejects.toMatchObject(refused);
      await expect(remove(wallet, session)).rejects.toMatchObject(refused);
      await expect(setup(wallet, session, [limits])).rejects.toMatchObject(refused);
      await expect(setup(wallet, session)).rejects.toMatchObject(refused);
    }
    await expect(policyOf(ready, session)).rejects.toMatchObject(refused);
  });
});

describe('an address without a wallet', () => {
  it('is distinguished from a class without policies', async () => {
    const undeployed = { publicKey: '0xdead', encryptedPrivateKey: '' };
    const session = await fixture.session();
    const missing = { name: 'SvcChainError', code: 'contract_not_found' };
    await expect(set(undeployed, session)).rejects.toMatchObject(missing);
    await expect(policyOf(undeployed, session)).rejects.toMatchObject(missing);
  });
});

describe('the bearer token', () => {
  it('is required, even with a secret key', async () => {
    const { wallet, session } = await fixture.registered();
    const spendingPolicyConfig = { sessionPublicKey: session.publicKey, ...limits };
    const missing = { name: 'SvcInputError', code: 'missing_bearer_token' };
    await expect(setSpendingPolicy(fixture.client, { encryptKey, wallet, spendingPolicyConfig })).rejects.toMatchObject(
      missing,
    );
    const key = { sessionPublicKey: session.publicKey, token: USDC };
    await expect(removeSpendingPolicy(fixture.client, { encryptKey, wallet, ...key })).rejects.toMatchObject(missing);
  });
});
