import { type Reads, sql } from '@svc/store';
import type { Handlers } from '../http/call.ts';
import type { GaugeSource } from '../http/monitoring.ts';
import type { JobHandlers, RecurringJob } from '../jobs/job.ts';
import { type BridgingParts, bridgeRedeem, sweepBridged } from './bridge-redeem.ts';
import { type ClaimParts, claimGift, redeemGift, redeemStatus } from './claim.ts';
import { createGift, createGiftsBulk, type GiftParts } from './create-gifts.ts';
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
export function giftHandlers(parts: GiftParts): Pick<Handlers, GiftOperation> {
  const { db, now = Date.now } = parts;
  return {
    createGift: (call) => createGift(parts, call),
    createGiftsBulk: (call) => createGiftsBulk(parts, call),
    listGifts: ({ caller, query }) => listGifts(db, caller, query),
    getGift: ({ caller, params }) => getGift(db.reads, caller, params.id),
    updateGift: (call) => updateGift(parts, call),
    deleteGift: (call) => deleteGift(call),
    getGiftUsage: ({ caller }) => getGiftUsage(db, caller, now()),
    listGiftRedeems: ({ caller, query }) => listGiftRedeems(db, caller, query),
    getGiftRedeem: ({ caller, params }) => getGiftRedeem(db.reads, caller, params.id),
  };
}

type ClaimOperation = 'claimGift' | 'redeemGift' | 'getRedeemStatus';

/** What anyone who has a code can do. */
export function claimHandlers(parts: ClaimParts): Pick<Handlers, ClaimOperation> {
  return {
    claimGift: (call) => claimGift(parts, call),
    redeemGift: (call) => redeemGift(parts, call),
    getRedeemStatus: (call) => redeemStatus(parts, call),
  };
}

const RELEASE_TASK = 'release-expired-gifts';

export function giftJobs({ db, now = Date.now }: Pick<GiftParts, 'db' | 'now'>): {
  readonly handlers: JobHandlers;
  readonly recurring: readonly RecurringJob[];
} {
  return {
    handlers: { [RELEASE_TASK]: (_: unknown, { signal }) => releaseExpired(db, now(), signal) },
    recurring: [{ task: RELEASE_TASK, everySeconds: 15 }],
  };
}

const SWEEP_TASK = 'sweep-bridged-redeems';

export function bridgingJobs(parts: BridgingParts): {
  readonly handlers: JobHandlers;
  readonly recurring: readonly RecurringJob[];
} {
  return {
    handlers: {
      [BRIDGE_TASK]: ({ redeemId }: { redeemId: string }) => bridgeRedeem(parts, redeemId),
      [SWEEP_TASK]: () => sweepBridged(parts.db),
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
