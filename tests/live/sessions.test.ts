import { selector, toHex } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ContractCall, type Owner, SessionKey, transferOf } from '../support/app.ts';
import { expectError } from '../support/assertions.ts';
import type { Reply } from '../support/client.ts';
import { STRK, USDC } from '../support/starknet-client.ts';
import { blockModes } from './support/devnet.ts';
import { LiveService } from './support/live-service.ts';

const HOUR = 3_600n;
const nowSeconds = () => BigInt(Math.floor(Date.now() / 1_000));

interface Registered {
  readonly owner: Owner;
  readonly session: SessionKey;
}

function expectReason(reply: Reply, reason: string): void {
  expectError(reply, 400, 'transaction_reverted');
  expect((reply.body as { message: string }).message).toContain(reason);
}

describe.each(blockModes)('with %s', (_, blocks) => {
  let live: LiveService;
  beforeAll(async () => {
    live = await LiveService.start(blocks);
  });
  afterAll(() => live?.stop());

  async function ownerCalls(owner: Owner, entrypoint: string, calldata: readonly string[]): Promise<void> {
    const call: ContractCall = { contractAddress: owner.address, entrypoint, calldata };
    expect(await live.ended(await live.app.execute(owner, [call]))).toMatchObject({ status: 'SUCCESS' });
  }

  /** A session key for the given functions; default: all. */
  async function registered({ allowed = [] as string[], maxCalls = 100n } = {}): Promise<Registered> {
    const owner = await live.wallet();
    const session = new SessionKey(nowSeconds() + HOUR);
    const selectors = allowed.map((name) => toHex(selector(name)));
    const terms = [session.publicKey, toHex(session.validUntil), toHex(maxCalls), toHex(BigInt(selectors.length))];
    await ownerCalls(owner, 'add_or_update_session_key', [...terms, ...selectors]);
    return { owner, session };
  }

  const setPolicy = ({ owner, session }: Registered, perCall: bigint, perWindow: bigint) =>
    ownerCalls(owner, 'set_spending_policy', [
      ...[session.publicKey, USDC, toHex(perCall), '0x0', toHex(perWindow), '0x0', toHex(HOUR)],
    ]);
  const pay = ({ owner, session }: Registered, amount: bigint, to = live.newRecipient()) =>
    live.app.executeWithSession(owner.address, session, [transferOf(USDC, to, amount)]);

  it('a session key sends without the owner, as often as it may, until it is revoked', async () => {
    const wallet = await registered({ maxCalls: 2n });
    const recipient = live.newRecipient();
    const first = await live.ended(await pay(wallet, 5n, recipient));
    expect(first).toMatchObject({ type: 'SEND', subType: 'SESSION', status: 'SUCCESS', amount: '5' });
    expect(await live.ended(await pay(wallet, 6n, recipient))).toMatchObject({ status: 'SUCCESS' });
    expect(await live.app.balance(recipient, 'USDC')).toBe(11n);
    expectReason(await pay(wallet, 1n), 'Session: no calls left');
    await ownerCalls(wallet.owner, 'revoke_session_key', [wallet.session.publicKey]);
    expectReason(await pay(wallet, 1n), 'Session: not registered');
  });

  it('a session key that is not registered, or may not call, is refused with the reason of the wallet', async () => {
    const { owner, session } = await registered({ allowed: ['approve'] });
    expectReason(await pay({ owner, session: new SessionKey(nowSeconds() + HOUR) }, 1n), 'Session: not registered');
    expectReason(await pay({ owner, session }, 1n), 'Session: entrypoint not allowed');
    const itself = { contractAddress: owner.address, entrypoint: 'revoke_session_key', calldata: [session.publicKey] };
    expectReason(
      await live.app.executeWithSession(owner.address, session, [itself]),
      'Session: entrypoint not allowed',
    );
  });

  it('a policy caps each call and each window of a session, and not its owner nor other tokens', async () => {
    const wallet = await registered();
    await setPolicy(wallet, 10n, 25n);
    expectReason(await pay(wallet, 11n), 'Spending: exceeds per-call');
    const recipient = live.newRecipient();
    for (const amount of [10n, 10n, 5n]) {
      expect(await live.ended(await pay(wallet, amount, recipient))).toMatchObject({ status: 'SUCCESS' });
    }
    expectReason(await pay(wallet, 1n), 'Spending: exceeds window limit');
    expect(await live.app.balance(recipient, 'USDC')).toBe(25n);
    await live.devnet.faucet(wallet.owner.address, 'STRK', '1');
    const { address } = wallet.owner;
    const other = await live.app.executeWithSession(address, wallet.session, [transferOf(STRK, recipient, 50n)]);
    expect(await live.ended(other)).toMatchObject({ status: 'SUCCESS' });
    const own = await live.app.execute(wallet.owner, [transferOf(USDC, recipient, 50n)]);
    expect(await live.ended(own)).toMatchObject({ status: 'SUCCESS' });
    await ownerCalls(wallet.owner, 'remove_spending_policy', [wallet.session.publicKey, USDC]);
    expect(await live.ended(await pay(wallet, 100n))).toMatchObject({ status: 'SUCCESS' });
  });
});
