import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newWallet, signedPayment, type TestWallet, testUser, transferCall } from '../../testing/chain.ts';
import { RelayerFixture } from '../../testing/relayer.ts';
import type { TransactionStatus } from '../chains/starknet/chain.ts';
import { type Budget, correctBudget, NO_LIMITS, reserveBudget, type SponsorLimits } from './budget.ts';
import { feeOf, maxFeeOf } from './invoke.ts';
import type { Sponsorship } from './relay.ts';
import { readAttempt } from './relay-store.ts';

const nothing = async () => {};
const cutOff = { send: async () => ({ outcome: 'unknown', reason: 'cut off' }) as const };
const MINUTE_MS = 60_000;

let relayers: RelayerFixture;
beforeAll(async () => {
  relayers = await RelayerFixture.start({ accounts: 3 });
});
afterAll(() => relayers.stop());

const limitsOf = (limits: Partial<SponsorLimits>) => ({ sponsorLimits: () => ({ ...NO_LIMITS, ...limits }) });
const refusedBy = (limit: string) => ({
  code: 'sponsorship_limit_reached',
  status: 400,
  message: expect.stringMatching(new RegExp(`^The limit ${limit} .* It resets at \\d{4}-\\d\\d-\\d\\dT.*Z\\.$`)),
});

interface Use {
  readonly fri: bigint;
  readonly transactions: number;
  readonly wallets: number;
}

/** Of the environment and of the user, which are the same here. */
async function used(user = testUser): Promise<Use> {
  const { db } = relayers;
  const columns = sql`coalesce(sum(fri), 0)::text as fri, coalesce(sum(transactions), 0)::integer as transactions,
    coalesce(sum(wallets), 0)::integer as wallets`;
  const [ofEnvironment, ofUser] = await Promise.all([
    db.one<Omit<Use, 'fri'> & { fri: string }>(sql`
      select ${columns} from sponsored_days where organization_id = ${user.organizationId}`),
    db.one(sql`
      select ${columns} from sponsored_user_days
       where organization_id = ${user.organizationId} and external_user_id = ${user.externalUserId}`),
  ]);
  expect(ofUser).toEqual(ofEnvironment);
  return { transactions: 0, wallets: 0, ...ofEnvironment, fri: BigInt(ofEnvironment?.fri ?? 0) };
}

const relayRow = () =>
  relayers.db.one<Record<string, unknown>>(sql`
    select organization_id, environment, external_user_id, fee, budget_fri, reverted from relays order by created_at desc limit 1`);

async function transferOf(payer: TestWallet, changes: Partial<Sponsorship> = {}): Promise<Sponsorship> {
  const asked = await payer.prepared(relayers.sponsor, [transferCall('USDC', relayers.newAddress(), 1n)]);
  return { ...asked, ...changes };
}

async function boundOf(hash: bigint): Promise<bigint> {
  return maxFeeOf(feeOf((await readAttempt(relayers.db, relayers.chain.chainId, hash)).transaction));
}

describe('the gas of a relay', () => {
  it('counts with its signed bound while it is under way and with its fee afterwards, for organisation and user', async () => {
    const payer = await relayers.begin();
    await relayers.sandbox.holdBlocks();
    const { hash } = await relayers.sponsor.sponsor(await transferOf(payer), nothing);
    expect(await used()).toEqual({ fri: await boundOf(hash), transactions: 1, wallets: 0 });
    expect(await relayRow()).toMatchObject({ fee: null });
    await relayers.sandbox.mine();
    await relayers.finish();
    const { fee = 0n } = (await relayers.chain.receipt(hash)) ?? {};
    expect(fee).toBeGreaterThan(0n);
    expect(await used()).toEqual({ fri: fee, transactions: 1, wallets: 0 });
    expect(await relayRow()).toMatchObject({
      organization_id: testUser.organizationId,
      environment: 'development',
      external_user_id: testUser.externalUserId,
      fee: String(fee),
    });
  });

  it('counts a wallet as a wallet and as a transaction', async () => {
    await relayers.begin();
    const asked = await newWallet().prepared(relayers.sponsor, [], { deploy: true });
    await relayers.sponsor.sponsor(asked, nothing);
    await relayers.finish();
    expect(await used()).toMatchObject({ transactions: 1, wallets: 1 });
  });

  it('counts once for a request that is repeated, also by two processes at the same time', async () => {
    const asked = await transferOf(await relayers.begin());
    const other = relayers.sponsorWith({});
    await Promise.all([relayers.sponsor, other, relayers.sponsor].map((one) => one.sponsor(asked, nothing)));
    await relayers.sponsor.sponsor(asked, nothing);
    await relayers.finish();
    expect(await used()).toMatchObject({ transactions: 1 });
  });

  it('is not counted for sweeps, which serve the service itself, but is stored', async () => {
    const payer = await relayers.begin();
    const user = { organizationId: testUser.organizationId, externalUserId: undefined };
    await relayers
      .sponsorWith(limitsOf({ dailyFri: 0n }))
      .sponsor(await transferOf(payer, { kind: 'sweep', user }), nothing);
    await relayers.finish();
    expect(await used()).toEqual({ fri: 0n, transactions: 0, wallets: 0 });
    expect(await relayRow()).toMatchObject({ organization_id: 'org_test', external_user_id: null, budget_fri: null });
    expect(BigInt((await relayRow())?.fee as string)).toBeGreaterThan(0n);
  });

  it('is not counted when storing fails', async () => {
    const asked = await transferOf(await relayers.begin());
    const fails = () => Promise.reject(new Error('not stored'));
    await expect(relayers.sponsor.sponsor(asked, fails)).rejects.toThrow('not stored');
    expect(await used()).toEqual({ fri: 0n, transactions: 0, wallets: 0 });
  });

  it('counts the higher bound of a raised fee', async () => {
    const asked = await transferOf(await relayers.begin());
    const received: TransactionStatus = { status: 'RECEIVED', accepted: false, revertReason: undefined };
    const sticks = { transactionStatus: async () => received, send: async () => ({ outcome: 'sent' }) as const };
    await relayers.sponsorWith({}, sticks).sponsor(asked, nothing);
    const first = await used();
    for (const ms of [3_000, 31_000]) {
      relayers.clock.advance(ms);
      await relayers.runPass(sticks);
    }
    expect((await used()).fri).toBeGreaterThan(first.fri);
    relayers.clock.reset();
    await relayers.finish();
    expect(String((await used()).fri)).toBe((await relayRow())?.fee);
  });

  it('is released when a foreign transaction takes the nonce, and the relay counts again when it is executed after all', async () => {
    const asked = await transferOf(await relayers.begin());
    const keys = () => relayers.deps.keys('development').slice(0, 1);
    const sponsor = relayers.sponsorWith({ pause: nothing, keys }, cutOff);
    await expect(sponsor.sponsor(asked, nothing)).rejects.toMatchObject({ code: 'chain_unavailable' });
    expect(await used()).toMatchObject({ transactions: 1 });
    expect(await relayers.chain.send(signedPayment(await relayers.nonce()))).toEqual({ outcome: 'sent' });
    await relayers.runPass();
    relayers.clock.advance(5 * MINUTE_MS);
    await relayers.runPass();
    expect(await relayers.states()).toEqual(['VOIDED']);
    expect(await used()).toEqual({ fri: 0n, transactions: 0, wallets: 0 });
    expect(await relayRow()).toMatchObject({ fee: '0' });
    await relayers.executeByThirdParty(asked);
    await relayers.recheckUnexecuted();
    await relayers.runPass();
    relayers.clock.advance(5 * MINUTE_MS);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED']);
    expect(await used()).toEqual({ fri: 0n, transactions: 1, wallets: 0 });
  });

  it('is what our own transaction cost when a third party executes the relay first, and a revert', async () => {
    const asked = await transferOf(await relayers.begin());
    const sponsor = relayers.sponsorWith({ pause: nothing }, cutOff);
    await expect(sponsor.sponsor(asked, nothing)).rejects.toMatchObject({ code: 'chain_unavailable' });
    const theirs = await relayers.chain.receipt(await relayers.executeByThirdParty(asked));
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED']);
    const row = await relayRow();
    expect(row).toMatchObject({ reverted: true, fee: String((await used()).fri) });
    expect(row?.fee).not.toBe(String(theirs?.fee));
    expect(await reverts()).toBe(1);
  });

  it('is that of the filler when the time of the owner is over', async () => {
    const asked = await transferOf(await relayers.begin());
    const sponsor = relayers.sponsorWith({ pause: nothing }, cutOff);
    await expect(sponsor.sponsor(asked, nothing)).rejects.toMatchObject({ code: 'chain_unavailable' });
    const { fri: bound } = await used();
    await relayers.sandbox.travel(3_600);
    await relayers.finish();
    expect(await relayers.states()).toEqual(['VOIDED']);
    const { fri, transactions } = await used();
    expect(fri).toBeGreaterThan(0n);
    expect(fri).toBeLessThan(bound);
    expect(transactions).toBe(1);
    expect(await reverts()).toBe(0);
  });

  it('stays exact over a reorganisation', async () => {
    const payer = await relayers.begin();
    const { hash } = await relayers.sponsor.sponsor(await transferOf(payer), nothing);
    await relayers.finish();
    const before = await used();
    await relayers.reorganise(1, 'requeue');
    await relayers.finish();
    expect(await relayers.states()).toEqual(['SUCCEEDED']);
    const receipt = await relayers.chain.receipt(hash);
    expect(await used()).toEqual({ ...before, fri: receipt?.fee });
  });
});

async function reverts(): Promise<number> {
  const row = await relayers.db.one<{ reverts: number }>(sql`
    select reverts from sponsored_user_days where external_user_id = ${testUser.externalUserId}`);
  return row?.reverts ?? 0;
}

const at = new Date('2026-11-17T23:59:59.999Z');
const budget: Budget = { ...testUser, environment: 'development', kind: 'calls', fri: 1n, at };
const reserve = (limits: Partial<SponsorLimits>, changes: Partial<Budget> = {}) =>
  relayers.db.tx((tx) => reserveBudget(tx, { ...NO_LIMITS, ...limits }, { ...budget, ...changes }));

describe('a limit', () => {
  it.each([
    ['dailyStrk', { dailyFri: 10n }],
    ['userDailyStrk', { userDailyFri: 10n }],
    ['userDailyTransactions', { userDailyTransactions: 10 }],
    ['userDailyWallets', { userDailyWallets: 10 }],
  ])(
    '%s admits exactly ten of fifty reservations at the same time, and is named with its end',
    async (name, limits) => {
      await relayers.begin();
      const kind = name === 'userDailyWallets' ? 'wallet' : 'calls';
      const all = await Promise.allSettled(Array.from({ length: 50 }, () => reserve(limits, { kind })));
      const refusals = all.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
      expect(refusals).toHaveLength(40);
      for (const refusal of refusals) expect(refusal).toMatchObject(refusedBy(name));
      expect(String(refusals[0])).toContain('It resets at 2026-11-18T00:00:00.000Z.');
      expect(await used()).toMatchObject({ fri: 10n, transactions: 10 });
    },
  );

  it('of a user leaves other users alone, that of an environment does not', async () => {
    await relayers.begin();
    const limits = { dailyFri: 3n, userDailyTransactions: 1 };
    const other = { externalUserId: 'eva' };
    await reserve(limits);
    await expect(reserve(limits)).rejects.toMatchObject(refusedBy('userDailyTransactions'));
    await reserve(limits, { ...other, fri: 2n });
    await expect(reserve(limits, { externalUserId: 'luz' })).rejects.toMatchObject(refusedBy('dailyStrk'));
    await reserve(limits, { externalUserId: 'luz', organizationId: 'org_other' });
    await relayers.db.run(sql`delete from sponsored_user_days where external_user_id in ('eva', 'luz')`);
  });

  it('holds for a first transaction too, and for one that costs more than a whole day has', async () => {
    await relayers.begin();
    await expect(reserve({ dailyFri: 5n }, { fri: 6n })).rejects.toMatchObject(refusedBy('dailyStrk'));
    await expect(reserve({ userDailyFri: 5n }, { fri: 6n })).rejects.toMatchObject(refusedBy('userDailyStrk'));
    await expect(reserve({ userDailyTransactions: 0 })).rejects.toMatchObject(refusedBy('userDailyTransactions'));
    await expect(reserve({ userDailyWallets: 0 }, { kind: 'wallet' })).rejects.toMatchObject(
      refusedBy('userDailyWallets'),
    );
    expect(await used()).toEqual({ fri: 0n, transactions: 0, wallets: 0 });
  });

  it('resets at midnight UTC', async () => {
    await relayers.begin();
    await reserve({ userDailyTransactions: 1 });
    await expect(reserve({ userDailyTransactions: 1 })).rejects.toMatchObject(refusedBy('userDailyTransactions'));
    await reserve({ userDailyTransactions: 1 }, { at: new Date(at.getTime() + 1) });
  });

  it('is kept by many requests to several processes, and what it refuses takes no nonce', async () => {
    const payer = await relayers.begin();
    const limits = limitsOf({ userDailyTransactions: 4 });
    const [one, other] = [relayers.sponsorWith(limits), relayers.sponsorWith(limits)];
    const all = await Promise.all(Array.from({ length: 12 }, () => transferOf(payer)));
    const answers = await Promise.allSettled(
      all.map((asked, index) => (index % 2 ? one : other).sponsor(asked, nothing)),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    await relayers.finish();
    expect(await relayers.states()).toEqual(Array(4).fill('SUCCEEDED'));
    expect(await used()).toMatchObject({ transactions: 4 });
    // The node would miss a nonce.
    await relayers.sponsor.sponsor(await transferOf(payer), nothing);
    await relayers.finish();
    expect(await relayers.states()).toEqual(Array(5).fill('SUCCEEDED'));
  });

  it('that is reached spares the node the estimate, and known requests are still answered', async () => {
    const payer = await relayers.begin();
    const asked = await transferOf(payer);
    const first = await relayers.sponsor.sponsor(asked, nothing);
    const estimate = () => Promise.reject(new Error('estimated'));
    const sponsor = relayers.sponsorWith(limitsOf({ userDailyTransactions: 1 }), { estimate });
    await expect(sponsor.sponsor(await transferOf(payer), nothing)).rejects.toMatchObject(
      refusedBy('userDailyTransactions'),
    );
    expect(await sponsor.sponsor(asked, nothing)).toEqual(first);
    await relayers.finish();
  });

  it('whose row is locked holds up no other organisation, though all share one account', async () => {
    const payer = await relayers.begin();
    await relayers.sponsor.sponsor(await transferOf(payer), nothing);
    const keys = () => relayers.deps.keys('development').slice(0, 1);
    const sponsor = relayers.sponsorWith({ keys });
    const elsewhere = relayers.sponsorWith({ keys });
    const held = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const lock = relayers.db.tx(async (tx) => {
      await tx.run(sql`select from sponsored_days where organization_id = ${testUser.organizationId} for update`);
      locked.resolve();
      await held.promise;
    });
    await locked.promise;
    const waiting = sponsor.sponsor(await transferOf(payer), nothing);
    await expect.poll(() => lockWaiters()).toBe(1);
    const user = { organizationId: 'org_other', externalUserId: 'eva' };
    await elsewhere.sponsor(await transferOf(payer, { user }), nothing);
    expect(await lockWaiters()).toBe(1);
    held.resolve();
    await Promise.all([lock, waiting]);
    await relayers.finish();
    expect(await relayers.states()).toEqual(Array(3).fill('SUCCEEDED'));
    expect(await used(user)).toMatchObject({ transactions: 1 });
  });
});

async function lockWaiters(): Promise<number> {
  const row = await relayers.db.one<{ count: number }>(sql`
    select count(*)::integer as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
  return row?.count ?? 0;
}

describe('transactions that revert after a good estimate', () => {
  it('slow their user down from the third on, and no one else', async () => {
    const payer = await relayers.begin();
    const { sponsor } = relayers;
    for (let count = 0; count < 3; count += 1) {
      const asked = await transferOf(payer);
      await relayers.sandbox.fault({ kind: 'revert', reason: 'out of luck' });
      await sponsor.sponsor(asked, nothing);
      await relayers.finish();
    }
    expect(await reverts()).toBe(3);
    const asked = await transferOf(payer);
    await expect(sponsor.sponsor(asked, nothing)).rejects.toMatchObject(refusedBy('reverts'));
    await sponsor.sponsor(await transferOf(payer, { user: { ...testUser, externalUserId: 'eva' } }), nothing);
    relayers.clock.advance(2 * MINUTE_MS);
    await sponsor.sponsor(asked, nothing);
    await relayers.finish();
    expect(await relayers.states()).toEqual(expect.arrayContaining(['REVERTED', 'SUCCEEDED']));
  });

  it('make the pause longer each time, up to an hour', async () => {
    await relayers.begin();
    await reserve({});
    const minutes: number[] = [];
    for (let count = 1; count <= 12; count += 1) {
      await relayers.db.run(sql`
        insert into relays (id, environment, chain_id, kind, purpose, message_hash, wallet, not_after, content, organization_id,
          external_user_id, budget_day, budget_fri, budget_transactions)
        values (${`rly_${count}`}, 'development', ${toHex(relayers.chain.chainId)}, 'calls', ${`test ${count}`}, '0x1', '0x1', now(),
          '{}', ${testUser.organizationId}, ${testUser.externalUserId}, '2026-11-17', 0, 1)`);
      await relayers.db.tx((tx) => correctBudget(tx, `rly_${count}`, { fri: 0n, counts: true, reverted: true }));
      const row = await relayers.db.one<{ minutes: number | null }>(sql`
        select round(extract(epoch from slowed_until - now()) / 60)::integer as minutes from sponsored_user_days
         where external_user_id = ${testUser.externalUserId}`);
      minutes.push(row?.minutes ?? 0);
    }
    expect(minutes).toEqual([0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
  });
});

describe("the private pool's fee", () => {
  const FEE = 4n * 10n ** 18n;
  const withFee = async (payer: TestWallet) => {
    const poolFee = { fri: FEE, payment: transferCall('STRK', relayers.newAddress(), FEE) };
    return transferOf(payer, { poolFee });
  };

  it('counts besides the bound while it is under way, and besides the fee when it was paid', async () => {
    const payer = await relayers.begin();
    await relayers.sandbox.holdBlocks();
    const { hash } = await relayers.sponsor.sponsor(await withFee(payer), nothing);
    expect(await used()).toMatchObject({ fri: (await boundOf(hash)) + FEE, transactions: 1 });
    await relayers.sandbox.mine();
    await relayers.finish();
    const { fee = 0n } = (await relayers.chain.receipt(hash)) ?? {};
    expect(await used()).toMatchObject({ fri: fee + FEE, transactions: 1 });
    expect(await relayRow()).toMatchObject({ fee: String(fee), budget_fri: String(fee + FEE) });
  });

  it('counts no more when the transaction reverted: nothing but gas was paid', async () => {
    const payer = await relayers.begin();
    const asked = await withFee(payer);
    await relayers.sandbox.fault({ kind: 'revert', reason: 'out of luck' });
    const { hash } = await relayers.sponsor.sponsor(asked, nothing);
    await relayers.finish();
    const { fee = 0n } = (await relayers.chain.receipt(hash)) ?? {};
    expect(await used()).toMatchObject({ fri: fee, transactions: 1 });
  });

  it('is refused with the limit before anything is stored or sent', async () => {
    const payer = await relayers.begin();
    const sponsor = relayers.sponsorWith(limitsOf({ userDailyFri: FEE }));
    await expect(sponsor.sponsor(await withFee(payer), nothing)).rejects.toMatchObject(refusedBy('userDailyStrk'));
    expect(await relayers.states()).toEqual([]);
    expect((await used()).fri).toBe(0n);
  });
});
