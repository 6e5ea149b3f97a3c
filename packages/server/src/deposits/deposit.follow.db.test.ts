import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { transferCall } from '../../testing/chain.ts';
import { DepositFixture, outsider } from '../../testing/deposits.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';
import { listChanges } from '../audit-log.ts';
import { padAddress } from '../chains/starknet/chain.ts';
import type { Caller } from '../http/call.ts';
import { hold, release } from '../ledger/ledger.ts';
import { MAX_DEPOSIT, RETURN_MS } from './deposit.ts';

let fixture: DepositFixture;
let caller: Caller;
let address: bigint;
beforeAll(async () => {
  fixture = await DepositFixture.start();
});
beforeEach(async () => {
  caller = await fixture.newCaller();
  address = await fixture.addressOf(caller);
  await fixture.index();
});
afterEach(async () => {
  fixture.confirmations = 1;
  await fixture.sandbox.reset();
  expect(await findBrokenInvariants(fixture.db)).toEqual([]);
});
afterAll(() => fixture.stop());

const types = async () => (await fixture.entries(caller)).map(({ type, amount }) => [type, amount]);
const total = () => fixture.total(caller);
/** Long enough for a removed deposit to be taken back. */
const wait = () => fixture.relayers.clock.advance(RETURN_MS);

describe('the audit log', () => {
  it('has every credit and reversal of a deposit, by the service', async () => {
    const hash = await fixture.pay(address, 7n);
    await fixture.index();
    await fixture.index();
    await fixture.sandbox.reorganise(1, 'drop');
    await fixture.sandbox.mine(1);
    await fixture.index();
    wait();
    await fixture.index();
    await fixture.index();
    const [credited, reversed] = await fixture.entries(caller);
    const told = await fixture.db.rows(sql`
      select type, data from events where organization_id = ${caller.organizationId}`);
    const deposit = { transactionHash: hash, depositAddress: padAddress(address), amountUsd: '0.000007' };
    expect(told).toEqual([{ type: 'deposit.credited', data: { ...deposit, ledgerEntryId: credited?.id } }]);
    const { entries } = await listChanges(fixture.db, caller, { limit: 10, offset: 0 });
    const ofDeposit = { actor: 'service', target: hash };
    const changes = { amountUsd: '0.000007', address: padAddress(address) };
    expect(entries).toMatchObject([
      { ...ofDeposit, action: 'deposit.reversed', changes: { ...changes, ledgerEntryId: reversed?.id } },
      { ...ofDeposit, action: 'deposit.credited', changes: { ...changes, ledgerEntryId: credited?.id } },
    ]);
  });
});

describe('USDC that arrives at a deposit address', () => {
  it('is credited without a call, and once however often the chain is read', async () => {
    const hash = await fixture.pay(address, 7n);
    await fixture.index();
    await fixture.index();
    expect(await types()).toEqual([['DEPOSIT', 7n]]);
    expect((await fixture.entries(caller))[0]?.reference).toBe(hash);
  });

  it('is credited to the organisation of its address alone', async () => {
    const other = await fixture.newCaller();
    await fixture.pay(address, 7n);
    await fixture.pay(await fixture.addressOf(other), 9n);
    await fixture.index();
    expect([await total(), await fixture.total(other)]).toEqual([7n, 9n]);
  });

  it('is credited in one entry for each transaction', async () => {
    await fixture.pay(address, 1n, 2n, 3n);
    await fixture.pay(address, 4n);
    await fixture.index();
    expect(await types()).toEqual([
      ['DEPOSIT', 6n],
      ['DEPOSIT', 4n],
    ]);
  });

  it('is credited once by two processes that follow the chain at the same time', async () => {
    for (let count = 0; count < 3; count += 1) await fixture.pay(address, 5n);
    await Promise.all(Array.from({ length: 4 }, () => fixture.index()));
    await fixture.index();
    expect(await types()).toEqual(Array(3).fill(['DEPOSIT', 5n]));
  });

  it('is credited although the address was shown before the chain was first followed', async () => {
    await fixture.db.tx(async (tx) => {
      await tx.run(sql`delete from followed_blocks`);
      await tx.run(sql`delete from followed_chains`);
    });
    await fixture.pay(address, 7n);
    await fixture.index();
    expect(await total()).toBe(7n);
  });

  it('is credited when it has its confirmations, not before', async () => {
    fixture.confirmations = 3;
    await fixture.pay(address, 7n);
    await fixture.sandbox.mine(1);
    await fixture.index();
    expect(await total()).toBe(0n);
    await fixture.sandbox.mine(1);
    await fixture.index();
    expect(await total()).toBe(7n);
  });

  it('is credited by another process when the first one ends between finding and crediting it', async () => {
    await fixture.pay(address, 7n);
    const dead = fixture.chainWith({});
    const deps = fixture.depsWith({ blockNumber: () => Promise.reject(new Error('killed')) });
    await expect(fixture.index(dead, deps)).rejects.toThrow('killed');
    expect(await total()).toBe(0n);
    await fixture.index();
    expect(await total()).toBe(7n);
  });

  it('is not credited in another token, nor to a stranger’s address', async () => {
    await fixture.relayers.sendFrom(outsider, [transferCall('STRK', address, 7n)]);
    await fixture.pay(0xb0bn, 7n);
    await fixture.index();
    expect(await types()).toEqual([]);
  });

  it('is left out where it is more than there is, and those beside it are credited', async () => {
    await fixture.sandbox.faucet(toHex(outsider.address), 'USDC', String(MAX_DEPOSIT / 1_000_000n));
    await fixture.pay(address, MAX_DEPOSIT, 1n);
    await fixture.pay(address, 7n);
    await fixture.index();
    expect(await types()).toEqual([['DEPOSIT', 7n]]);
    expect(fixture.relayers.warnings).toContain('deposit too large to be credited');
  });
});

describe('a deposit whose block is replaced', () => {
  it('and that comes again is credited once', async () => {
    await fixture.pay(address, 7n);
    await fixture.index();
    await fixture.sandbox.reorganise(1, 'requeue');
    await fixture.index();
    wait();
    await fixture.index();
    expect(await types()).toEqual([['DEPOSIT', 7n]]);
  });

  it('before it is credited is never credited, unless it comes again', async () => {
    fixture.confirmations = 2;
    await fixture.pay(address, 7n);
    await fixture.index();
    await fixture.sandbox.reorganise(1, 'drop');
    await fixture.sandbox.mine(3);
    await fixture.index();
    wait();
    await fixture.index();
    expect(await types()).toEqual([]);
  });

  it('after it was credited is taken back', async () => {
    const hash = await fixture.pay(address, 7n);
    await fixture.index();
    await fixture.sandbox.reorganise(1, 'drop');
    await fixture.sandbox.mine(1);
    await fixture.index();
    expect(await total()).toBe(7n);
    wait();
    await fixture.index();
    await fixture.index();
    expect(await types()).toEqual([
      ['DEPOSIT', 7n],
      ['REVERSAL', 7n],
    ]);
    expect((await fixture.entries(caller))[1]?.reference).toBe(`${hash}#2`);
    expect(fixture.relayers.warnings).toContain('deposit removed by a reorganisation');
  });

  it('is taken back although no block has taken the place of its own', async () => {
    await fixture.pay(address, 7n);
    await fixture.index();
    await fixture.sandbox.reorganise(1, 'drop');
    await fixture.index();
    wait();
    await fixture.index();
    wait();
    await fixture.index();
    expect(await total()).toBe(0n);
  });

  it('is credited again when its transaction comes back late', async () => {
    const nonce = (await fixture.chain.nonceAt(outsider.address)) ?? 0n;
    const hash = await fixture.pay(address, 7n);
    await fixture.index();
    await fixture.sandbox.reorganise(1, 'drop');
    await fixture.sandbox.mine(1);
    await fixture.index();
    wait();
    await fixture.index();
    expect(await fixture.chain.nonceAt(outsider.address)).toBe(nonce);
    expect(await fixture.pay(address, 7n)).toBe(hash);
    await fixture.index();
    expect(await types()).toEqual([
      ['DEPOSIT', 7n],
      ['REVERSAL', 7n],
      ['DEPOSIT', 7n],
    ]);
    expect(await fixture.offer(hash, caller)).toMatchObject({ type: 'DEPOSIT', reference: `${hash}#3` });
  });

  it('is taken back as far as credits are left, and the rest when they return', async () => {
    await fixture.pay(address, 7n);
    await fixture.index();
    const { id: holdId } = await hold(fixture.db, { ...caller, amount: 5n, reference: 'gift' });
    await fixture.sandbox.reorganise(1, 'drop');
    await fixture.sandbox.mine(1);
    await fixture.index();
    wait();
    await fixture.index();
    expect(await total()).toBe(5n);
    await release(fixture.db, { holdId, reference: 'gift' });
    await fixture.makeDue();
    await fixture.index();
    await fixture.index();
    expect(await total()).toBe(0n);
    expect(await types()).toEqual([
      ['DEPOSIT', 7n],
      ['HOLD', 5n],
      ['REVERSAL', 2n],
      ['RELEASE', 5n],
      ['REVERSAL', 5n],
    ]);
  });

  it('is not taken back while the chain shows its transaction', async () => {
    await fixture.pay(address, 7n);
    await fixture.index();
    await fixture.db.run(sql`update deposits set missing_since = now() - interval '1 day' where credited_micros = 7`);
    await fixture.index();
    expect(await total()).toBe(7n);
  });

  it('is taken back once by two processes', async () => {
    await fixture.pay(address, 7n);
    await fixture.pay(address, 8n);
    await fixture.index();
    await fixture.sandbox.reorganise(1, 'drop');
    await fixture.sandbox.mine(1);
    await fixture.index();
    wait();
    await Promise.all(Array.from({ length: 4 }, () => fixture.index()));
    expect(await total()).toBe(7n);
    expect(await types()).toHaveLength(3);
  });
});
