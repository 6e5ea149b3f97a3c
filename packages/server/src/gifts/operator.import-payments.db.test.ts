import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readSchema, writeSchema } from '../../testing/backup.ts';
import { manager, transferCall } from '../../testing/chain.ts';
import { AMOUNT, PayoutFixture, type TestGift } from '../../testing/payouts.ts';
import {
  acceptByOperator,
  matchByOperator,
  type ReconcileDeps,
  type ReconciledNonce,
  reconcile,
} from '../relayer/reconcile-accounts.ts';
import { UnreconciledError } from '../relayer/unknown-nonces.ts';
import { giftImporters, namedGiftPayment } from './operator.ts';
import { payoutOutcomes } from './payouts.ts';

let payouts: PayoutFixture;
beforeAll(async () => {
  payouts = await PayoutFixture.start();
});
beforeEach(async () => {
  await payouts.relayers.sandbox.reset();
  await payouts.db.run(sql`update gift_redeems set relay_id = null`);
  await payouts.db.run(sql`update gift_redeems set status = 'FAILED' where status = 'PENDING'`);
  for (const table of [sql`unknown_nonces`, sql`relay_attempts`, sql`relays`, sql`relayer_accounts`]) {
    await payouts.db.run(sql`delete from ${table}`);
  }
  // The account is known, as in every database of a service that has run.
  await pay(await payouts.gift(1));
});
afterAll(() => payouts.stop());

const deps = (): ReconcileDeps => {
  const { db, deps } = payouts.relayers;
  return {
    db,
    networks: payouts.relayers.networksWith({}),
    outcomes: { ...deps.outcomes, ...payoutOutcomes(deps) },
    importers: { ...giftImporters, refund: giftImporters.payout },
    named: [namedGiftPayment],
  };
};

async function pay(gift: TestGift, address?: bigint): Promise<string> {
  const id = await payouts.redeem(gift, address);
  await payouts.runPayouts();
  await payouts.finish();
  return id;
}

/** The database forgets what `work` stored; the chain does not. */
async function forgetting<T>(work: () => Promise<T>): Promise<T> {
  const backup = await readSchema(payouts.db, 'public');
  const result = await work();
  await writeSchema(payouts.db, 'public', backup);
  await expect(payouts.payerWith().requireReconciled('development')).rejects.toThrow(UnreconciledError);
  return result;
}

const reconciled = async (): Promise<ReconciledNonce[]> => {
  const lines = await reconcile(deps());
  expect(await reconcile(deps())).toEqual(lines.filter(({ state }) => state === 'OPEN'));
  return lines;
};

const placesOf = (gift: TestGift) =>
  payouts.db.one(sql`
    select total_redeems as total, redeemed_micros as redeemed, (
             select coalesce(sum(redeems), 0)::integer from gift_users where gift_id = gifts.id) as users
      from gifts where id = ${gift.id}`);

/** Nothing is paid any more, and what was held for the gift is spent or still held. */
async function expectPaidOnce(gift: TestGift, redeems: number, maxRedeems: number): Promise<void> {
  await payouts.runPayouts();
  await payouts.finish();
  const all = await payouts.redeems(gift);
  expect(all.filter(({ status }) => status === 'SUCCESS')).toEqual(
    Array.from({ length: redeems }, () => ({ status: 'SUCCESS', paid: 1 })),
  );
  expect(await payouts.shares(gift)).toEqual({ spent: BigInt(redeems), held: BigInt(maxRedeems - redeems) });
  expect(await placesOf(gift)).toEqual({ total: redeems, redeemed: AMOUNT * BigInt(redeems), users: redeems });
}

describe('after a restore', () => {
  it('a redeem that was waiting in the backup ends as paid by the payout that the chain has', async () => {
    const gift = await payouts.gift(2);
    const id = await payouts.redeem(gift);
    await forgetting(async () => {
      await payouts.runPayouts();
      await payouts.finish();
    });
    expect(await reconciled()).toMatchObject([{ state: 'IMPORTED', kind: 'payout', payments: [{ of: id }] }]);
    await expectPaidOnce(gift, 1, 2);
  });

  it('a redeem that came after the backup is stored again, under its id, with its place and share', async () => {
    const gift = await payouts.gift(2);
    const id = await forgetting(() => pay(gift));
    await reconciled();
    const row = await payouts.db.one(sql`select status, transaction_hash as hash from gift_redeems where id = ${id}`);
    const relay = await payouts.db.one(
      sql`select 'SUCCESS' as status, hash from relays where kind = 'payout' order by nonce desc limit 1`,
    );
    expect(row).toEqual(relay);
    await expectPaidOnce(gift, 1, 2);
  });

  it('a batch of redeems is recognised one by one', async () => {
    const gift = await payouts.gift(4);
    await payouts.redeem(gift);
    await forgetting(async () => {
      await payouts.redeem(gift);
      await payouts.redeem(gift);
      await payouts.runPayouts();
      await payouts.finish();
    });
    expect(await reconciled()).toMatchObject([{ state: 'IMPORTED', payments: [{}, {}, {}] }]);
    await expectPaidOnce(gift, 3, 4);
  });

  it('a code that is redeemed again meanwhile waits, and gives way to the redeem that was paid', async () => {
    const gift = await payouts.gift(1);
    await forgetting(() => pay(gift));
    const again = await payouts.redeem(gift);
    await expect(payouts.runPayouts()).rejects.toThrow(UnreconciledError);
    await reconciled();
    await expectPaidOnce(gift, 1, 1);
    expect(await payouts.db.one(sql`select status, reason from gift_redeems where id = ${again}`)).toEqual({
      status: 'FAILED',
      reason: expect.stringContaining('before the database was restored'),
    });
  });

  it('a code of several places that is redeemed again gives way to redeems that were paid together', async () => {
    const gift = await payouts.gift(2);
    await forgetting(async () => {
      await payouts.redeem(gift);
      await payouts.redeem(gift);
      await payouts.runPayouts();
      await payouts.finish();
    });
    const again = await payouts.redeem(gift);
    expect(await reconciled()).toMatchObject([{ state: 'IMPORTED', payments: [{}, {}] }]);
    await expectPaidOnce(gift, 2, 2);
    const row = await payouts.db.one(sql`select status from gift_redeems where id = ${again}`);
    expect(row).toEqual({ status: 'FAILED' });
  });

  it('a user who redeems again meanwhile gets no more than the limit allows', async () => {
    const gift = await payouts.gift(5);
    await payouts.db.run(sql`update gifts set max_redeems_per_user = 1 where id = ${gift.id}`);
    const address = payouts.newAddress();
    await forgetting(() => pay(gift, address));
    await payouts.redeem(gift, address);
    await payouts.redeem(gift);
    await reconciled();
    await expectPaidOnce(gift, 2, 5);
  });

  it('a payout of a gift whose hold was released is charged to the credits of the organisation', async () => {
    const gift = await payouts.gift(1);
    await forgetting(() => pay(gift));
    await payouts.release(gift);
    expect(await payouts.shares(gift)).toEqual({ spent: 0n, held: 0n });
    await reconciled();
    expect(await payouts.shares(gift)).toEqual({ spent: 1n, held: 0n });
    expect(await payouts.redeems(gift)).toContainEqual({ status: 'SUCCESS', paid: 1 });
  });

  it('a payout that was sent with a higher fee after the backup ends the relay that the backup has', async () => {
    const gift = await payouts.gift(1);
    await payouts.redeem(gift);
    const { sandbox, clock } = payouts.relayers;
    await sandbox.holdBlocks();
    await payouts.runPayouts({ send: async () => ({ outcome: 'unknown', reason: 'cut off' }) });
    const backup = await readSchema(payouts.db, 'public');
    for (let passes = 0; passes < 3; passes += 1) {
      await payouts.runPass({ send: async () => ({ outcome: 'refused', code: 65, reason: 'fee too low' }) });
      clock.advance(31_000);
    }
    await payouts.runPass();
    await sandbox.mine();
    const bumped = await payouts.db.one<{ hash: string }>(sql`
      select hash from relay_attempts where kind = 'BUMP' and taken_at is not null`);
    await writeSchema(payouts.db, 'public', backup);
    await payouts.runPass();
    clock.advance(301_000);
    await payouts.runPass();
    expect(await reconciled()).toMatchObject([{ state: 'IMPORTED', hash: bumped?.hash }]);
    await expectPaidOnce(gift, 1, 1);
  });

  it('a payout that was signed with a used nonce makes room for the one that the chain has', async () => {
    const gift = await payouts.gift(3);
    const nonce = await payouts.relayers.chain.nonceAt(manager.address);
    const backup = await readSchema(payouts.db, 'public');
    await pay(gift);
    await writeSchema(payouts.db, 'public', backup);
    await payouts.redeem(gift);
    // The node is behind: it does not show the nonce as used.
    await payouts.runPayouts({ nonceAt: async () => nonce });
    await payouts.runPass();
    payouts.relayers.clock.advance(301_000);
    await payouts.runPass();
    expect(await reconciled()).toMatchObject([{ state: 'IMPORTED', nonce: String(nonce) }]);
    await expectPaidOnce(gift, 2, 3);
  });

  it('a payout that reverted pays nothing, and its redeem is not stored as paid', async () => {
    const gift = await payouts.gift(1);
    await forgetting(async () => {
      await payouts.relayers.sandbox.fault({ kind: 'revert', reason: 'out of luck' });
      await pay(gift);
    });
    expect(await reconciled()).toMatchObject([{ state: 'IMPORTED' }]);
    expect(await payouts.redeems(gift)).toEqual([]);
    await pay(gift);
    await expectPaidOnce(gift, 1, 1);
  });

  it('what is paid of a gift that the backup lacks is listed, and payments wait until it is accepted', async () => {
    const gift = await payouts.gift(1);
    await forgetting(async () => {
      await payouts.redeem(gift);
      await pay(await payouts.gift(1));
    });
    const [line] = await reconciled();
    expect(line).toMatchObject({ state: 'OPEN', reason: expect.stringContaining('does not have') });
    expect(line?.payments).toHaveLength(2);
    await expect(payouts.payerWith().requireReconciled('development')).rejects.toThrow(UnreconciledError);
    expect(await acceptByOperator(deps(), line?.hash ?? '', 'gift is lost')).toMatchObject({ state: 'ACCEPTED' });
    await expectPaidOnce(gift, 1, 1);
  });
});

describe('a transaction that names no redeem', () => {
  const byHand = (to: bigint) => payouts.relayers.sendFrom(manager, [transferCall('USDC', to, AMOUNT)]);

  it('is left to the operator, who accepts it', async () => {
    const hash = await byHand(payouts.newAddress());
    await expect(payouts.payerWith().requireReconciled('development')).rejects.toThrow(UnreconciledError);
    expect(await reconciled()).toMatchObject([{ state: 'OPEN', hash, payments: [{ amount: String(AMOUNT) }] }]);
    expect(await acceptByOperator(deps(), hash, 'salaries')).toMatchObject({ state: 'ACCEPTED', hash });
    expect(await reconcile(deps())).toEqual([]);
    const gift = await payouts.gift(1);
    await pay(gift);
    await expectPaidOnce(gift, 1, 1);
  });

  it('is matched with a redeem that the operator names, if it paid that', async () => {
    const [gift, address] = [await payouts.gift(2), payouts.newAddress()];
    const [id, other] = [await payouts.redeem(gift, address), await payouts.redeem(gift)];
    const hash = BigInt(await byHand(address));
    await expect(payouts.payerWith().requireReconciled('development')).rejects.toThrow(UnreconciledError);
    await reconcile(deps());
    expect(await matchByOperator(deps(), hash, [other])).toEqual({ reason: expect.stringContaining('fits') });
    expect(await matchByOperator(deps(), hash, ['rdm_x'])).toEqual({ reason: expect.stringContaining('rdm_x') });
    expect(await matchByOperator(deps(), hash, [id])).toMatchObject({ state: 'IMPORTED', hash: toHex(hash) });
    await expectPaidOnce(gift, 2, 2);
  });

  it('is matched with a gift whose redeem is lost', async () => {
    const [gift, address] = [await payouts.gift(1), payouts.newAddress()];
    const hash = BigInt(await byHand(address));
    await expect(payouts.payerWith().requireReconciled('development')).rejects.toThrow(UnreconciledError);
    await reconcile(deps());
    expect(await matchByOperator(deps(), hash, [gift.id])).toMatchObject({ state: 'IMPORTED' });
    await expectPaidOnce(gift, 1, 1);
  });
});
