import { selector, toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serverDatabase } from '../../testing/database.ts';
import { listChanges } from '../audit-log.ts';
import { createOrganization } from '../organizations/api-keys.ts';
import { correctBudget, NO_LIMITS, reserveBudget, type SponsorLimits } from './budget.ts';
import {
  budgetGauges,
  changeSponsorship,
  type OperatorChanges,
  readSponsorship,
  requireAllowedCalls,
  watchBudgets,
} from './sponsorship.ts';

const STRK = 10n ** 18n;
const at = new Date();
const defaults: SponsorLimits = {
  dailyFri: 100n * STRK,
  userDailyFri: 10n * STRK,
  userDailyTransactions: 50,
  userDailyWallets: 2,
};
const now = () => at.getTime();
const limits = { sponsorLimits: () => defaults, now };

let database: TestDatabase;
let owner: { organizationId: string; environment: 'production'; keyId: string };
beforeAll(async () => {
  database = await serverDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.db.run(sql`delete from sponsored_days`);
  await database.db.run(sql`delete from sponsored_user_days`);
  const organizationId = await createOrganization(database.db, 'Tienda Azul');
  owner = { organizationId, environment: 'production', keyId: 'key_1' };
});

const change = (changes: OperatorChanges) => database.db.tx((tx) => changeSponsorship(tx, limits, owner, changes));
const read = (user?: string) => readSponsorship(database.db, limits, owner, user);
const reserve = (fri: bigint, externalUserId = 'ana', limit = defaults) =>
  database.db.tx((tx) => reserveBudget(tx, limit, { ...owner, externalUserId, kind: 'wallet', fri, at }));

describe('the limits of an environment', () => {
  it("are the deployment's until the organisation sets its own, and again when it clears them", async () => {
    const shown = { dailyStrk: '100', userDailyStrk: '10', userDailyTransactions: 50, userDailyWallets: 2 };
    expect(await read()).toMatchObject({ ...shown, maxDailyStrk: '100', allowedContracts: null, user: null });
    const own = { dailyStrk: '0.5', userDailyStrk: '20', userDailyTransactions: 0, userDailyWallets: 9 };
    expect(await change(own)).toMatchObject(own);
    expect(await change({ userDailyWallets: null, userDailyStrk: null })).toMatchObject({
      ...own,
      userDailyStrk: '10',
      userDailyWallets: 2,
    });
  });

  it('hold from the next transaction on', async () => {
    await change({ userDailyStrk: '1.5', userDailyWallets: 3 });
    await reserve(STRK);
    await expect(reserve(STRK)).rejects.toMatchObject({ message: expect.stringContaining('userDailyStrk') });
    await change({ userDailyStrk: '3' });
    await reserve(STRK);
  });

  it('in STRK a day are not raised above what the operator allows, and follow when that is lowered', async () => {
    await expect(change({ dailyStrk: '100.000000000000000001' })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('at most 100'),
    });
    await change({ maxDailyStrk: '1000' });
    expect(await change({ dailyStrk: '900' })).toMatchObject({ dailyStrk: '900', maxDailyStrk: '1000' });
    expect(await change({ maxDailyStrk: '3' })).toMatchObject({ dailyStrk: '3', maxDailyStrk: '3' });
    await expect(reserve(4n * STRK)).rejects.toMatchObject({ message: expect.stringContaining('dailyStrk') });
  });

  it('and use of today are shown, for one user too', async () => {
    await reserve(STRK);
    await reserve(STRK / 4n, 'eva');
    expect(await read('eva')).toMatchObject({
      used: { strk: '1.25', transactions: 2, wallets: 2, day: at.toISOString().slice(0, 10) },
      isNearLimit: false,
      resetsAt: expect.stringMatching(/T00:00:00\.000Z$/),
      user: { externalUserId: 'eva', strk: '0.25', transactions: 1, wallets: 1, reverts: 0, slowedUntil: null },
    });
    expect(await read('nobody')).toMatchObject({ user: { strk: '0', transactions: 0 } });
  });

  it('are in the audit log when they change, and only then', async () => {
    await change({ dailyStrk: '5', allowedEntrypoints: ['transfer'] });
    await change({ dailyStrk: '5' });
    const { entries } = await listChanges(database.db, owner, { limit: 10, offset: 0 });
    expect(entries).toMatchObject([
      {
        action: 'sponsorship.updated',
        actor: 'key_1',
        changes: { dailyStrk: '5', allowedEntrypoints: ['transfer'] },
      },
    ]);
  });

  it.each([
    [{ allowedContracts: ['0x0g'] }, 'body.allowedContracts[0]'],
    [{ allowedEntrypoints: ['transfer', 'not a name'] }, 'body.allowedEntrypoints[1]'],
    [{ allowedEntrypoints: [`0x${'f'.repeat(64)}`] }, 'body.allowedEntrypoints[0]'],
  ])('refuse %o, and change nothing', async (changes, field) => {
    const refused = { code: 'invalid_request', message: expect.stringContaining(field) };
    await expect(change({ dailyStrk: '7', ...changes })).rejects.toMatchObject(refused);
    expect(await read()).toMatchObject({ dailyStrk: '100', allowedContracts: null });
  });
});

describe('the lists of what is sponsored', () => {
  const [wallet, token, other] = [0x1n, 0x2n, 0x3n];
  const call = (to: bigint, name: string) => ({ to, selector: selector(name), calldata: [] });
  const requireAllowed = (...calls: ReturnType<typeof call>[]) =>
    requireAllowedCalls(database.db, owner, wallet, calls);

  it('allow everything while they are not set', async () => {
    await requireAllowed(call(token, 'transfer'), call(other, 'anything'));
  });

  it('refuse a call to another contract, in any place, but not to the wallet itself', async () => {
    await change({ allowedContracts: ['0x002'] });
    await requireAllowed(call(token, 'transfer'), call(wallet, 'revoke_session_key'));
    await expect(requireAllowed(call(token, 'transfer'), call(other, 'transfer'))).rejects.toMatchObject({
      code: 'sponsorship_not_allowed',
      message: expect.stringContaining('contract of call 1'),
    });
  });

  it.each(['execute_from_outside', 'execute_from_outside_v2'])('refuse calls inside %s of the wallet', async (name) => {
    await requireAllowed(call(wallet, name));
    await change({ allowedContracts: ['0x002'] });
    await expect(requireAllowed(call(token, 'transfer'), call(wallet, name))).rejects.toMatchObject({
      code: 'sponsorship_not_allowed',
      message: expect.stringContaining('contract of call 1'),
    });
  });

  it('refuse another entrypoint, named or by its selector', async () => {
    await change({ allowedEntrypoints: ['transfer', toHex(selector('approve'))] });
    await requireAllowed(call(token, 'transfer'), call(other, 'approve'));
    await expect(requireAllowed(call(token, 'mint'))).rejects.toMatchObject({ code: 'sponsorship_not_allowed' });
    await change({ allowedEntrypoints: [] });
    await expect(requireAllowed(call(token, 'transfer'))).rejects.toMatchObject({ code: 'sponsorship_not_allowed' });
  });
});

describe('the operator', () => {
  const lines: { level: string; fields: object; message: string }[] = [];
  const write = (level: string) => (fields: object, message: string) => void lines.push({ level, fields, message });
  const log = { info: write('info'), warn: write('warn'), error: write('error') };
  const watch = () => watchBudgets({ ...limits, db: database.db, log });
  const gauge = async (name: string) => {
    const found = budgetGauges({ ...limits, db: database.db, log }).find((each) => each.name === name);
    return found?.read();
  };
  beforeEach(() => lines.splice(0));

  it('is warned once when 80 % of a day are used, and sees it in the metrics', async () => {
    const { organizationId } = owner;
    await reserve(79n * STRK, 'ana', NO_LIMITS);
    await watch();
    expect(lines).toEqual([]);
    await reserve(STRK, 'ana', NO_LIMITS);
    expect(await read()).toMatchObject({ isNearLimit: true });
    await watch();
    await watch();
    const fields = { organizationId, environment: 'production', usedStrk: '80', dailyStrk: '100' };
    expect(lines).toEqual([{ level: 'warn', fields, message: 'sponsored gas of a day nearly used up' }]);
    const labels = { organization: organizationId, environment: 'production' };
    expect(await gauge('svc_sponsorship_used_strk')).toEqual([{ labels, value: 80 }]);
    expect(await gauge('svc_sponsorship_used_ratio')).toEqual([{ labels, value: 0.8 }]);
  });

  it('is told of a user and a relayer whose transactions revert after a good estimate', async () => {
    const { organizationId } = owner;
    await reserve(STRK);
    for (const index of [1, 2, 3]) {
      await database.db.run(sql`
        insert into relays (id, environment, chain_id, kind, purpose, message_hash, wallet, not_after, account, nonce, content,
          organization_id, external_user_id, budget_day, budget_fri, budget_transactions)
        values (${`rly_${organizationId}_${index}`}, 'production', '0x1', 'calls', ${`${organizationId} ${index}`}, '0x1', '0x1',
          now(), '0xaa', ${index}, '{}', ${organizationId}, 'ana', ${at.toISOString().slice(0, 10)}::date, 0, 1)`);
      await database.db.tx((tx) =>
        correctBudget(tx, `rly_${organizationId}_${index}`, { fri: 0n, counts: true, reverted: true }),
      );
      await watch();
    }
    await watch();
    const ofUser = { organizationId, environment: 'production', reverts: 3, relayId: expect.stringMatching(/^rly_/) };
    expect(lines.filter(({ fields }) => 'relayId' in fields)).toEqual([
      { level: 'error', fields: ofUser, message: 'sponsored transactions of a user revert, user slowed down' },
    ]);
    const ofRelayer = { account: '0xaa', reverts: 3 };
    const message = 'transactions of a relayer revert after a good estimate';
    expect(lines).toContainEqual({ level: 'error', fields: ofRelayer, message });
    expect(await gauge('svc_relays_reverted')).toEqual([{ labels: { account: '0xaa' }, value: 3 }]);
    expect(await gauge('svc_sponsorship_slowed_users')).toEqual([{ labels: { environment: 'production' }, value: 1 }]);
    expect(await read('ana')).toMatchObject({ user: { reverts: 3, slowedUntil: expect.any(String) } });
  });

  it('keeps the days of users for five weeks', async () => {
    const DAY_MS = 86_400_000;
    await reserve(STRK);
    const count = async () =>
      (await database.db.one<{ days: bigint }>(sql`select count(*) as days from sponsored_user_days`))?.days;
    const later = (days: number) => () => at.getTime() + days * DAY_MS;
    await watchBudgets({ ...limits, db: database.db, log, now: later(35) });
    expect(await count()).toBe(1n);
    await watchBudgets({ ...limits, db: database.db, log, now: later(36) });
    expect(await count()).toBe(0n);
  });
});
