import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readSchema, writeSchema } from '../../testing/backup.ts';
import { manager, transfer } from '../../testing/chain.ts';
import { FulfilmentFixture, PAID, payer, refund } from '../../testing/fulfilment.ts';
import { matchByOperator, type ReconcileDeps, reconcile } from '../relayer/reconcile-accounts.ts';
import { endByOperator, namedRefund, refundImporter } from './operator.ts';
import { refundOutcomes, requeueFailedRefunds } from './refunds.ts';

let fixture: FulfilmentFixture;
beforeAll(async () => {
  fixture = await FulfilmentFixture.start();
});
beforeEach(() => fixture.begin());
afterAll(() => fixture.stop());

const deps = (): ReconcileDeps => ({
  db: fixture.db,
  networks: fixture.networks(),
  outcomes: { ...fixture.relayers.deps.outcomes, ...refundOutcomes(fixture.deps()) },
  importers: { payout: refundImporter, burn: refundImporter, refund: refundImporter },
  named: [namedRefund],
});

const check = () => fixture.deps().payer.requireReconciled('development');

/** The database forgets what `work` stored; the chain does not. */
async function forgetting(work: () => Promise<unknown>): Promise<void> {
  await check();
  const backup = await readSchema(fixture.db, 'public');
  await work();
  await writeSchema(fixture.db, 'public', backup);
  await expect(check()).rejects.toMatchObject({ code: 'chain_unavailable' });
}

async function refunded(id: string): Promise<void> {
  await refund(fixture, id);
  await fixture.finish();
}

async function reverted(id: string): Promise<void> {
  await fixture.relayers.sandbox.fault({ kind: 'revert', reason: 'out of luck' });
  await refunded(id);
}

describe('after a restore, a refund that the chain has', () => {
  it('ends the purchase as refunded, and is not sent again', async () => {
    const id = await fixture.due();
    const before = await fixture.balance();
    await forgetting(() => refunded(id));
    await expect(refund(fixture, id)).rejects.toMatchObject({ code: 'chain_unavailable' });
    expect(await reconcile(deps())).toMatchObject([{ state: 'IMPORTED', kind: 'refund', payments: [{ of: id }] }]);
    expect(await fixture.row(id)).toMatchObject({ refund: 'REFUNDED' });
    await refunded(id);
    expect((await fixture.balance()) - before).toBe(PAID);
  });

  it('reverted pays nothing: the purchase is due again once that is over for good', async () => {
    const id = await fixture.due();
    const before = await fixture.balance();
    await forgetting(() => reverted(id));
    expect(await reconcile(deps())).toMatchObject([{ state: 'IMPORTED', kind: 'refund' }]);
    expect(await fixture.row(id)).toMatchObject({ refund: 'REFUNDING' });
    await fixture.relayers.acceptOnL1();
    await requeueFailedRefunds(fixture.deps(), 'development');
    await refunded(id);
    expect(await fixture.row(id)).toMatchObject({ refund: 'REFUNDED' });
    expect((await fixture.balance()) - before).toBe(PAID);
  });

  it('reverted leaves a purchase that has not ended alone, and it can be refunded later', async () => {
    const id = await fixture.paid();
    const end = () => endByOperator(fixture.db, id, { state: 'failed', reason: 'No such number.' });
    const before = await fixture.balance();
    await forgetting(async () => {
      await end();
      await reverted(id);
    });
    expect(await reconcile(deps())).toMatchObject([{ state: 'IMPORTED', kind: 'refund' }]);
    expect(await fixture.row(id)).toMatchObject({ status: 'PROCESSING', refund: null });
    await end();
    await refunded(id);
    expect(await fixture.row(id)).toMatchObject({ refund: 'REFUNDED' });
    expect((await fixture.balance()) - before).toBe(PAID);
  });

  it('waits for the end of a purchase that was open in the backup', async () => {
    const id = await fixture.paid();
    await forgetting(async () => {
      fixture.provider.outcomes.push({ state: 'failed', reason: 'No such number.' });
      await fixture.order(id);
      await refunded(id);
    });
    const waits = [{ state: 'OPEN', reason: expect.stringContaining('end it first') }];
    expect(await reconcile(deps())).toMatchObject(waits);
    expect(await reconcile(deps())).toMatchObject(waits);
    expect(await fixture.db.tx((tx) => endByOperator(tx, id, { state: 'failed', reason: 'refunded' }))).toMatchObject({
      ok: true,
    });
    expect(await reconcile(deps())).toMatchObject([{ state: 'IMPORTED' }]);
    expect(await fixture.row(id)).toMatchObject({ refund: 'REFUNDED' });
  });

  it('is matched by the operator where it does not say what it is for', async () => {
    const id = await fixture.due();
    await check();
    const hash = await fixture.send([transfer('USDC', payer.address, PAID)], manager);
    await expect(check()).rejects.toMatchObject({ code: 'chain_unavailable' });
    expect(await reconcile(deps())).toMatchObject([{ state: 'OPEN', hash }]);
    expect(await matchByOperator(deps(), BigInt(hash), [id])).toMatchObject({ state: 'IMPORTED' });
    expect(await fixture.row(id)).toMatchObject({ refund: 'REFUNDED' });
  });
});
