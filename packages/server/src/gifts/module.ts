import { type Reads, sql } from '@svc/store';
import type { Handlers } from '../http/call.ts';
import type { GaugeSource } from '../http/monitoring.ts';
import type { JobHandlers, RecurringJob } from '../jobs/job.ts';
import { type BridgingDeps, bridgeRedeem, sweepBridged } from './bridge-redeem.ts';
import { type ClaimDeps, claimGift, redeemGift, redeemStatus } from './claim.ts';
import { createGift, createGiftsBulk, type GiftDeps } from './create-gifts.ts';
import {
  deleteGift,
  getGift,
  getGiftRedeem,
  getGiftUsage,
  listGiftRedeems,
  listGifts,
  releaseExpired,
  updateGift,
} from './manage-gifts.ts';
import { countWaiting, type Waiting } from './payouts.ts';
import { BRIDGE_TASK } from './redeem.ts';

type GiftOperation =
  | 'createGift'
  | 'createGiftsBulk'
  | 'listGifts'
  | 'getGift'
  | 'updateGift'
  | 'deleteGift'
  | 'getGiftUsage'
  | 'listGiftRedeems'
  | 'getGiftRedeem';

/** What an organisation does with its gifts; those who redeem them come in elsewhere. */
export function giftHandlers(deps: GiftDeps): Pick<Handlers, GiftOperation> {
  const { db, now = Date.now } = deps;
  return {
    createGift: (call) => createGift(deps, call),
    createGiftsBulk: (call) => createGiftsBulk(deps, call),
    listGifts: ({ caller, query }) => listGifts(db, caller, query),
    getGift: ({ caller, params }) => getGift(db.reads, caller, params.id),
    updateGift: (call) => updateGift(deps, call),
    deleteGift: (call) => deleteGift(call),
    getGiftUsage: ({ caller }) => getGiftUsage(db, caller, now()),
    listGiftRedeems: ({ caller, query }) => listGiftRedeems(db, caller, query),
    getGiftRedeem: ({ caller, params }) => getGiftRedeem(db.reads, caller, params.id),
  };
}

type ClaimOperation = 'claimGift' | 'redeemGift' | 'getRedeemStatus';

/** What anyone who has a code can do. */
export function claimHandlers(deps: ClaimDeps): Pick<Handlers, ClaimOperation> {
  return {
    claimGift: (call) => claimGift(deps, call),
    redeemGift: (call) => redeemGift(deps, call),
    getRedeemStatus: (call) => redeemStatus(deps, call),
  };
}

const RELEASE_TASK = 'release-expired-gifts';

export function giftJobs({ db, now = Date.now }: Pick<GiftDeps, 'db' | 'now'>): {
  readonly handlers: JobHandlers;
  readonly recurring: readonly RecurringJob[];
} {
  return {
    handlers: { [RELEASE_TASK]: (_: unknown, { signal }) => releaseExpired(db, now(), signal) },
    recurring: [{ task: RELEASE_TASK, everySeconds: 15 }],
  };
}

const SWEEP_TASK = 'sweep-bridged-redeems';

export function bridgingJobs(deps: BridgingDeps): {
  readonly handlers: JobHandlers;
  readonly recurring: readonly RecurringJob[];
} {
  return {
    handlers: {
      [BRIDGE_TASK]: ({ redeemId }: { redeemId: string }) => bridgeRedeem(deps, redeemId),
      [SWEEP_TASK]: () => sweepBridged(deps.db),
    },
    recurring: [{ task: SWEEP_TASK, everySeconds: 60 }],
  };
}

/** An alarm can be set on the second: such a redeem waits for `resume-redeem`. */
export function bridgingGauges(reads: Reads): GaugeSource[] {
  const gauge = (name: string, help: string, which: ReturnType<typeof sql>): GaugeSource => ({
    name,
    help,
    labelNames: ['environment'],
    read: async () => {
      const rows = await reads.rows<{ environment: string; count: number }>(sql`
        select environment, count(*)::integer as count from gift_redeems
         where destination_chain = 'solana' and ${which} group by environment`);
      return rows.map(({ environment, count }) => ({ labels: { environment }, value: count }));
    },
  });
  return [
    gauge('svc_redeems_bridging', 'Redeems on their way to Solana', sql`status in ('PENDING', 'BRIDGING', 'ATTESTED')`),
    gauge(
      'svc_redeems_stuck',
      'Redeems that were burned on Starknet and did not arrive on Solana',
      sql`status = 'FAILED' and bridge ->> 'burnedAt' is not null`,
    ),
  ];
}

/** Alarms can be set on these: redeems that nobody pays. */
export function payoutGauges(reads: Reads): GaugeSource[] {
  const gauge = (name: string, help: string, value: (waiting: Waiting) => number): GaugeSource => ({
    name,
    help,
    labelNames: ['environment'],
    read: async () =>
      (await countWaiting(reads)).map((waiting) => ({
        labels: { environment: waiting.environment },
        value: value(waiting),
      })),
  });
  return [
    gauge('svc_redeems_waiting', 'Redeems that are in no payout yet', ({ count }) => count),
    gauge(
      'svc_redeems_oldest_waiting_seconds',
      'Age of the oldest redeem that is in no payout',
      ({ oldestSeconds }) => oldestSeconds,
    ),
  ];
}
