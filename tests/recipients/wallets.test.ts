import { type ErrorCode, endpoints } from '@svc/protocol';
import { createSvc, exportPrivateKey, type Svc, SvcApiError } from '@svc/sdk';
import { sql } from '@svc/store';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { FakeAuthenticator } from '../../packages/sdk/testing/fake-authenticator.ts';
import { type App, bodyOf, type CreatedGift, field, Owner } from '../support/app.ts';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { type Reply, send, userToken } from '../support/client.ts';
import { type AnyService, TestService } from '../support/service.ts';

let service: AnyService;
let app: App;
let origin: string;

beforeAll(async () => {
  service = await TestService.shared();
  app = service.app;
  origin = `http://localhost:${new URL(service.server.origin).port}`;
});
afterAll(() => service?.stop());
afterEach(() => vi.unstubAllGlobals());

/** What this device has instead of a phone's passkeys. */
function useDevice(device = new FakeAuthenticator({ origin })): FakeAuthenticator {
  vi.stubGlobal('navigator', { userAgent: 'test', credentials: device });
  return device;
}

const sent: string[] = [];
function client(publicKey = service.server.credentials.publicKey): Svc {
  const { baseUrl } = service.server.credentials;
  return createSvc({
    ...{ baseUrl, publicKey, maxRetries: 0 },
    fetch: (input, init) => {
      sent.push(String(init?.body ?? ''));
      return fetch(input, init);
    },
  });
}

const newGift = (changes: object = {}) => app.gift({ amount: 1.5, maxRedeems: 3, maxRedeemsPerUser: 3, ...changes });

async function makeWallet(gift: CreatedGift, passphrase?: string) {
  const svc = client();
  const options = await svc.recipients.getRecipientWalletOptions({ code: gift.code });
  const { wallet: draft, recoveryCode } = await svc.recipients.prepareRecipientWallet({
    code: gift.code,
    options,
    passphrase,
  });
  const made = await svc.recipients.createRecipientWallet({ code: gift.code, wallet: draft });
  if (made.token === null) throw new Error('A new wallet comes with a token.');
  return { ...made, svc, draft, recoveryCode, token: made.token };
}

/** From a page of the service, without the client library. */
const post = (gift: { readonly code: string }, path: string, body?: unknown): Promise<Reply> =>
  send(`${app.baseUrl}/gifts/claim/${gift.code}/wallet${path}`, {
    method: 'POST',
    headers: { origin: service.server.origin },
    ...(body !== undefined && { body }),
  });

async function draftOf(gift: { readonly code: string }, owner = new Owner()): Promise<Record<string, unknown>> {
  const prepared = await post(gift, '/prepare', { publicKey: owner.address, starkKeyPubAX: owner.publicKey });
  const typedData = field<object>(prepared, 'typedData');
  return {
    publicKey: owner.address,
    typedData,
    userSignature: owner.sign(typedData),
    deploymentData: owner.deployment,
    encryptedPrivateKey: 'ciphertext',
    recoverySecret: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url'),
  };
}

const walletsOf = async ({ id }: CreatedGift) =>
  service.db.rows<{ address: string; status: string }>(sql`
    select r.address, r.status from gift_redeems r
      join recipients on recipients.redeem_id = r.id
      join wallets w on w.address = recipients.address and w.external_user_id = recipients.id
     where r.gift_id = ${id}`);

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: unknown) => (error instanceof SvcApiError ? error.code : String(error)),
  );

describe('a gift code', () => {
  it('makes a wallet with a passkey and pays the gift into it; nothing that opens the key leaves the device', async () => {
    const device = useDevice();
    sent.length = 0;
    const { recipient, token, giftRedeem, svc } = await makeWallet(await newGift());
    expect(giftRedeem).toMatchObject({ status: 'SUCCESS', walletAddress: recipient.walletAddress, amount: '1.5' });
    expect(recipient).toMatchObject({ passkeys: 1, hasRecoveryCode: false, mxnPerUsd: 18.5 });
    expect(device.created).toHaveLength(1);
    const own = { externalUserId: recipient.id, chain: 'STARKNET', chainToken: 'USDC' } as const;
    expect(await svc.getTokenBalance(own, token)).toMatchObject({ balance: '1500000' });
    const session = await svc.recipients.signInWithPasskey();
    const wallet = await svc.getWallet({ externalUserId: recipient.id }, session.token);
    const key = await exportPrivateKey({ wallet, encryptKey: session.encryptKey });
    expect(key).toMatch(/^0x[0-9a-f]{64}$/);
    const said = sent.join('\n');
    for (const secret of [session.encryptKey, session.encryptKey.slice(5), key, key.slice(2)]) {
      expect(said).not.toContain(secret);
    }
  });

  it('makes as many wallets as redemptions are left, from 50 clients at once', async () => {
    const gift = await newGift({ maxRedeems: 4 });
    await app.post(`/gifts/claim/${gift.code}/redeem`, { walletAddress: new Owner().address, chain: 'starknet' });
    const drafts = await Promise.all(Array.from({ length: 50 }, () => draftOf(gift)));
    const replies = await Promise.all(drafts.map((draft) => post(gift, '', draft)));
    const made = replies.filter(({ status }) => status === 201);
    expect(made).toHaveLength(3);
    for (const reply of replies) if (reply.status !== 201) expectError(reply, 400, 'gift_limit_reached');
    expect(await walletsOf(gift)).toHaveLength(3);
    const addresses = drafts.map(({ publicKey }) => BigInt(String(publicKey)));
    const stored = await service.db.rows<{ address: string }>(sql`
      select address from wallets where address = any(${addresses.map((each) => `0x${each.toString(16).padStart(64, '0')}`)})`);
    expect(stored).toHaveLength(3);
  });

  it.each<[string, object, ErrorCode]>([
    ['expired', { expiresAt: '2099-01-01' }, 'gift_expired'],
    ['switched off', { isActive: false }, 'gift_inactive'],
    ['not begun', { startsAt: '2099-01-01' }, 'gift_not_started'],
  ])('that is %s makes no wallet', async (_, changes, code) => {
    const gift = await newGift();
    const draft = await draftOf(gift);
    const refused = await newGift(changes);
    if (code === 'gift_expired')
      await service.db.run(sql`update gifts set expires_at = now() where id = ${refused.id}`);
    const owner = new Owner();
    expectError(await post(refused, '/options'), 400, code);
    const key = { publicKey: owner.address, starkKeyPubAX: owner.publicKey };
    expectError(await post(refused, '/prepare', key), 400, code);
    expectError(await post(refused, '', draft), 400, code);
    expectError(await post({ code: 'NOSUCHCODE' }, '', draft), 400, 'gift_not_found');
    expect(await walletsOf(refused)).toEqual([]);
  });

  it('sent again answers the same wallet, pays nothing more and signs nobody in', async () => {
    const gift = await newGift();
    const draft = await draftOf(gift);
    const first = await post(gift, '', draft);
    expectAnswer(first, endpoints.createRecipientWallet);
    const again = await post(gift, '', draft);
    expectAnswer(again, endpoints.createRecipientWallet);
    expect(again.body).toMatchObject({
      token: null,
      giftRedeem: bodyOf<{ giftRedeem: object }>(first, 201).giftRedeem,
    });
    expect(await app.balance(String(draft.publicKey), 'USDC')).toBe(1_500_000n);
    expectError(await post(await newGift(), '', draft), 400, 'wallet_already_exists');
  });

  it('makes no wallet beyond what the organisation sponsors, and keeps its redemption', async () => {
    const gift = await newGift({ maxRedeems: 1, maxRedeemsPerUser: 1 });
    const draft = await draftOf(gift);
    try {
      await app.patch('/organization/sponsorship', { dailyStrk: '0' });
      expectError(await post(gift, '', draft), 400, 'sponsorship_limit_reached');
      expect(await walletsOf(gift)).toEqual([]);
    } finally {
      await app.patch('/organization/sponsorship', { dailyStrk: null });
    }
    expect((await post(gift, '', draft)).status).toBe(201);
  });

  it('makes none where the organisation has switched it off, or names its own app', async () => {
    const gift = await newGift();
    const setting = (changes: object) => app.patch('/organization/settings', changes);
    try {
      await setting({ recipientWallets: false });
      expectError(await post(gift, '/options'), 400, 'recipient_wallets_off');
      const off = await send(`${app.baseUrl}/gifts/claim/${gift.code}`);
      expect(off.body).toMatchObject({ valid: true, wallet: { isOffered: false, appUrl: null } });
      await setting({ recipientWallets: true, recipientAppUrl: 'https://app.tienda.example/wallet' });
      expectError(await post(gift, '/options'), 400, 'recipient_wallets_off');
      const elsewhere = await send(`${app.baseUrl}/gifts/claim/${gift.code}`);
      expect(elsewhere.body).toMatchObject({
        wallet: { isOffered: false, appUrl: 'https://app.tienda.example/wallet' },
      });
      expectError(await setting({ recipientAppUrl: 'javascript:alert(1)' }), 400, 'invalid_request');
    } finally {
      await setting({ recipientWallets: true, recipientAppUrl: null });
    }
    expect((await post(gift, '/options')).status).toBe(200);
  });

  it('takes a passkey for its own gift only, and only from a page of the service', async () => {
    const device = useDevice();
    const [one, other] = [await newGift(), await newGift()];
    const svc = client();
    const options = await svc.recipients.getRecipientWalletOptions({ code: one.code });
    const { wallet: draft } = await svc.recipients.prepareRecipientWallet({ code: one.code, options });
    expect(device.created[0]?.rp).toMatchObject({ id: 'localhost' });
    expectError(await post(other, '', draft), 400, 'invalid_passkey');
    const foreign = await send(`${app.baseUrl}/gifts/claim/${one.code}/wallet`, { method: 'POST', body: draft });
    expectError(foreign, 400, 'origin_not_allowed');
    expect((await post(one, '', draft)).status).toBe(201);
  });
});

describe("a recipient's token", () => {
  it('opens the own wallet, and nothing else of the organisation', async () => {
    const gift = await newGift();
    const { token, recipient } = bodyOf<{ token: string; recipient: { id: string; apiPublicKey: string } }>(
      await post(gift, '', await draftOf(gift)),
      201,
    );
    const headers = { 'x-api-key': recipient.apiPublicKey, authorization: `Bearer ${token}` };
    const get = (path: string, others = headers) => send(app.baseUrl + path, { headers: others });
    expectAnswer(await get('/recipient'), endpoints.getRecipient);
    expect((await get(`/svc-wallets/by-user?externalUserId=${recipient.id}`)).status).toBe(200);
    expectError(await get('/svc-wallets/by-user?externalUserId=ana'), 404, 'wallet_not_found');
    for (const path of ['/gifts', '/organization', '/svc-wallets', '/transactions/environment']) {
      expect((await get(path)).status, path).toBeGreaterThanOrEqual(401);
    }
    const creation = await app.creation(new Owner(), recipient.id);
    const second = await send(`${app.baseUrl}/svc-wallets`, { method: 'POST', body: creation, headers });
    expectError(second, 401, 'other_user');
    expectError(await app.post('/svc-wallets', creation), 400, 'invalid_request');
    const elsewhere = { method: 'POST', body: { transactionHash: '0x1' }, headers };
    expectError(await send(`${app.baseUrl}/transactions/record-send`, elsewhere), 401, 'secret_key_required');
  });

  it('is refused by another organisation, altered, and in place of a key; a key set cannot issue one', async () => {
    const gift = await newGift();
    const { token, recipient } = bodyOf<{ token: string; recipient: { id: string; apiPublicKey: string } }>(
      await post(gift, '', await draftOf(gift)),
      201,
    );
    const other = await service.organization();
    const ask = (key: string, bearer: string) =>
      send(`${app.baseUrl}/recipient`, { headers: { 'x-api-key': key, authorization: `Bearer ${bearer}` } });
    expectError(await ask(other.keys.publicKey, token), 401, 'invalid_token');
    expectError(await ask(recipient.apiPublicKey, `${token.slice(0, -4)}AAAA`), 401, 'invalid_token');
    expectError(await ask(recipient.apiPublicKey, service.server.credentials.secretKey), 401, 'recipient_required');
    const named = await userToken(service.server, recipient.id);
    const headers = { 'x-api-key': recipient.apiPublicKey, authorization: `Bearer ${named}` };
    expectError(await send(`${app.baseUrl}/skus`, { headers }), 401, 'invalid_token');
  });
});

describe('the owner of the wallet', () => {
  it('signs in with the passkey once for each challenge', async () => {
    useDevice();
    const { recipient, svc } = await makeWallet(await newGift());
    sent.length = 0;
    const session = await svc.recipients.signInWithPasskey();
    expect(session.recipient.id).toBe(recipient.id);
    const replayed = await send(`${app.baseUrl}/recipient/sign-in`, {
      ...{ method: 'POST', raw: sent.at(-1) ?? '' },
      headers: { origin: service.server.origin, 'content-type': 'application/json' },
    });
    expectError(replayed, 400, 'invalid_passkey');
  });

  it('without passkeys opens it with a passphrase, and with the recovery code on another device', async () => {
    const { recoveryCode = '', recipient, svc, token } = await makeWallet(await newGift(), 'tres gatos azules cantan');
    const wallet = await svc.getWallet({ externalUserId: recipient.id }, token);
    const key = await exportPrivateKey({ wallet, encryptKey: 'tres gatos azules cantan' });
    const elsewhere = await client().recipients.signInWithCode({ recoveryCode: recoveryCode.toLowerCase() });
    expect(elsewhere.recipient.id).toBe(recipient.id);
    expect(await exportPrivateKey({ wallet, encryptKey: elsewhere.encryptKey ?? '' })).toBe(key);
    const wrong = recoveryCode.replace(/^./, (first) => (first === '0' ? '1' : '0'));
    expect(await codeOf(svc.recipients.signInWithCode({ recoveryCode: wrong }))).toBe('invalid_recovery_code');
  });

  it('backs it up with a second passkey and a recovery code; each signs in and opens it', async () => {
    const first = useDevice();
    const { recipient, token, svc } = await makeWallet(await newGift());
    const session = await svc.recipients.signInWithPasskey();
    const stored = await svc.getWallet({ externalUserId: recipient.id }, token);
    const key = await exportPrivateKey({ wallet: stored, encryptKey: session.encryptKey });
    const backUp = { externalUserId: recipient.id, wallet: stored, encryptKey: session.encryptKey };
    const second = useDevice(new FakeAuthenticator({ origin }));
    const added = await svc.recipients.addRecipientPasskey(backUp, token);
    expect(added.recipient.passkeys).toBe(2);
    const written = await svc.recipients.makeRecoveryCode({ ...backUp, wallet: added.wallet }, token);
    expect(written.recipient.hasRecoveryCode).toBe(true);
    const wallet = await svc.getWallet({ externalUserId: recipient.id }, token);
    for (const device of [first, second]) {
      useDevice(device);
      const opened = await svc.recipients.signInWithPasskey();
      expect(await exportPrivateKey({ wallet, encryptKey: opened.encryptKey })).toBe(key);
    }
    const byCode = await svc.recipients.signInWithCode({ recoveryCode: written.recoveryCode });
    expect(await exportPrivateKey({ wallet, encryptKey: byCode.encryptKey ?? '' })).toBe(key);
  });

  it('deploys it again where the deployment failed, with the own token and key alone', async () => {
    useDevice();
    const { recipient, token, svc } = await makeWallet(await newGift());
    const { encryptKey } = await svc.recipients.signInWithPasskey();
    const wallet = await svc.getWallet({ externalUserId: recipient.id }, token);
    const own = { externalUserId: recipient.id, wallet, encryptKey };
    const isDeployed = async () => (await svc.getWallet({ externalUserId: recipient.id }, token)).isDeployed;
    await expect.poll(isDeployed).toBe(true);
    await service.db.run(sql`update wallets set deployment = 'FAILED' where address = ${recipient.walletAddress}`);
    expect(await isDeployed()).toBe(false);
    await svc.recipients.deployRecipientWallet(own, token);
    await expect.poll(isDeployed).toBe(true);
    const friend = new Owner().address;
    const sentTo = { encryptKey, wallet, amount: '0.5', token: 'USDC', recipient: friend } as const;
    await svc.transfer(sentTo, token);
    await expect.poll(() => app.balance(friend, 'USDC')).toBe(500_000n);
  });

  it('deletes everything that is known of them, but not by mistake while there is money', async () => {
    useDevice();
    const gift = await newGift();
    const { recipient, token, svc } = await makeWallet(gift);
    expect(await codeOf(svc.recipients.deleteRecipient({}, token))).toBe('wallet_not_empty');
    expect(await codeOf(svc.recipients.deleteRecipient({ exported: true }, token))).toBe('done');
    expect(await codeOf(svc.recipients.getRecipient(token))).toBe('wallet_not_found');
    expect(await codeOf(svc.getWallet({ externalUserId: recipient.id }, token))).toBe('wallet_not_found');
    expect(await codeOf(svc.recipients.signInWithPasskey())).toBe('invalid_passkey');
    const left = await service.db.rows(sql`
      select from wallets where address = ${recipient.walletAddress}
         and (encrypted_private_key <> 'deleted' or external_user_id = ${recipient.id} or credential_id is not null)`);
    expect(left).toEqual([]);
    const { data } = bodyOf<{ data: { action: string }[] }>(await app.get('/organization/audit-log'), 200);
    expect(data.map(({ action }) => action)).toContain('recipient.deleted');
  });
});
