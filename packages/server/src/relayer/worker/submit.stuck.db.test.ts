import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { transferCall } from '../../../testing/chain.ts';
import { RelayerFixture } from '../../../testing/relayer.ts';
import type { RawInvoke, TransactionStatus } from '../../chains/starknet/chain.ts';
import { feeOf, maxFeeOf } from '../invoke.ts';
import { findRelayByHash, readAttempt } from '../relay-store.ts';

const nothing = async () => {};
const cutOff = { send: async () => ({ outcome: 'unknown', reason: 'cut off' }) as const };
const received: TransactionStatus = { status: 'RECEIVED', accepted: false, revertReason: undefined };
const HOUR_MS = 3_600_000;

let relayers: RelayerFixture;
beforeAll(async () => {
  relayers = await RelayerFixture.start();
});
afterAll(() => relayers.stop());

async function attempts() {
  const rows = await relayers.db.rows<{ hash: string; kind: string; transaction: string }>(sql`
    select hash, kind, transaction from relay_attempts order by created_at`);
  return rows.map(({ hash, kind, transaction }) => ({ hash, kind, tx: JSON.parse(transaction) as RawInvoke }));
}

const price = ({ resource_bounds }: RawInvoke) => BigInt(resource_bounds.l2_gas.max_price_per_unit);

async function askFor(amount: bigint, changes = {}) {
  const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
  const sponsor = relayers.sponsorWith({ pause: nothing }, changes);
  const asked = await payer.prepared(sponsor, [transferCall('USDC', bob, amount)]);
  await sponsor.sponsor(asked, nothing).catch(nothing);
  return { payer, bob, asked };
}

describe('a transaction that a node has and does not include', () => {
  it('is replaced by one with a higher fee after half a minute, and moves the money once', async () => {
    await relayers.begin();
    const { bob } = await askFor(7n, { send: async () => ({ outcome: 'sent' }) });
    const sticks = { transactionStatus: async () => received, send: async () => ({ outcome: 'sent' }) as const };
    relayers.clock.advance(3_000);
    await relayers.runPass(sticks);
    relayers.clock.advance(29_000);
    await relayers.runPass(sticks);
    expect(await attempts()).toHaveLength(1);
    relayers.clock.advance(2_000);
    await relayers.runPass(sticks);
    await relayers.runPass(sticks);
    const [first, bump, ...more] = await attempts();
    if (!first || !bump) throw new Error('there should be two');
    expect([first.kind, bump.kind, more]).toEqual(['FIRST', 'BUMP', []]);
    expect([bump.tx.nonce, bump.tx.calldata]).toEqual([first.tx.nonce, first.tx.calldata]);
    expect(BigInt(bump.tx.tip)).toBeGreaterThan(BigInt(first.tx.tip));
    expect(price(bump.tx) * 10n).toBeGreaterThanOrEqual(price(first.tx) * 13n);
    // The first is the one that gets there in the end.
    await relayers.chain.send(await readAttempt(relayers.db, relayers.chain.chainId, BigInt(first.hash)));
    await relayers.finish();
    expect(await relayers.balance(bob)).toBe(7n);
    expect(relayers.outcomes).toMatchObject([{ result: 'SUCCEEDED', hash: BigInt(first.hash) }]);
    const found = await Promise.all(
      [first, bump].map(({ hash }) => findRelayByHash(relayers.db.reads, relayers.chain.chainId, BigInt(hash))),
    );
    expect(found[0]).toMatchObject({ hash: BigInt(first.hash), state: 'SUCCEEDED' });
    expect(found[1]).toEqual(found[0]);
  });

  it('is replaced in the pool of a real node too', async () => {
    const { payer, bob } = await askFor(1n, cutOff);
    const { sponsor, chain } = relayers;
    await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 2n)]), nothing);
    const skipping = { nonceAt: async () => (await relayers.nonce()) + 1n };
    relayers.clock.advance(3_000);
    await relayers.runPass(skipping);
    relayers.clock.advance(31_000);
    await relayers.runPass(skipping);
    const all = await attempts();
    expect(all.map(({ kind }) => kind)).toEqual(['FIRST', 'FIRST', 'BUMP']);
    const statuses = await Promise.all(all.map(({ hash }) => chain.transactionStatus(BigInt(hash))));
    expect(statuses.map(({ status }) => status)).toEqual(['NOT_RECEIVED', 'NOT_RECEIVED', 'RECEIVED']);
    await relayers.finish();
    expect(await relayers.balance(bob)).toBe(3n);
    expect(relayers.outcomes.map(({ hash }) => hash && toHex(hash))).toEqual([all[0]?.hash, all[2]?.hash]);
  });

  it('is raised a handful of times and no more, each time by more', async () => {
    await askFor(7n, { send: async () => ({ outcome: 'sent' }) });
    const sticks = { transactionStatus: async () => received, send: async () => ({ outcome: 'sent' }) as const };
    for (let looks = 0; looks < 10; looks += 1) {
      relayers.clock.advance(31_000);
      await relayers.runPass(sticks);
    }
    const all = await attempts();
    expect(all.map(({ kind }) => kind)).toEqual(['FIRST', ...Array(5).fill('BUMP')]);
    for (const [index, { tx }] of all.entries()) {
      const before = all[index - 1]?.tx;
      if (before) expect([price(tx) > price(before), BigInt(tx.tip) > BigInt(before.tip)]).toEqual([true, true]);
    }
  });
});

describe('a raise', () => {
  const sticks = { transactionStatus: async () => received, send: async () => ({ outcome: 'sent' }) as const };
  const dearer = (times: bigint) => ({
    ...sticks,
    estimate: async (...args: Parameters<RelayerFixture['chain']['estimate']>) => {
      const found = await relayers.chain.estimate(...args);
      if (!found.ok) return found;
      return { ...found, l2Gas: { ...found.l2Gas, price: found.l2Gas.price * times } };
    },
  });

  it('beyond the handful comes when prices have risen above what is offered, half a minute apart', async () => {
    await askFor(7n, { send: async () => ({ outcome: 'sent' }) });
    for (let looks = 0; looks < 8; looks += 1) {
      relayers.clock.advance(31_000);
      await relayers.runPass(sticks);
    }
    expect(await attempts()).toHaveLength(6);
    await relayers.runPass(dearer(100n));
    await relayers.runPass(dearer(1_000n));
    const all = await attempts();
    expect(all.map(({ kind }) => kind)).toEqual(['FIRST', ...Array(6).fill('BUMP')]);
    const [before, last] = all.slice(-2);
    if (before && last) expect(price(last.tx)).toBeGreaterThan(10n * price(before.tx));
    relayers.clock.advance(31_000);
    await relayers.runPass(dearer(1_000n));
    expect(await attempts()).toHaveLength(8);
  });

  it('of a transaction that does nothing goes on in the same way, so that an account is never dead', async () => {
    await askFor(7n, cutOff);
    relayers.clock.advance(HOUR_MS);
    for (let looks = 0; looks < 8; looks += 1) {
      relayers.clock.advance(31_000);
      await relayers.runPass(sticks);
    }
    expect(await attempts()).toHaveLength(6);
    await relayers.runPass(dearer(100n));
    expect((await attempts()).map(({ kind }) => kind)).toEqual(['FIRST', ...Array(6).fill('FILLER')]);
  });

  it('never offers more than is paid for one transaction', async () => {
    await askFor(7n, { send: async () => ({ outcome: 'sent' }) });
    const [first] = await attempts();
    if (!first) throw new Error('there should be one');
    const maxFeeFri = maxFeeOf(feeOf(first.tx)) * 2n;
    for (let looks = 0; looks < 8; looks += 1) {
      relayers.clock.advance(31_000);
      await relayers.runPass(sticks, { maxFeeFri });
    }
    const all = await attempts();
    expect(all.length).toBeGreaterThan(1);
    expect(all.length).toBeLessThan(6);
    for (const { tx } of all) expect(maxFeeOf(feeOf(tx))).toBeLessThanOrEqual(maxFeeFri);
    expect(relayers.warnings).toContain('relay stuck: fee limit reached');
  });
});

describe('a transaction that is refused again and again', () => {
  it.each([53, 55, 64])('with error %s is raised after half a minute', async (code) => {
    const refused = { send: async () => ({ outcome: 'refused', code, reason: 'no' }) as const };
    const { bob } = await askFor(7n, refused);
    await relayers.runPass(refused);
    expect(await attempts()).toHaveLength(1);
    relayers.clock.advance(31_000);
    await relayers.runPass(refused);
    expect((await attempts()).map(({ kind }) => kind)).toEqual(['FIRST', 'BUMP']);
    expect(await relayers.states()).toEqual(['STORED']);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED']);
    expect(await relayers.balance(bob)).toBe(7n);
  });

  it('because the account has no money is not: that would only cost more', async () => {
    const refused = { send: async () => ({ outcome: 'refused', code: 54, reason: 'no money' }) as const };
    await askFor(7n, refused);
    relayers.clock.advance(31_000);
    await relayers.runPass(refused);
    expect(await attempts()).toHaveLength(1);
    expect(relayers.warnings).toContain('relay not accepted by a node');
  });
});

describe('an execution that has expired before it was included', () => {
  it('gives its nonce to a transaction that does nothing, so that those behind it go on', async () => {
    const { payer, bob, asked } = await askFor(7n, cutOff);
    await relayers.sandbox.travel(HOUR_MS / 1_000);
    const late = await payer.prepared(relayers.sponsor, [transferCall('USDC', bob, 1n)]);
    await relayers.sponsor.sponsor(late, nothing);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['VOIDED', 'SUCCEEDED']);
    expect(await relayers.balance(bob)).toBe(1n);
    const nothingKnown = { hash: undefined, receipt: undefined, confirmedAt: undefined };
    const byResult = relayers.outcomes.toSorted((one, other) => one.result.localeCompare(other.result));
    expect(byResult).toMatchObject([{ result: 'SUCCEEDED' }, { result: 'VOIDED', ...nothingKnown }]);
    await expect(relayers.sponsor.sponsor(asked, nothing)).rejects.toMatchObject({ code: 'typed_data_expired' });
  });

  it('is what the chain made of it when it lands after all', async () => {
    const { bob } = await askFor(7n, cutOff);
    relayers.clock.advance(HOUR_MS);
    await relayers.runPass(cutOff);
    const [first, filler] = await attempts();
    expect(filler?.kind).toBe('FILLER');
    await relayers.chain.send(await readAttempt(relayers.db, relayers.chain.chainId, BigInt(first?.hash ?? 0)));
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED']);
    expect(await relayers.balance(bob)).toBe(7n);
    expect(relayers.outcomes).toMatchObject([{ result: 'SUCCEEDED', hash: BigInt(first?.hash ?? 0) }]);
  });
});
