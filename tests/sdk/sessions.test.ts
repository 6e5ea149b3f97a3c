import { classes, selector, toHex } from '@svc/starknet';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../packages/sdk/src/client/client.ts';
import type { Session } from '../../packages/sdk/src/sessions/session-wallet.ts';
import {
  addSessionKeyToContract,
  createSessionKey,
  executeTransactionWithSession,
  getSessionData,
  revokeSessionKey,
} from '../../packages/sdk/src/sessions/sessions.ts';
import type { ContractCall } from '../../packages/sdk/src/signing/calls.ts';
import { encryptKey, pay, SessionFixture, type TestWallet } from '../support/sessions.ts';
import { USDC } from '../support/starknet-client.ts';

let fixture: SessionFixture;
beforeAll(async () => {
  fixture = await SessionFixture.start();
});
afterEach(() => fixture.returnToPresent());
afterAll(() => fixture.service.stop());

const transfer = toHex(selector('transfer'));
const refused = (code: string) => ({ name: 'SvcSessionError', code });

/** Refused by the session's state on the chain, before anything signed is sent. */
async function expectRefusal(wallet: TestWallet, session: Session, calls: readonly ContractCall[], code: string) {
  const before = fixture.signedRequests;
  await expect(fixture.execute(wallet, session, calls)).rejects.toMatchObject(refused(code));
  expect(fixture.signedRequests).toBe(before);
}

function dataOf(wallet: TestWallet, session: Session) {
  return getSessionData(fixture.client, { walletAddress: wallet.publicKey, sessionPublicKey: session.publicKey });
}

function revoke(wallet: TestWallet, session: Session): Promise<string> {
  const params = { encryptKey, wallet, sessionPublicKey: session.publicKey };
  return fixture.settle(revokeSessionKey(fixture.client, params, fixture.bearerToken));
}

function add(
  wallet: TestWallet,
  session: Session,
  { client = fixture.client, token = fixture.bearerToken as string | null, pin = encryptKey } = {},
) {
  const sessionConfig = {
    sessionPublicKey: session.publicKey,
    validUntil: session.validUntil,
    maxCalls: 1,
    allowedEntrypoints: [],
  };
  return addSessionKeyToContract(client, { encryptKey: pin, wallet, sessionConfig }, token ?? undefined);
}

describe.each([
  ['current', classes.svc],
  ['earlier with policies', classes.svcPolicies],
  ['earlier with sessions alone', classes.svcSessions],
])('a session of a wallet of the %s class', (_name, classHash) => {
  it('is registered, signs, runs out of calls and is revoked', async () => {
    const [wallet, session] = [await fixture.wallet(classHash), await fixture.session()];
    const unknown = { isActive: false, validUntil: 0, remainingCalls: 0, allowedEntrypoints: [] };
    expect(await dataOf(wallet, session)).toEqual(unknown);
    await expectRefusal(wallet, session, [pay(1n)], 'SESSION_NOT_REGISTERED');

    await fixture.register(wallet, session, {
      maxCalls: 2,
      allowedEntrypoints: ['transfer', toHex(selector('approve'))],
    });
    const allowedEntrypoints = [transfer, toHex(selector('approve'))];
    const { validUntil } = session;
    expect(await dataOf(wallet, session)).toEqual({
      isActive: true,
      validUntil,
      remainingCalls: 2,
      allowedEntrypoints,
    });

    const recipient = toHex(BigInt(wallet.publicKey) + 1n);
    await fixture.settle(fixture.execute(wallet, session, [pay(5n, recipient), pay(6n, recipient)]));
    expect(await fixture.app.balance(recipient, 'USDC')).toBe(11n);
    expect(await dataOf(wallet, session)).toMatchObject({ isActive: true, remainingCalls: 1 });

    await fixture.settle(fixture.execute(wallet, session, [{ ...pay(1n, recipient), entrypoint: transfer }]));
    expect(await dataOf(wallet, session)).toMatchObject({ isActive: false, remainingCalls: 0 });
    await expectRefusal(wallet, session, [pay(1n)], 'SESSION_MAX_CALLS_EXCEEDED');

    await revoke(wallet, session);
    expect(await dataOf(wallet, session)).toEqual(unknown);
    await expectRefusal(wallet, session, [pay(1n)], 'SESSION_REVOKED');
    expect(await fixture.app.balance(recipient, 'USDC')).toBe(12n);
  });

  it('may call the allowed functions, and none of the owner’s', async () => {
    const { wallet, session } = await fixture.registered({ allowedEntrypoints: ['transfer', 'upgrade'] }, classHash);
    const forbidden = [
      { ...pay(1n), entrypoint: 'approve' },
      { contractAddress: wallet.publicKey, entrypoint: 'transfer', calldata: [] },
      { contractAddress: USDC, entrypoint: 'upgrade', calldata: [1] },
    ];
    for (const call of forbidden) {
      await expectRefusal(wallet, session, [pay(1n), call], 'SESSION_ENTRYPOINT_NOT_ALLOWED');
    }
    expect(await dataOf(wallet, session)).toMatchObject({ remainingCalls: 10 });
  });

  it('expires, and cannot be registered after that', async () => {
    const { wallet, session } = await fixture.registered({}, classHash);
    const late = await fixture.session(60);
    await fixture.travel(21_600);
    expect(await dataOf(wallet, session)).toMatchObject({ isActive: false, remainingCalls: 10 });
    await expectRefusal(wallet, session, [pay(1n)], 'SESSION_EXPIRED');
    await expectRefusal(wallet, late, [pay(1n)], 'SESSION_EXPIRED');
    await expect(add(wallet, late)).rejects.toMatchObject(refused('SESSION_EXPIRED'));
  });
});

describe('a session that ends between the check and the chain', () => {
  const interruptions: Record<string, (wallet: TestWallet, session: Session) => Promise<unknown>> = {
    SESSION_EXPIRED: () => fixture.travel(1_200),
    SESSION_REVOKED: (wallet, session) => revoke(wallet, session),
    SESSION_MAX_CALLS_EXCEEDED: (wallet, session) => fixture.settle(fixture.execute(wallet, session, [pay(1n)])),
    SESSION_ENTRYPOINT_NOT_ALLOWED: (wallet, session) =>
      fixture.register(wallet, session, { allowedEntrypoints: ['approve'] }),
  };

  it.each(Object.keys(interruptions))('is reported as %s', async (code) => {
    const [wallet, session] = [await fixture.wallet(), await fixture.session(1_000)];
    await fixture.register(wallet, session, { maxCalls: 1 });
    const client = fixture.clientInterruptedBy(async () => interruptions[code]?.(wallet, session));
    const sent = fixture.execute(wallet, session, [pay(1n, '0x1a7e')], client);
    await expect(sent).rejects.toMatchObject({ ...refused(code), cause: { code: 'transaction_reverted' } });
    expect(await fixture.app.balance('0x1a7e', 'USDC')).toBe(0n);
  });
});

describe('a session key', () => {
  it('is valid for six hours by default, and is unique', async () => {
    const before = Math.floor(Date.now() / 1_000);
    const [one, other] = [await fixture.session(), await fixture.session(60)];
    const after = Math.floor(Date.now() / 1_000);
    expect(one.validUntil).toBeGreaterThanOrEqual(before + 21_600);
    expect(one.validUntil).toBeLessThanOrEqual(after + 21_600);
    expect(other.validUntil).toBeLessThanOrEqual(after + 60);
    expect(one.publicKey).toMatch(/^0x[0-9a-f]{1,64}$/);
    expect(one.publicKey).not.toBe(other.publicKey);
  });

  it("opens only with its own PIN, which may differ from the wallet's", async () => {
    const wallet = await fixture.wallet();
    const session = await createSessionKey(fixture.client, { encryptKey: '4711' });
    await fixture.register(wallet, session);
    const params = { wallet, session, calls: [pay(1n)] };
    const execute = (pin: string) => executeTransactionWithSession(fixture.client, { ...params, encryptKey: pin });
    await expect(execute('4712')).rejects.toMatchObject(refused('SESSION_DECRYPTION_FAILED'));
    expect(await dataOf(wallet, session)).toMatchObject({ remainingCalls: 10 });
    await fixture.settle(execute('4711'));
  });

  it('does not open as the key of another session', async () => {
    const { wallet, session } = await fixture.registered();
    const { encryptedPrivateKey } = await fixture.session();
    const mixed = { ...session, encryptedPrivateKey };
    await expectRefusal(wallet, mixed, [pay(1n)], 'SESSION_DECRYPTION_FAILED');
  });

  it('is not registered with a wrong PIN', async () => {
    const [wallet, session] = [await fixture.wallet(), await fixture.session()];
    await expect(add(wallet, session, { pin: '0000' })).rejects.toMatchObject(refused('SESSION_DECRYPTION_FAILED'));
    expect(await dataOf(wallet, session)).toMatchObject({ isActive: false });
  });

  it('signs even if the app stored another expiry than it registered', async () => {
    const [wallet, session] = [await fixture.wallet(), await fixture.session()];
    await fixture.register(wallet, session, { validUntil: session.validUntil + 1 });
    await fixture.settle(fixture.execute(wallet, session, [pay(1n)]));
  });

  it('is visible while its block is still open', async () => {
    await fixture.sandbox.freeze();
    try {
      const [wallet, session] = [await fixture.wallet(), await fixture.session()];
      await add(wallet, session);
      expect(await dataOf(wallet, session)).toMatchObject({ isActive: true });
      await revokeSessionKey(
        fixture.client,
        { encryptKey, wallet, sessionPublicKey: session.publicKey },
        fixture.bearerToken,
      );
      await expectRefusal(wallet, session, [pay(1n)], 'SESSION_REVOKED');
    } finally {
      await fixture.sandbox.thaw();
    }
  });
});

describe('a wallet of type READY', () => {
  const operations: Record<string, (wallet: TestWallet, session: Session, client: Client) => Promise<unknown>> = {
    addSessionKeyToContract: (wallet, session, client) => add(wallet, session, { client }),
    revokeSessionKey: (wallet, { publicKey }, client) =>
      revokeSessionKey(client, { encryptKey, wallet, sessionPublicKey: publicKey }, fixture.bearerToken),
    executeTransactionWithSession: (wallet, session, client) => fixture.execute(wallet, session, [pay(1n)], client),
  };

  it.each(Object.keys(operations))('is refused by %s before any request if it declares its type', async (name) => {
    const requests: string[] = [];
    const client = fixture.clientWith({
      fetch: async (url) => {
        requests.push(url);
        return new Response('', { status: 500 });
      },
    });
    const session = await fixture.session();
    for (const walletType of ['READY', 'SHHH'] as const) {
      const wallet = { publicKey: '0x1', encryptedPrivateKey: '', walletType };
      await expect(operations[name]?.(wallet, session, client)).rejects.toMatchObject(
        refused('INVALID_WALLET_TYPE_FOR_SESSION'),
      );
    }
    expect(requests).toEqual([]);
  });

  it('is detected by its class if it declares no type or another', async () => {
    const [wallet, session] = [await fixture.wallet(classes.ready), await fixture.session()];
    for (const lie of [wallet, { ...wallet, walletType: 'SVC' as const }]) {
      for (const operation of Object.values(operations)) {
        await expect(operation(lie, session, fixture.client)).rejects.toMatchObject(
          refused('INVALID_WALLET_TYPE_FOR_SESSION'),
        );
      }
    }
    await expect(dataOf(wallet, session)).rejects.toMatchObject(refused('INVALID_WALLET_TYPE_FOR_SESSION'));
  });
});

describe('the bearer token', () => {
  it('is required to register and to revoke, even with a secret key', async () => {
    const [wallet, session] = [await fixture.wallet(), await fixture.session()];
    const missing = { name: 'SvcInputError', code: 'missing_bearer_token' };
    await expect(add(wallet, session, { token: null })).rejects.toMatchObject(missing);
    const params = { encryptKey, wallet, sessionPublicKey: session.publicKey };
    await expect(revokeSessionKey(fixture.client, params)).rejects.toMatchObject(missing);
  });

  it('of the user is enough, without a secret key', async () => {
    const { token } = await fixture.sandbox.ask<{ token: string }>('/identity/token', { sub: 'session user' });
    const wallet = await fixture.wallet(classes.svc, 'session user');
    const [client, session] = [fixture.clientWith({ secretKey: undefined }), await fixture.session()];
    await fixture.settle(add(wallet, session, { client, token }));
    await fixture.settle(
      executeTransactionWithSession(client, { encryptKey, wallet, session, calls: [pay(1n)] }, token),
    );
  });
});
