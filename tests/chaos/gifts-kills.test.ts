import { once } from 'node:events';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditGifts, giftsSettled, hasEnded, type RedeemRow, redeemRows } from '../support/audit.ts';
import type { Reply } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { openDatabaseProxy, random, seedCount, spread } from '../support/faults.ts';
import { type Claim, chains, claimAt, GiftFixture, newWallet, type RedeemChain } from '../support/gifts.ts';
import { TestService } from '../support/service.ts';

const KILLS = seedCount(6);
const EACH_MS = 30_000;
const SETTLE_MS = 400_000;
/** A redeem ends within seconds; an idle victim still polls for jobs, and is killed at that. */
const WAIT_LIMIT_MS = 60_000;

let service: TestService;
let gifts: GiftFixture;
beforeAll(async () => {
  // Without jobs, so that victims do all work.
  service = await TestService.hosted({ SVC_ROLE: 'api' });
  gifts = new GiftFixture(service);
  await gifts.removeFaults();
}, 300_000);
afterAll(() => service.stop());

interface Place {
  readonly chain: RedeemChain;
  readonly step: number;
  readonly when: 'before' | 'after';
}

interface Killed extends Place {
  readonly seed: number;
  readonly claim: Claim;
  /** Undefined when the process died first. */
  readonly reply: Reply | undefined;
  /** Whether the client repeats its request at another process. */
  readonly asksAgain: boolean;
}

const newClaim = (code: string, chain: RedeemChain, seed: number): Claim => ({
  code,
  chain,
  walletAddress: newWallet(chain),
  key: `claim ${seed}`,
});

async function rowsOf({ chain, walletAddress }: Claim): Promise<RedeemRow[]> {
  const isOwn = ({ address }: RedeemRow) =>
    chain === 'solana' ? address === walletAddress : BigInt(address) === BigInt(walletAddress);
  return (await redeemRows(service.database.db)).filter((row) => row.chain === chain && isOwn(row));
}

/** Chunks sent to the database from the request to the payout, those of the sandbox included. */
async function countSteps(code: string, chain: RedeemChain): Promise<number> {
  const proxy = await openDatabaseProxy(service.databaseUrl);
  const whole = await service.anotherHosted({ DATABASE_URL: proxy.url, SVC_ROLE: 'all' });
  const claim = newClaim(code, chain, -1 - chains.indexOf(chain));
  const before = proxy.sent();
  expect((await claimAt(whole, claim)).status).toBe(chain === 'solana' ? 202 : 201);
  const rows = await eventually(
    () => rowsOf(claim),
    (found) => found.every(hasEnded),
    WAIT_LIMIT_MS,
  );
  expect(rows).toMatchObject([{ status: 'SUCCESS' }]);
  const steps = proxy.sent() - before;
  await whole.stop();
  proxy.close();
  return steps;
}

/** Every step on both chains, before and after it. */
async function everyPlace(code: string): Promise<Place[]> {
  const places: Place[] = [];
  for (const chain of chains) {
    const steps = await countSteps(code, chain);
    for (let step = 1; step <= steps; step += 1) {
      places.push({ chain, step, when: 'before' }, { chain, step, when: 'after' });
    }
  }
  return places;
}

/** Starts a process, redeems at it, and kills it. */
async function killOne(seed: number, code: string, place: Place): Promise<Killed> {
  const claim = newClaim(code, place.chain, seed);
  const proxy = await openDatabaseProxy(service.databaseUrl);
  const victim = await service.another({ DATABASE_URL: proxy.url, SVC_ROLE: 'all' });
  const died = once(victim.process, 'exit', { signal: AbortSignal.timeout(WAIT_LIMIT_MS) });
  proxy.cutAfter(place.step, place.when, () => victim.process.kill('SIGKILL'));
  const reply = await claimAt(victim, claim).catch(() => undefined);
  await died;
  proxy.close();
  return { ...place, seed, claim, reply, asksAgain: random(seed)() < 0.5 };
}

describe('a process that is killed while it redeems', () => {
  it(
    `leaves a redeem that is paid once, or none, and its hold with it: ${KILLS} seeds`,
    async () => {
      const manager = await gifts.managerBalance();
      // The limits allow more redeems, so that idempotency alone prevents a second one.
      const { code } = await gifts.gift({ amount: 1.5, maxRedeems: 2 * KILLS + 2, maxRedeemsPerUser: 2 });
      const places = await everyPlace(code);
      const killed: Killed[] = [];
      for (let seed = 0; seed < KILLS; seed += 1) {
        killed.push(await killOne(seed, code, spread(seed, KILLS, places)));
      }
      const heir = await service.anotherHosted({ SVC_ROLE: 'all' });
      // In place of waiting for the claims of dead requests to expire.
      await service.database.db.run(sql`update idempotency_keys set leased_until = now() - interval '1 second'`);
      for (const one of killed.filter(({ asksAgain }) => asksAgain)) {
        expect((await claimAt(heir, one.claim)).status).toBe(one.chain === 'solana' ? 202 : 201);
      }
      await giftsSettled(gifts);
      for (const one of killed) await expectTruth(one);
      await auditGifts(gifts, manager);
    },
    SETTLE_MS + KILLS * EACH_MS,
  );
});

/** The kill is the only fault, so every reserved redeem is paid. */
async function expectTruth({ seed, chain, step, when, claim, reply, asksAgain }: Killed): Promise<void> {
  const about = { seed, chain, step, when, asksAgain, told: reply?.status };
  const statuses = (await rowsOf(claim)).map(({ status, reason }) => ({ status, reason }));
  const isMade = asksAgain || reply !== undefined || statuses.length > 0;
  expect({ ...about, statuses }).toEqual({ ...about, statuses: isMade ? [{ status: 'SUCCESS', reason: null }] : [] });
}
