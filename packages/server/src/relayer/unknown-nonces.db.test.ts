import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readSchema, writeSchema } from '../../testing/backup.ts';
import { manager, relayer, signed, transferCall } from '../../testing/chain.ts';
import { type ChainChanges, RelayerFixture } from '../../testing/relayer.ts';
import { padAddress } from '../chains/starknet/chain.ts';
import { checkNonces } from './accounts.ts';
import { createPayer, type PayOrder } from './payer.ts';
import { acceptByOperator, type ReconcileDeps } from './reconcile-accounts.ts';
import { UnreconciledError, unreconciledCheck, unreconciledGauge } from './unknown-nonces.ts';
import { processAccount } from './worker/worker.ts';

const nothing = async () => {};
const MAX_PASSES = 60;
const MINUTE_MS = 60_000;
const account = padAddress(manager.address);

let relayers: RelayerFixture;
beforeAll(async () => {
  relayers = await RelayerFixture.start();
});
beforeEach(async () => {
  await relayers.sandbox.reset();
  for (const table of [sql`unknown_nonces`, sql`relay_attempts`, sql`relays`, sql`relayer_accounts`]) {
    await relayers.db.run(sql`delete from ${table}`);
  }
  relayers.outcomes.length = 0;
  relayers.clock.reset();
});
afterAll(() => relayers.stop());

const managerKey = () => manager;
const depsWith = (chain: ChainChanges = {}) => ({
  ...relayers.deps,
  networks: relayers.networksWith(chain),
  managerKey,
});
/** A process that has just started. */
const newPayer = (chain: ChainChanges = {}) => createPayer(depsWith(chain));

let orders = 0;
function orderOf(to: bigint): PayOrder {
  orders += 1;
  const calls = [transferCall('USDC', to, 7n)];
  return { environment: 'development', kind: 'payout', purpose: `payout ${orders}`, calls };
}

const pass = () => processAccount(depsWith(), 'development', account);

async function finish(): Promise<void> {
  for (let passes = 0; passes < MAX_PASSES; passes += 1) {
    if (!(await pass()).open) return;
    relayers.clock.advance(1_000);
  }
  throw new Error('Relays are open.');
}

async function paid(to: bigint): Promise<void> {
  expect(await newPayer().pay(orderOf(to), nothing)).toMatchObject({ ok: true });
  await finish();
}

/** The database forgets what `work` stored; the chain does not. */
async function forgetting(work: () => Promise<void>): Promise<void> {
  const backup = await readSchema(relayers.db, 'public');
  await work();
  await writeSchema(relayers.db, 'public', backup);
}

const check = () => unreconciledCheck(relayers.db.reads).accounts?.();
const gauge = async () => {
  const values = await unreconciledGauge(relayers.db.reads).read();
  return values.find(({ labels }) => labels.account === account)?.value;
};
const states = async () => relayers.states();

/** By its operator, outside the service. */
const payByHand = async () => relayers.sendFrom(manager, [transferCall('USDC', 0xb0bn, 1n)]);

describe('a nonce that a transaction used which the database does not know', () => {
  it('stops the payments of a restored database before the first one, and shows', async () => {
    const [bob, eve] = [relayers.newAddress(), relayers.newAddress()];
    await paid(bob);
    expect([await check(), await gauge()]).toEqual(['ok', 0]);
    await forgetting(() => paid(bob));
    await expect(newPayer().pay(orderOf(eve), nothing)).rejects.toThrow(UnreconciledError);
    await expect(newPayer().requireReconciled('development')).rejects.toMatchObject({ code: 'chain_unavailable' });
    expect([await check(), await gauge(), await relayers.balance(eve)]).toEqual(['unreconciled', 1, 0n]);
    expect(await states()).toEqual(['SUCCEEDED']);
  });

  it('is found at start, with one read for each account', async () => {
    const bob = relayers.newAddress();
    await paid(bob);
    await forgetting(async () => {
      await paid(bob);
      await paid(bob);
    });
    let reads = 0;
    const nonceAt: ChainChanges['nonceAt'] = (...args) => {
      reads += 1;
      return relayers.chain.nonceAt(...args);
    };
    await checkNonces(depsWith({ nonceAt }), 'development');
    expect([reads, await check(), await gauge()]).toEqual([2, 'unreconciled', 2]);
    expect(relayers.warnings).toContain('account has transactions that the database does not know');
  });

  it('does not stop the start where no node answers, and payments wait for the answer', async () => {
    const bob = relayers.newAddress();
    await paid(bob);
    await forgetting(() => paid(bob));
    const silent = { nonceAt: () => Promise.reject(new Error('silent')) };
    await checkNonces(depsWith(silent), 'development');
    expect(await check()).toBe('ok');
    await expect(newPayer(silent).pay(orderOf(bob), nothing)).rejects.toThrow('silent');
    await expect(newPayer().pay(orderOf(bob), nothing)).rejects.toThrow(UnreconciledError);
  });

  it('is none of those from before the account was first used here', async () => {
    await payByHand();
    const bob = relayers.newAddress();
    await paid(bob);
    expect([await check(), await relayers.balance(bob)]).toEqual(['ok', 7n]);
  });

  it('does not stop what relayer accounts do for wallets', async () => {
    const wallet = await relayers.begin();
    const bob = relayers.newAddress();
    await relayers.sendFrom(relayer(1), [transferCall('STRK', 0xb0bn, 1n)]);
    const sponsor = relayers.sponsorWith({});
    await sponsor.sponsor(await wallet.prepared(sponsor, [transferCall('USDC', bob, 7n)]), nothing);
    await relayers.finish();
    expect([await check(), await relayers.balance(bob)]).toEqual(['unreconciled', 7n]);
  });

  it('is not seen in a chain that lost blocks: payments go on', async () => {
    const [bob, eve] = [relayers.newAddress(), relayers.newAddress()];
    await paid(bob);
    await paid(bob);
    await relayers.reorganise(2, 'drop');
    await newPayer().pay(orderOf(eve), nothing);
    await finish();
    expect([await check(), await relayers.balance(bob), await relayers.balance(eve)]).toEqual(['ok', 14n, 7n]);
  });
});

describe('a payment whose nonce was used by an unknown transaction', () => {
  /** The node shows the transaction late, so the payment is signed with its nonce. */
  async function displaced() {
    const bob = relayers.newAddress();
    await paid(bob);
    const nonce = await relayers.chain.nonceAt(manager.address);
    const late = newPayer({ nonceAt: async () => nonce });
    await late.requireReconciled('development');
    await relayers.chain.send(signed([transferCall('USDC', 0xb0bn, 1n)], { nonce: nonce ?? 0n, from: manager }));
    const eve = relayers.newAddress();
    await late.pay(orderOf(eve), nothing);
    return { eve, late, nonce: String(nonce) };
  }

  it('stops the others at once, and is not given up: it may be the same payment', async () => {
    const { eve, late } = await displaced();
    await expect(late.pay(orderOf(eve), nothing)).rejects.toThrow(UnreconciledError);
    for (const minutes of [0, 6, 6]) {
      relayers.clock.advance(minutes * MINUTE_MS);
      await pass();
    }
    expect([await states(), await check()]).toEqual([['SUCCEEDED', 'STORED'], 'unreconciled']);
  });

  it('is reported to the operator only when the chain has shown none of its own for minutes', async () => {
    const { late } = await displaced();
    const refusal = () => late.requireReconciled('development').catch((error: unknown) => error);
    expect(await refusal()).toMatchObject({ isCertain: false, message: expect.not.stringContaining('reconcile') });
    await pass();
    relayers.clock.advance(6 * MINUTE_MS);
    await pass();
    expect(await refusal()).toMatchObject({ isCertain: true, message: expect.stringContaining('reconcile') });
  });

  it('keeps the others stopped while the chain does not count the transaction yet', async () => {
    const { late, nonce } = await displaced();
    const unseen = depsWith({ nonceAt: async () => BigInt(nonce) });
    for (const minutes of [0, 1, 1]) {
      relayers.clock.advance(minutes * MINUTE_MS);
      await processAccount(unseen, 'development', account);
    }
    await expect(late.requireReconciled('development')).rejects.toThrow(UnreconciledError);
  });

  it('is given up once the operator has accepted the transaction, and the others go on', async () => {
    const { eve, late, nonce } = await displaced();
    await pass();
    relayers.clock.advance(6 * MINUTE_MS);
    await pass();
    const deps = { ...depsWith(), importers: {}, named: [] } as unknown as ReconcileDeps;
    expect(await acceptByOperator(deps, nonce, 'paid by hand')).toMatchObject({ state: 'ACCEPTED' });
    const written = await relayers.db.rows(sql`
      select organization_id, environment, actor, changes from audit_log where action = 'account.transaction-accepted'`);
    expect(written).toEqual([
      {
        organization_id: 'deployment',
        environment: 'development',
        actor: 'operator',
        changes: { nonce, transactionHash: null, reason: 'paid by hand' },
      },
    ]);
    relayers.clock.advance(6 * MINUTE_MS);
    await pass();
    expect([await states(), await check()]).toEqual([['SUCCEEDED', 'VOIDED'], 'ok']);
    expect(await late.pay(orderOf(eve), nothing)).toMatchObject({ ok: true });
  });
});
