import { encodeU256, selector } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { tokenAddress, transfer } from '../../testing/chain.ts';
import { PayoutFixture } from '../../testing/payouts.ts';
import type { ChainChanges } from '../../testing/relayer.ts';
import { newId } from '../util/ids.ts';
import { availableFunds, payFromFunds, readManagerFunds, spendingOf } from './payer.ts';

const USDC = tokenAddress('USDC');
const AMOUNT = 10n;
let fixture: PayoutFixture;
beforeAll(async () => {
  fixture = await PayoutFixture.start();
});
beforeEach(async () => {
  await fixture.relayers.sandbox.reset();
  await fixture.finish();
});
afterAll(() => fixture.relayers.stop());

const holding = (balance: bigint): ChainChanges => ({ balanceOf: async () => balance });
const read = (chain: ChainChanges, token = USDC) => readManagerFunds(fixture.depsWith(chain), 'development', token);

function order(kind: 'payout' | 'burn' | 'refund') {
  const calls = [transfer('USDC', fixture.newAddress(), AMOUNT)];
  return { environment: 'development', kind, purpose: newId(kind), calls } as const;
}

const pay = (funds: Awaited<ReturnType<typeof read>>, kind: 'payout' | 'burn' | 'refund' = 'payout') =>
  payFromFunds(fixture.depsWith({}), funds, order(kind), async () => {});

describe('payments of the manager', () => {
  it('that are made at once are stored as often as the balance covers, of any kind', async () => {
    const funds = await read(holding(3n * AMOUNT + 1n));
    const kinds = ['payout', 'burn', 'refund', 'payout', 'burn', 'refund'] as const;
    const answers = await Promise.all(kinds.map((kind) => pay(funds, kind)));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(3);
    expect(answers.filter(({ ok }) => !ok)).toEqual(
      Array(3).fill(expect.objectContaining({ cause: 'INSUFFICIENT_FUNDS' })),
    );
    expect(await read(holding(3n * AMOUNT + 1n))).toMatchObject({ pending: 3n * AMOUNT });
  });

  it('count against a balance that was read before them, also once they are executed', async () => {
    const before = await read(holding(2n * AMOUNT - 1n));
    expect((await pay(before)).ok).toBe(true);
    await fixture.finish();
    expect(await pay(before)).toMatchObject({ ok: false, cause: 'INSUFFICIENT_FUNDS' });
    expect((await pay(await read(holding(AMOUNT)))).ok).toBe(true);
  });

  it('count against a balance that was read while they were pending, also once they are executed', async () => {
    expect((await pay(await read(holding(AMOUNT)))).ok).toBe(true);
    const during = await read(holding(2n * AMOUNT - 1n));
    expect(availableFunds(during)).toBe(AMOUNT - 1n);
    await fixture.finish();
    expect(await pay(during)).toMatchObject({ ok: false, cause: 'INSUFFICIENT_FUNDS' });
  });

  it('count again when a reorganisation takes them off the chain', async () => {
    expect((await pay(await read(holding(AMOUNT)))).ok).toBe(true);
    await fixture.finish();
    expect(await read(holding(AMOUNT))).toMatchObject({ pending: 0n });
    await fixture.relayers.reorganise(1, 'drop');
    expect(await read(holding(AMOUNT))).toMatchObject({ pending: AMOUNT });
  });

  it('of another token do not count', async () => {
    await pay(await read(holding(AMOUNT)));
    expect(await read(holding(AMOUNT), tokenAddress('USDT'))).toMatchObject({ pending: 0n });
  });

  it('leave nothing behind where the funds do not cover them', async () => {
    const before = await countRelays();
    expect(await pay(await read(holding(AMOUNT - 1n)))).toMatchObject({ ok: false, cause: 'INSUFFICIENT_FUNDS' });
    expect(await countRelays()).toEqual(before);
  });
});

const countRelays = () => fixture.db.one<{ count: bigint }>(sql`select count(*) as count from relays`);

it('amounts beyond 128 bits are added up', () => {
  const amount = 3n << 128n;
  const call = (name: string, to = USDC) => ({ to, selector: selector(name), calldata: [1n, ...encodeU256(amount)] });
  expect(spendingOf([call('transfer'), call('approve'), call('transfer', 1n), call('mint')], USDC)).toBe(2n * amount);
});
