import { ApiError } from '@svc/protocol';
import { sql } from '@svc/store';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { transferCall } from '../../testing/chain.ts';
import { RelayerFixture } from '../../testing/relayer.ts';
import type { Sponsor } from './relay.ts';

const HOUR_MS = 3_600_000;

let relayers: RelayerFixture;
beforeAll(async () => {
  relayers = await RelayerFixture.start();
});
afterAll(() => relayers.stop());

async function relayer() {
  const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
  const relay = async (sponsor: Sponsor) =>
    sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 1n)]), async () => {});
  return { bob, relay };
}

/** What the process was told by the database before has been worked on then. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await relayers.db.one(sql`select 1`);
}

async function stored(count: number): Promise<void> {
  await expect.poll(async () => (await relayers.states()).length).toBe(count);
  await settled();
}

it('relays that an account sends one after the other are marked as sent together', async () => {
  const { relay } = await relayer();
  const { chain } = relayers;
  const statesAtSends: string[][] = [];
  const send: typeof chain.send = async (signed) => {
    await stored(3);
    statesAtSends.push(await relayers.states());
    return chain.send(signed);
  };
  const sponsor = relayers.sponsorWith({ maxTurnMs: HOUR_MS, maxGatherMs: HOUR_MS }, { send });
  await Promise.all([relay(sponsor), relay(sponsor), relay(sponsor)]);
  expect(statesAtSends).toEqual(Array(3).fill(['STORED', 'STORED', 'STORED']));
  expect(await relayers.states()).toEqual(['SENT', 'SENT', 'SENT']);
});

it('a relay that was sent is answered while a node is silent about the next one of its account', async () => {
  const { relay, bob } = await relayer();
  const { chain } = relayers;
  const silent = Promise.withResolvers<never>();
  let sends = 0;
  const send: typeof chain.send = async (signed) => {
    sends += 1;
    if (sends === 2) return silent.promise;
    await stored(2);
    return chain.send(signed);
  };
  const sponsor = relayers.sponsorWith({ maxTurnMs: HOUR_MS }, { send });
  const both = [relay(sponsor), relay(sponsor)];
  const ended = Promise.allSettled(both);
  await Promise.any(both);
  expect((await relayers.states()).toSorted()).toEqual(['SENT', 'STORED']);
  silent.reject(new ApiError('chain_unavailable'));
  expect((await ended).map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  relayers.clock.advance(3_000);
  await relayers.finish();
  expect(await relayers.balance(bob)).toBe(2n);
});
