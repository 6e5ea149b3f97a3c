import { type Db, sql } from '@svc/store';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { transferCall } from '../../../testing/chain.ts';
import { RelayerFixture } from '../../../testing/relayer.ts';
import type { Ending, OutcomeHandler } from '../outcome.ts';
import { batchEndings } from './context.ts';

let relayers: RelayerFixture;
beforeAll(async () => {
  relayers = await RelayerFixture.start({ accounts: 3 });
});
afterAll(() => relayers.stop());

/** A transfer of each of three accounts. Their ends are stored once all are known; answers by how many transactions. */
async function endOfEach(fails: (relayId: string, all: readonly string[]) => boolean): Promise<number> {
  const { deps, sponsor } = relayers;
  const payer = await relayers.begin();
  const ids: string[] = [];
  for (const amount of [1n, 2n, 3n]) {
    const call = transferCall('USDC', relayers.newAddress(), amount);
    ids.push((await sponsor.sponsor(await payer.prepared(sponsor, [call]), async () => {})).id);
  }
  const calls: OutcomeHandler = async (tx, outcome) => {
    if (fails(outcome.relayId, ids)) throw new Error('no transfers');
    await deps.outcomes.calls(tx, outcome);
  };
  const allAsked = Promise.withResolvers<void>();
  let transactions = 0;
  const tx = async <T>(work: (tx: Db) => Promise<T>): Promise<T> => {
    transactions += 1;
    await allAsked.promise;
    return deps.db.tx(work);
  };
  const outcomes = { ...deps.outcomes, calls };
  const batch = batchEndings({ ...deps, outcomes, db: { ...deps.db, tx } }, 3);
  let asked = 0;
  const endings = (own: readonly Ending[], budget?: string) => {
    asked += 1;
    if (asked === 3) allAsked.resolve();
    return batch(own, budget);
  };
  await relayers.runPass({}, { outcomes, endings }, true);
  return transactions;
}

const budgets = () =>
  relayers.db.one(sql`
    select (select sum(fri)::text from sponsored_days) as used, (select sum(budget_fri)::text from relays) as held`);

it('relays of one budget that accounts end at the same time are stored together', async () => {
  // The first account's, and then those of both others.
  expect(await endOfEach(() => false)).toBe(2);
  expect(await relayers.states()).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED']);
  const { used, held } = (await budgets()) as { used: string; held: string };
  expect(used).toBe(held);
});

it('where one of them cannot be stored, those of the other accounts end all the same', async () => {
  const transactions = await endOfEach((relayId, [, second]) => relayId === second);
  expect(transactions).toBeLessThanOrEqual(4);
  const states = await relayers.states();
  expect(states.toSorted()).toEqual(['SENT', 'SUCCEEDED', 'SUCCEEDED']);
  expect(relayers.warnings).toEqual(['relay outcome not recorded, retrying']);
  await relayers.finish();
  expect(await relayers.states()).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED']);
});
