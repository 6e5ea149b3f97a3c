import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PAYMENT_ADDRESS, transferCall } from '../../testing/chain.ts';
import { DepositFixture, outsider } from '../../testing/deposits.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { refusal } from '../../testing/wallets.ts';
import { Networks } from '../chains/networks.ts';
import type { Caller } from '../http/call.ts';
import type { CreateDepositDeps } from './deposit.ts';

let fixture: DepositFixture;
let caller: Caller;
let address: bigint;
beforeAll(async () => {
  fixture = await DepositFixture.start();
});
beforeEach(async () => {
  caller = await fixture.newCaller();
  address = await fixture.addressOf(caller);
});
afterEach(async () => {
  fixture.confirmations = 1;
  await fixture.sandbox.reset();
});
afterAll(() => fixture.stop());

const stored = (hash: string) => fixture.db.rows(sql`select from deposits where transaction_hash = ${hash}`);

describe('a deposit', () => {
  it('credits what arrived at the caller’s deposit address', async () => {
    const hash = await fixture.pay(address, 2_500_000n, 1n);
    expect(await fixture.offer(hash, caller)).toEqual({
      id: expect.stringMatching(/^led_/),
      type: 'DEPOSIT',
      amountUsd: 2.500001,
      availableUsd: 2.500001,
      heldUsd: 0,
      holdId: null,
      reference: hash,
      createdAt: expect.any(String),
    });
    expect(await fixture.total(caller)).toBe(2_500_001n);
    expect(await findBrokenInvariants(fixture.db)).toEqual([]);
  });

  it('counts once, however often and in any spelling it is offered', async () => {
    const hash = await fixture.pay(address, 5n);
    const first = await fixture.offer(hash, caller);
    const spelled = `0x${BigInt(hash).toString(16).toUpperCase().padStart(64, '0')}`;
    expect(await fixture.offer(spelled, caller)).toEqual(first);
    expect(await fixture.total(caller)).toBe(5n);
  });

  it('counts once although the indexer and many requests see it at the same time', async () => {
    const hash = await fixture.pay(address, 11n);
    const offers = Array.from({ length: 6 }, () => fixture.offer(hash, caller));
    const [, , ...answers] = await Promise.all([fixture.index(), fixture.index(), ...offers]);
    await fixture.index();
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(await fixture.entries(caller)).toHaveLength(1);
    expect(await fixture.total(caller)).toBe(11n);
  });

  it('that the indexer credited is answered with its entry', async () => {
    const hash = await fixture.pay(address, 5n);
    await fixture.index();
    const [entry] = await fixture.entries(caller);
    expect(await fixture.offer(hash, caller)).toMatchObject({ id: entry?.id, amountUsd: 0.000005 });
  });

  it('is answered again although no node answers', async () => {
    const hash = await fixture.pay(address, 5n);
    const first = await fixture.offer(hash, caller);
    const place = { url: 'http://127.0.0.1:2', publicUrl: 'http://127.0.0.1:2', paymentAddress: PAYMENT_ADDRESS };
    const networks = new Networks({ starknet: undefined, evmRpcUrls: {} }, place);
    expect(await fixture.offer(hash, caller, { networks })).toEqual(first);
  });

  it('waits until the block of the transfer is sealed', async () => {
    await fixture.sandbox.holdBlocks();
    const hash = await fixture.pay(address, 5n);
    const seal = async () => void (await fixture.sandbox.post('/starknet/block-time', { seconds: 0 }));
    expect(await refusal(fixture.offer(hash, caller), 'transaction_not_found')).toContain(
      'has not sealed its block yet',
    );
    expect(await fixture.total(caller)).toBe(0n);
    expect(await fixture.offer(hash, caller, { pause: seal })).toMatchObject({ amountUsd: 0.000005 });
  });

  it('waits for its confirmations', async () => {
    fixture.confirmations = 3;
    const hash = await fixture.pay(address, 5n);
    expect(await refusal(fixture.offer(hash, caller), 'transaction_not_found')).toContain('needs 2 more blocks');
    expect(await stored(hash)).toEqual([]);
    await fixture.sandbox.mine(2);
    expect(await fixture.offer(hash, caller)).toMatchObject({ amountUsd: 0.000005 });
  });

  it('is credited to each organisation that a transaction pays, its own part', async () => {
    const other = await fixture.newCaller();
    const calls = [
      transferCall('USDC', address, 3n),
      transferCall('USDC', await fixture.addressOf(other), 4n),
      transferCall('USDC', address, 5n),
    ];
    const hash = await fixture.relayers.sendFrom(outsider, calls);
    expect(await fixture.offer(hash, caller)).toMatchObject({ amountUsd: 0.000008 });
    expect(await fixture.offer(hash, other)).toMatchObject({ amountUsd: 0.000004 });
    await fixture.index();
    expect([await fixture.total(caller), await fixture.total(other)]).toEqual([8n, 4n]);
  });

  it('whose block is replaced while it is looked at is not credited before it is in a block again', async () => {
    const hash = await fixture.pay(address, 5n);
    let looks = 0;
    const { block } = fixture.chain;
    const networks = fixture.relayers.networksWith({
      // The second look is the one after the deposit was stored.
      block: async (at) => {
        looks += 1;
        if (looks === 2) await fixture.sandbox.reorganise(1, 'drop');
        return block.call(fixture.chain, at);
      },
    });
    await refusal(fixture.offer(hash, caller, { networks }), 'transaction_not_found');
    await fixture.sandbox.mine(1);
    await fixture.index();
    expect(await fixture.total(caller)).toBe(0n);
  });
});

describe('what is no deposit is refused and stores nothing', () => {
  const refused = async (
    hash: string,
    code: Parameters<typeof refusal>[1],
    changes: Partial<CreateDepositDeps> = {},
    chain?: string,
  ) => {
    const message = await refusal(fixture.offer(hash, caller, changes, chain), code);
    expect(await fixture.total(caller)).toBe(0n);
    expect(await stored(hash)).toEqual([]);
    return message;
  };

  it('a deposit of another organisation, with the answer that any other transfer gets', async () => {
    const other = await fixture.newCaller();
    const theirs = await fixture.pay(await fixture.addressOf(other), 8n);
    const elsewhere = await fixture.pay(0xb0bn, 8n);
    const message = await refused(theirs, 'transaction_mismatch');
    expect(message).toBe(await refused(elsewhere, 'transaction_mismatch'));
    expect(message).toContain(`your deposit address 0x${address.toString(16).padStart(64, '0')}`);
    expect(await fixture.offer(theirs, other)).toMatchObject({ amountUsd: 0.000008 });
  });

  it('a transfer to the payment address, with the address that it should have gone to', async () => {
    const message = await refused(await fixture.pay(PAYMENT_ADDRESS, 5n), 'transaction_mismatch');
    expect(message).toContain(`0x${address.toString(16).padStart(64, '0')}`);
  });

  it('another token', async () => {
    const strk = await fixture.relayers.sendFrom(outsider, [transferCall('STRK', address, 5n)]);
    expect(await refused(strk, 'transaction_mismatch')).toContain('brings no USDC');
  });

  it('a transaction that was reverted', async () => {
    await fixture.sandbox.fault({ kind: 'revert', reason: 'out of luck' });
    expect(await refused(await fixture.pay(address, 5n), 'transaction_reverted')).toContain('out of luck');
  });

  it('an unknown transaction, after three seconds of polling', async () => {
    let waitedMs = 0;
    const pause = async (ms: number) => {
      waitedMs += ms;
    };
    expect(await refused('0xdead', 'transaction_not_found', { pause })).toContain('does not know it');
    expect(waitedMs).toBe(3_000);
  });

  it('what is not a hash, and what is on another chain', async () => {
    expect(await refused('hash', 'invalid_request')).toContain('body.transactionHash must be 0x');
    await refused(`0x${'1'.repeat(64)}`, 'unsupported_chain', {}, 'BASE');
  });

  it('anything where no chain or no manager is configured', async () => {
    const networks = new Networks({ starknet: undefined, evmRpcUrls: {} }, undefined);
    await refused('0x1', 'chain_not_configured', { networks });
    const payer = { ...fixture.depsWith().payer, publicKey: () => undefined };
    expect(await refused(toHex(1n), 'chain_not_configured', { payer })).toContain('MANAGER_ACCOUNT');
  });
});
