import { classes, selector } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App, type ContractCall, hashOf, Owner, SessionKey, transferOf } from '../support/app.ts';
import { expectError } from '../support/assertions.ts';
import type { Reply } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { Sandbox } from '../support/sandbox.ts';
import { type AnyService, TestService } from '../support/service.ts';
import { STRK, USDC } from '../support/starknet-client.ts';

let service: AnyService;
let app: App;
let sandbox: Sandbox;

beforeAll(async () => {
  service = await TestService.shared();
  app = new App(service.server);
  sandbox = new Sandbox(service.server);
});
afterAll(() => service.stop());

const HOUR = 3_600n;
const hex = (value: bigint) => `0x${value.toString(16)}`;
const nowSeconds = () => BigInt(Math.floor(Date.now() / 1_000));

interface Registered {
  readonly owner: Owner;
  readonly session: SessionKey;
}

/** A wallet with USDC, and a session key for the given functions; default: all. */
async function registered(
  user: string,
  { classHash = classes.svc, allowed = [] as string[], maxCalls = 100n, validFor = HOUR } = {},
): Promise<Registered> {
  const owner = new Owner(classHash);
  await app.createWallet(owner, user);
  await sandbox.faucet(owner.address, 'USDC', '100');
  const session = new SessionKey(nowSeconds() + validFor);
  const selectors = allowed.map((name) => hex(selector(name)));
  const calldata = [
    session.publicKey,
    hex(session.validUntil),
    hex(maxCalls),
    hex(BigInt(selectors.length)),
    ...selectors,
  ];
  await ownerCalls(owner, { contractAddress: owner.address, entrypoint: 'add_or_update_session_key', calldata });
  return { owner, session };
}

async function ownerCalls(owner: Owner, call: ContractCall): Promise<void> {
  const hash = hashOf(await app.execute(owner, [call]));
  const record = () => app.get(`/transactions/${hash}`);
  const done = await eventually(record, ({ body }) => (body as { status: string }).status !== 'PENDING');
  expect(done.body).toMatchObject({ status: 'SUCCESS' });
}

function setPolicy(owner: Owner, session: SessionKey, perCall: bigint, perWindow: bigint): Promise<void> {
  const calldata = [session.publicKey, USDC, hex(perCall), '0x0', hex(perWindow), '0x0', hex(HOUR)];
  return ownerCalls(owner, { contractAddress: owner.address, entrypoint: 'set_spending_policy', calldata });
}

function expectReason(reply: Reply, reason: string): void {
  expectError(reply, 400, 'transaction_reverted');
  expect((reply.body as { message: string }).message).toContain(reason);
}

const pay = ({ owner, session }: Registered, amount: bigint, to = '0xb0b') =>
  app.executeWithSession(owner.address, session, [transferOf(USDC, to, amount)]);

describe('a session key', () => {
  it('sends without the owner, and the record says so', async () => {
    const wallet = await registered('session');
    const hash = hashOf(await pay(wallet, 5n, '0x5e55'));
    const done = await eventually(
      () => app.get(`/transactions/${hash}`),
      ({ body }) => (body as { status: string }).status !== 'PENDING',
    );
    expect(done.body).toMatchObject({ type: 'SEND', subType: 'SESSION', status: 'SUCCESS', amount: '5' });
    expect(await app.balance('0x5e55', 'USDC')).toBe(5n);
  });

  it('that is not registered is refused with the reason of the wallet', async () => {
    const { owner } = await registered('unregistered');
    expectReason(await pay({ owner, session: new SessionKey(nowSeconds() + HOUR) }, 1n), 'Session: not registered');
  });

  it('whose signature is not its own is refused before the chain is asked', async () => {
    const { owner, session } = await registered('forged session');
    const message = await app.prepare(owner.address, [transferOf(USDC, '0xbad', 1n)]);
    const [, r = '', s = ''] = new SessionKey(session.validUntil).sign(message, owner.address);
    const reply = await app.post('/transactions/execute-sponsored-transaction', {
      publicKey: owner.address,
      typedData: message,
      userSignature: [session.publicKey, r, s, hex(session.validUntil)],
    });
    expectError(reply, 400, 'invalid_signature');
  });

  it('cannot call what it is not allowed to', async () => {
    const wallet = await registered('restricted', { allowed: ['approve'] });
    expectReason(await pay(wallet, 1n), 'Session: entrypoint not allowed');
  });

  it('cannot call the wallet itself', async () => {
    const { owner, session } = await registered('self call');
    const call = { contractAddress: owner.address, entrypoint: 'revoke_session_key', calldata: [session.publicKey] };
    expectReason(await app.executeWithSession(owner.address, session, [call]), 'Session: entrypoint not allowed');
  });

  it('has only as many calls as it was given', async () => {
    const wallet = await registered('two calls', { maxCalls: 2n });
    const hashes = [hashOf(await pay(wallet, 1n)), hashOf(await pay(wallet, 1n))];
    await eventually(
      () => app.get(`/transactions/${hashes[1]}`),
      ({ body }) => (body as { status: string }).status !== 'PENDING',
    );
    expectReason(await pay(wallet, 1n), 'Session: no calls left');
  });

  it('ends with its time and with its revocation', async () => {
    const revoked = await registered('revoked');
    await ownerCalls(revoked.owner, {
      contractAddress: revoked.owner.address,
      entrypoint: 'revoke_session_key',
      calldata: [revoked.session.publicKey],
    });
    expectReason(await pay(revoked, 1n), 'Session: not registered');
  });

  it('is for SVC wallets only', async () => {
    const owner = new Owner(classes.ready);
    await app.createWallet(owner, 'ready without sessions', 'READY');
    await sandbox.faucet(owner.address, 'USDC', '1');
    const reply = await pay({ owner, session: new SessionKey(nowSeconds() + HOUR) }, 1n);
    expectError(reply, 400, 'invalid_signature');
  });
});

describe('a spending policy', () => {
  it('caps each call and each window, and the refusal names which', async () => {
    const wallet = await registered('capped');
    await setPolicy(wallet.owner, wallet.session, 10n, 25n);
    expectReason(await pay(wallet, 11n), 'Spending: exceeds per-call');
    const hashes: string[] = [];
    for (const amount of [10n, 10n, 5n]) hashes.push(hashOf(await pay(wallet, amount, '0xcab')));
    await eventually(
      () => app.get(`/transactions/${hashes[2]}`),
      ({ body }) => (body as { status: string }).status !== 'PENDING',
    );
    expectReason(await pay(wallet, 1n), 'Spending: exceeds window limit');
    expect(await app.balance('0xcab', 'USDC')).toBe(25n);
  });

  it('does not bind the owner, nor other tokens', async () => {
    const wallet = await registered('free owner');
    await setPolicy(wallet.owner, wallet.session, 1n, 1n);
    await sandbox.faucet(wallet.owner.address, 'STRK', '1');
    hashOf(await app.execute(wallet.owner, [transferOf(USDC, '0xb0b', 50n)]));
    hashOf(await app.executeWithSession(wallet.owner.address, wallet.session, [transferOf(STRK, '0xb0b', 50n)]));
  });

  it('counts the calls of one transaction together', async () => {
    const wallet = await registered('split');
    await setPolicy(wallet.owner, wallet.session, 10n, 15n);
    const calls = [transferOf(USDC, '0xb0b', 10n), transferOf(USDC, '0xb0b', 10n)];
    expectReason(
      await app.executeWithSession(wallet.owner.address, wallet.session, calls),
      'Spending: exceeds window limit',
    );
  });
});
