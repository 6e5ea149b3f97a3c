import { type Reads, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import type { Handlers } from '../http/call.ts';
import { countGauge, type Jobs, type Module } from '../http/module.ts';
import type { GaugeSource } from '../http/monitoring.ts';
import type { JobLog } from '../jobs/job.ts';
import type { OutcomeHandlers } from '../relayer/outcome.ts';
import { type BridgeRedeemDeps, bridgeRedeem, burnOutcomes, requeueStalledRedeems } from './bridge-redeem.ts';
import { type ClaimDeps, claimChallenge, claimGift, redeemGift, redeemStatus } from './claim.ts';
import { deleteExpiredProofs } from './code-lookup.ts';
import { createGift, createGiftsBulk, type GiftDeps } from './create-gifts.ts';
import {
  type EvidenceLinks,
  getRedeemEvidence,
  getSharedEvidence,
  revokeEvidenceLinks,
  shareRedeemEvidence,
} from './evidence.ts';
import { openRedeem } from './gift.ts';
import {
  deleteGift,
  getGift,
  getGiftRedeem,
  getGiftUsage,
  listCampaigns,
  listGiftRedeems,
  listGifts,
  listHolds,
  releaseExpired,
  updateGift,
} from './manage-gifts.ts';
import { isStuck } from './operator.ts';
import { countWaiting, type Waiting } from './payout-store.ts';
import { type PayoutJobDeps, payoutJobs, payoutOutcomes } from './payouts.ts';
import { BRIDGE_TASK } from './redeem.ts';

export interface OutcomeDeps {
  readonly networks: Networks;
  readonly log: JobLog;
}

type GiftOperation =
  | 'createGift'
  | 'createGiftsBulk'
  | 'listGifts'
  | 'getGift'
  | 'updateGift'
  | 'deleteGift'
  | 'getGiftUsage'
  | 'listCampaigns'
  | 'listHolds'
  | 'listGiftRedeems'
  | 'getGiftRedeem'
  | 'getRedeemEvidence'
  | 'shareRedeemEvidence'
  | 'revokeEvidenceLinks'
  | 'getSharedEvidence';

type ClaimOperation = 'getClaimChallenge' | 'claimGift' | 'redeemGift' | 'getRedeemStatus';

interface EvidenceDeps {
  readonly links: EvidenceLinks;
}

export type GiftModuleDeps = GiftDeps & EvidenceDeps & ClaimDeps & PayoutJobDeps & BridgeRedeemDeps;

export function create(deps: GiftModuleDeps): Module<GiftOperation | ClaimOperation> {
  return {
    handlers: { ...giftHandlers(deps), ...claimHandlers(deps) },
    jobs: [giftJobs(deps), payoutJobs(deps), bridgingJobs(deps)],
    gauges: [...payoutGauges(deps.db.lists), ...bridgingGauges(deps.db.lists), ...deps.codes.gauges()],
  };
}

/** They run in the transaction that stores an outcome and need no relayer. */
export function relayOutcomes(deps: OutcomeDeps): Pick<OutcomeHandlers, 'payout' | 'burn'> {
  return { ...payoutOutcomes(deps), ...burnOutcomes(deps) };
}

function giftHandlers(deps: GiftDeps & EvidenceDeps): Pick<Handlers, GiftOperation> {
  const { db, publicUrl, now = Date.now } = deps;
  return {
    createGift: (call) => createGift(deps, call),
    createGiftsBulk: (call) => createGiftsBulk(deps, call),
    listGifts: ({ caller, query }) => listGifts(db.lists, caller, query, publicUrl),
    getGift: ({ caller, params }) => getGift(db.reads, caller, params.id, publicUrl),
    updateGift: (call) => updateGift(deps, call),
    deleteGift: (call) => deleteGift(call),
    getGiftUsage: ({ caller }) => getGiftUsage(db.lists, caller, now()),
    listGiftRedeems: ({ caller, query }) => listGiftRedeems(db.lists, caller, query),
    listCampaigns: ({ caller, query }) => listCampaigns(db.lists, caller, query, now()),
    listHolds: ({ caller, query }) => listHolds(db.lists, caller, query),
    getGiftRedeem: ({ caller, params }) => getGiftRedeem(db.reads, caller, params.id),
    getRedeemEvidence: ({ caller, params }) => getRedeemEvidence(db.reads, caller, params.id),
    shareRedeemEvidence: (call) => shareRedeemEvidence(deps, call),
    revokeEvidenceLinks,
    getSharedEvidence: ({ params }) => getSharedEvidence(db.reads, deps, params.token),
  };
}

export function claimHandlers(deps: ClaimDeps): Pick<Handlers, ClaimOperation> {
  return {
    getClaimChallenge: () => claimChallenge(deps),
    claimGift: (call) => claimGift(deps, call),
    redeemGift: (call) => redeemGift(deps, call),
    getRedeemStatus: (call) => redeemStatus(deps, call),
  };
}

const RELEASE_TASK = 'release-expired-gifts';
const FORGET_TASK = 'forget-used-proofs';

function giftJobs({ db, now = Date.now }: Pick<GiftDeps, 'db' | 'now'>): Jobs {
  return {
    handlers: {
      [RELEASE_TASK]: (_: unknown, { signal }) => releaseExpired(db, now(), signal),
      [FORGET_TASK]: async () => void (await deleteExpiredProofs(db)),
    },
    recurring: [
      { task: RELEASE_TASK, everySeconds: 15 },
      { task: FORGET_TASK, everySeconds: 600 },
    ],
  };
}

const SWEEP_TASK = 'sweep-bridged-redeems';

function bridgingJobs(deps: BridgeRedeemDeps): Jobs {
  return {
    handlers: {
      [BRIDGE_TASK]: ({ redeemId }: { redeemId: string }) => bridgeRedeem(deps, redeemId),
      [SWEEP_TASK]: () => requeueStalledRedeems(deps.db),
    },
    recurring: [{ task: SWEEP_TASK, everySeconds: 60 }],
  };
}

function bridgingGauges(reads: Reads): GaugeSource[] {
  const bridging = sql`gift_redeems where destination_chain = 'solana' and ${openRedeem}`;
  const help = 'Redeems that were burned on Starknet and did not arrive on Solana';
  return [
    countGauge(reads, 'svc_redeems_bridging', 'Redeems on their way to Solana', bridging),
    countGauge(reads, 'svc_redeems_stuck', help, sql`gift_redeems where ${isStuck}`),
  ];
}

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
