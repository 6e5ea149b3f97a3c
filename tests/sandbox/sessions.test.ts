import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectReverted, expectSucceeded, failure } from '../support/assertions.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { startSandbox } from '../support/service.ts';
import { call, libraries, SessionWallet, transfer, USDC } from '../support/starknet-client.ts';

const NOT_REGISTERED = 'Session: not registered';
const EXPIRED = 'Session: expired';
const NO_CALLS_LEFT = 'Session: no calls left';
const NOT_ALLOWED = 'Session: entrypoint not allowed';
const INVALID_SIGNATURE = 'Account: invalid signature';

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

const wallets = libraries.flatMap(([name, library]) =>
  (['SVC', 'SVC with policies', 'SVC with sessions'] as const).map((kind) => [name, kind, library] as const),
);

let sandbox: Sandbox;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sandbox, stop } = await startSandbox());
});
afterAll(() => stop());

describe.each(wallets)('with %s, a session of the kind %s', (_name, kind, library) => {
  let wallet: SessionWallet;
  let receiver: string;
  beforeEach(async () => {
    wallet = await SessionWallet.open(library, sandbox, kind);
    receiver = library.stark.randomAddress();
  });
  const pay = (amount = 1) => transfer(USDC, receiver, amount);

  /** The current class accepts transactions of its owner only. */
  const ownersOnly = kind === 'SVC';

  /** Relayed it reverts; as a transaction of the account it is refused. Neither changes state. */
  async function expectRefused(
    calls: Parameters<SessionWallet['relayed']>[0],
    validUntil: number,
    reason: string,
    key?: string,
  ) {
    const before = await wallet.balance(USDC, receiver);
    expectReverted(await wallet.relayed(calls, validUntil, key), reason);
    const { data } = await failure(wallet.direct(calls, validUntil, key), 'VALIDATION_FAILURE');
    expect(data).toContain(`('${ownersOnly ? INVALID_SIGNATURE : reason}')`);
    expect(await wallet.balance(USDC, receiver)).toBe(before);
  }

  it('signs for calls that are relayed', async () => {
    const until = await wallet.addSession();
    expectSucceeded(await wallet.relayed([pay(2), pay(3)], until));
    expectSucceeded(await wallet.relayed(pay(4), until));
    expect(await wallet.balance(USDC, receiver)).toBe(9n);
    expect(await wallet.session()).toEqual({
      validUntil: BigInt(until),
      maxCalls: 100n,
      callsUsed: 2n,
      entrypoints: 0n,
    });
  });

  it(`signs ${ownersOnly ? 'no transaction' : 'transactions, too,'} of the account, which the account pays`, async () => {
    const until = await wallet.addSession();
    const sent = wallet.direct(pay(4), until);
    if (!ownersOnly) return expectSucceeded(await sent);
    const { data } = await failure(sent, 'VALIDATION_FAILURE');
    expect(data).toContain(`('${INVALID_SIGNATURE}')`);
    expect(await wallet.session()).toMatchObject({ callsUsed: 0n });
  });

  it('is refused before it is added, after it is revoked, and under another end than its own', async () => {
    const until = (await sandbox.clock()) + 1_000;
    await expectRefused(pay(), until, NOT_REGISTERED);
    await wallet.addSession({ validUntil: until });
    await expectRefused(pay(), until + 1, NOT_REGISTERED);
    expectSucceeded(await wallet.relayed(pay(), until));
    expectSucceeded(await wallet.own('revoke_session_key', [wallet.sessionKey]));
    await expectRefused(pay(), until, NOT_REGISTERED);
  });

  it('is good until the second before its end', async () => {
    const until = (await sandbox.clock()) + 60;
    await wallet.addSession({ validUntil: until });
    await sandbox.setClock(until - 1);
    expectSucceeded(await wallet.relayed(pay(), until));
    await sandbox.setClock(until);
    await expectRefused(pay(), until, EXPIRED);
  });

  it('makes as many executions as allowed, with any number of calls each, and a refused one does not count', async () => {
    const until = await wallet.addSession({ maxCalls: 2 });
    expectSucceeded(await wallet.relayed([pay(), pay(), pay()], until));
    await expectRefused(call(wallet.address, 'get_public_key'), until, NOT_ALLOWED);
    expect(await wallet.session()).toMatchObject({ callsUsed: 1n });
    expectSucceeded(await wallet.relayed(pay(), until));
    await expectRefused(pay(), until, NO_CALLS_LEFT);
    await wallet.addSession({ maxCalls: 1, validUntil: until });
    expectSucceeded(await wallet.relayed(pay(), until));
  });

  it('calls what is on its list alone, also inside a multicall, and a new list replaces the old', async () => {
    const approve = call(USDC, 'approve', [receiver, 1, 0]);
    const until = await wallet.addSession({ entrypoints: ['transfer'] });
    expectSucceeded(await wallet.relayed([pay(), pay()], until));
    await expectRefused(approve, until, NOT_ALLOWED);
    await expectRefused([pay(), approve], until, NOT_ALLOWED);
    await wallet.addSession({ entrypoints: ['approve'], validUntil: until });
    expectSucceeded(await wallet.relayed(approve, until));
    await expectRefused(pay(), until, NOT_ALLOWED);
  });

  it('never calls an owner entrypoint on any contract, even if it is on the list', async () => {
    const until = await wallet.addSession({ entrypoints: [...ownerEntrypoints, 'transfer'] });
    for (const name of ownerEntrypoints) await expectRefused([pay(), call(USDC, name)], until, NOT_ALLOWED);
  });

  it('never calls the account itself', async () => {
    const until = await wallet.addSession();
    await expectRefused(call(wallet.address, 'get_public_key'), until, NOT_ALLOWED);
    await expectRefused([pay(), call(wallet.address, 'is_valid_outside_execution_nonce', [1])], until, NOT_ALLOWED);
  });

  it('needs the signature of its own key, of four felts', async () => {
    const until = await wallet.addSession();
    await expectRefused(pay(), until, NOT_REGISTERED, library.stark.randomAddress());
    const signer = wallet.as(until).signer as unknown as { signRaw(hash: string): Promise<string[]> };
    const good = signer.signRaw.bind(signer);
    const forgeries: ((felts: string[]) => string[])[] = [
      ([key = '', r = '', , end = '']) => [key, r, '0x1', end],
      (felts) => felts.slice(0, 3),
      (felts) => [...felts, '0x0'],
    ];
    for (const forge of forgeries) {
      const account = wallet.as(until);
      Object.assign(account.signer, { signRaw: async (hash: string) => forge(await good(hash)) });
      const { data } = await failure(wallet.client.send(account, pay()), 'VALIDATION_FAILURE');
      expect(data).toContain("('Account: invalid signature')");
      expectReverted(await wallet.client.sendFor(wallet.relayer, account, pay()), 'Account: invalid signature');
    }
    expect(await wallet.balance(USDC, receiver)).toBe(0n);
  });

  it('does not sign messages in the account’s name', async () => {
    const until = await wallet.addSession();
    const { address, client } = wallet;
    const signature = await (
      wallet.as(until).signer as unknown as { signRaw(hash: string): Promise<string[]> }
    ).signRaw('0x1234');
    const request = call(address, 'is_valid_signature', ['0x1234', signature.length, ...signature]);
    expect(await client.provider.callContract(request)).toEqual(['0x0']);
  });

  it('is managed by the account alone', async () => {
    const until = await wallet.addSession();
    for (const [name, calldata] of [
      ['add_or_update_session_key', [wallet.sessionKey, until + 1, 1, 0]],
      ['revoke_session_key', [wallet.sessionKey]],
    ] as const) {
      const stranger = await wallet.client.send(wallet.relayer, call(wallet.address, name, [...calldata]));
      expectReverted(stranger, 'Account: unauthorized');
    }
    expect(await wallet.session()).toMatchObject({ validUntil: BigInt(until) });
  });
});
