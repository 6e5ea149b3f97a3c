import type { BodyOf, endpoints, LedgerEntry } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { transfer } from '../../testing/chain.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { outsider, TransactionFixture, transferOf } from '../../testing/transactions.ts';
import { type Owner, refusal } from '../../testing/wallets.ts';
import { Networks } from '../chains/networks.ts';
import type { Call, Caller } from '../http/call.ts';
import { balance } from '../ledger/ledger.ts';
import { createDeposit, type DepositDeps } from './create-deposit.ts';

type Body = BodyOf<typeof endpoints.createDeposit>;

let fixture: TransactionFixture;
let ana: Owner;
let payments: bigint;
beforeAll(async () => {
  fixture = await TransactionFixture.start();
  ana = await fixture.funded('ana');
  await fixture.sandbox.post('/faucet', { address: toHex(outsider.address), token: 'USDC', amount: '1000' });
  payments = BigInt(fixture.networks.starknet('development').paymentAddress);
});
afterAll(() => fixture.stop());
afterEach(() => fixture.sandbox.post('/starknet/block-time', { seconds: 0 }));

const deps = (changes: Partial<DepositDeps> = {}): DepositDeps => {
  return { ...fixture, ownAccounts: () => [], pause: async () => {}, ...changes };
};
function offer(transactionHash: string, caller = fixture.caller(), changes: Partial<DepositDeps & Body> = {}) {
  const { chain = 'STARKNET', ...others } = changes;
  const call = { caller, body: { transactionHash, chain }, transact: fixture.db.tx };
  return createDeposit(deps(others), call as unknown as Call<typeof endpoints.createDeposit>) as Promise<LedgerEntry>;
}
const newCaller = async () => fixture.caller(undefined, await fixture.newOrganization());
const paid = (...amounts: bigint[]) => fixture.sendAlone(amounts.map((amount) => transfer('USDC', payments, amount)));
const total = async (caller: Caller) => (await balance(fixture.db, caller)).total;
const uses = (hash: string) => fixture.db.rows(sql`select purpose from used_payments where transaction_hash = ${hash}`);

describe('a deposit', () => {
  it('credits what arrived at the payment address', async () => {
    const caller = await newCaller();
    const hash = await paid(2_500_000n, 1n);
    expect(await offer(hash, caller)).toEqual({
      id: expect.stringMatching(/^led_/),
      type: 'DEPOSIT',
      amountUsd: 2.500001,
      availableUsd: 2.500001,
      heldUsd: 0,
      holdId: null,
      reference: hash,
      createdAt: expect.any(String),
    });
    expect(await total(caller)).toBe(2_500_001n);
    expect(await uses(hash)).toEqual([{ purpose: 'deposit' }]);
    expect(await findBrokenInvariants(fixture.db)).toEqual([]);
  });

  it('can come from a wallet of the organisation', async () => {
    const hash = await fixture.execute(ana, [transferOf(toHex(payments), 7)]);
    expect(await offer(hash)).toMatchObject({ amountUsd: 0.000007 });
  });

  it('counts once, however often and in any spelling it is offered', async () => {
    const caller = await newCaller();
    const hash = await paid(5n);
    const first = await offer(hash, caller);
    const spelled = `0x${BigInt(hash).toString(16).toUpperCase().padStart(64, '0')}`;
    expect(await offer(spelled, caller)).toEqual(first);
    expect(await total(caller)).toBe(5n);
  });

  it('is answered again although no node answers', async () => {
    const caller = await newCaller();
    const hash = await paid(5n);
    const first = await offer(hash, caller);
    const place = { url: 'http://127.0.0.1:2', publicUrl: 'http://127.0.0.1:2', paymentAddress: payments };
    const networks = new Networks({ starknet: undefined, evmRpcUrls: {} }, place);
    expect(await offer(hash, caller, { networks })).toEqual(first);
  });

  it('offered at once by several counts for one of them', async () => {
    const callers = await Promise.all(Array.from({ length: 4 }, newCaller));
    const hash = await paid(11n);
    const offers = [...callers, ...callers].map((caller) => offer(hash, caller));
    const answers = await Promise.allSettled(offers);
    const entries = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.id] : []));
    expect([entries.length, new Set(entries).size]).toEqual([2, 1]);
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'transaction_already_used' });
    }
    const totals = await Promise.all(callers.map(total));
    expect(totals.reduce((sum, one) => sum + one, 0n)).toBe(11n);
    expect(await findBrokenInvariants(fixture.db)).toEqual([]);
  });

  it('waits until the block of the transfer is sealed', async () => {
    const caller = await newCaller();
    await fixture.sandbox.post('/starknet/block-time', { seconds: 3_600 });
    const hash = await paid(5n);
    const seal = async () => void (await fixture.sandbox.post('/starknet/block-time', { seconds: 0 }));
    expect(await refusal(offer(hash, caller), 'transaction_not_found')).toContain('has not sealed its block yet');
    expect(await total(caller)).toBe(0n);
    expect(await offer(hash, caller, { pause: seal })).toMatchObject({ amountUsd: 0.000005 });
  });
});

describe('what is no deposit is refused and stores nothing', () => {
  const refused = async (
    hash: string,
    code: Parameters<typeof refusal>[1],
    changes: Partial<DepositDeps & Body> = {},
  ) => {
    const caller = await newCaller();
    const message = await refusal(offer(hash, caller, changes), code);
    expect(await total(caller)).toBe(0n);
    expect(await uses(hash)).toEqual([]);
    return message;
  };

  it('a transfer of another organisation’s wallet', async () => {
    const hash = await fixture.execute(ana, [transferOf(toHex(payments), 8)]);
    expect(await refused(hash, 'transaction_mismatch')).toContain('a wallet that is not of this organisation');
    expect(await offer(hash)).toMatchObject({ amountUsd: 0.000008 });
  });

  it('a payout of ours', async () => {
    const ownAccounts = () => [outsider.address];
    const message = await refused(await paid(5n), 'transaction_mismatch', { ownAccounts });
    expect(message).toContain('an account of the service itself');
  });

  it('a transfer to another address, or of another token', async () => {
    const elsewhere = await fixture.sendAlone([transfer('USDC', 0xb0bn, 5n)]);
    expect(await refused(elsewhere, 'transaction_mismatch')).toContain('moves no USDC to the payment address');
    await refused(await fixture.sendAlone([transfer('STRK', payments, 5n)]), 'transaction_mismatch');
  });

  it('a transaction that was reverted', async () => {
    await fixture.sandbox.post('/starknet/faults', { kind: 'revert', reason: 'out of luck' });
    expect(await refused(await paid(5n), 'transaction_reverted')).toContain('out of luck');
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
    await refused(`0x${'1'.repeat(64)}`, 'unsupported_chain', { chain: 'BASE' });
  });

  it('a payment for a purchase', async () => {
    const hash = await paid(5n);
    const caller = await newCaller();
    await fixture.db.run(sql`
      insert into used_payments (chain_id, transaction_hash, organization_id, environment, purpose, reference)
      values (${toHex(fixture.chain.chainId)}, ${hash}, ${caller.organizationId}, 'development', 'purchase', 'txn_1')`);
    await refusal(offer(hash, caller), 'transaction_already_used');
    expect(await total(caller)).toBe(0n);
  });

  it('anything where no chain is configured', async () => {
    const networks = new Networks({ starknet: undefined, evmRpcUrls: {} }, undefined);
    await refused('0x1', 'chain_not_configured', { networks });
  });
});
