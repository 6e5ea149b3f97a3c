import {
  ApiError,
  type Environment,
  type RedeemChain,
  type RedeemStatus,
  redeemStatuses,
  type UsdMicros,
} from '@svc/protocol';
import { type Db, type Reads, sql } from '@svc/store';
import type { JobLog, NewJob } from '../jobs/job.ts';
import { hold, release, settle } from '../ledger/ledger.ts';
import { laneOf } from '../util/ids.ts';
import { createWakeup, type Wakeup } from '../util/wakeup.ts';
import { type GiftRecord, giftColumns, openRedeem, releaseRemainder } from './gift.ts';

type Machine = Readonly<Record<RedeemStatus, readonly RedeemStatus[]>>;

/** On Starknet a redeem goes from PENDING to its end; on the way to Solana it is BRIDGING, then ATTESTED. */
export const nextStatuses: Machine = {
  PENDING: ['BRIDGING', 'SUCCESS', 'FAILED'],
  BRIDGING: ['ATTESTED', 'FAILED'],
  ATTESTED: ['SUCCESS', 'FAILED'],
  SUCCESS: [],
  FAILED: [],
};

/** What else can happen when the chain executes after all what had failed: the money has moved, and that is the truth. */
export const reorganisations: Machine = {
  PENDING: [],
  BRIDGING: [],
  ATTESTED: [],
  SUCCESS: [],
  FAILED: ['SUCCESS'],
};

/** What the operator can do besides: send a redeem that was burned on its way again. */
export const resumptions: Machine = {
  PENDING: [],
  BRIDGING: [],
  ATTESTED: [],
  SUCCESS: [],
  FAILED: ['BRIDGING', 'ATTESTED'],
};

/** The statuses from which a redeem can reach this one. */
export function statusesBefore(status: RedeemStatus, besides?: Machine): readonly RedeemStatus[] {
  return redeemStatuses.filter(
    (from) => nextStatuses[from].includes(status) || (besides?.[from].includes(status) ?? false),
  );
}

export interface Redeem {
  readonly id: string;
  readonly giftId: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly destinationChain: RedeemChain;
  /** In its one normal form. */
  readonly address: string;
  /** As it was given. */
  readonly shownAddress: string;
  readonly amount: UsdMicros;
  readonly share: UsdMicros;
  readonly holdId: string;
  readonly status: RedeemStatus;
  /** On Starknet: the payout, or the burn. */
  readonly transactionHash: string | null;
  /** On Solana. */
  readonly receiveHash: string | null;
  readonly reason: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const redeemColumns = sql`
  id, gift_id as "giftId", organization_id as "organizationId", environment, destination_chain as "destinationChain", address,
  shown_address as "shownAddress", amount_micros as amount, share_micros as share, hold_id as "holdId", status,
  transaction_hash as "transactionHash", receive_hash as "receiveHash", reason, created_at as "createdAt",
  updated_at as "updatedAt"`;

export function findRedeem(db: Reads, id: string): Promise<Redeem | undefined> {
  return db.one<Redeem>(sql`select ${redeemColumns} from gift_redeems where id = ${id}`);
}

/** Where those who wait for a redeem hear that it has changed. */
export const REDEEMS_CHANNEL = 'svc_redeems';

export interface SuccessFacts {
  readonly transactionHash?: string;
  readonly receiveHash?: string;
}

export interface FailureFacts {
  readonly reason: string;
  /** The amount has left Starknet, so it is spent: nothing goes back, and the operator can send it on. */
  readonly burned?: boolean;
}

export type RedeemEnd = { readonly id: string } & (
  | ({ readonly end: 'SUCCESS' } & SuccessFacts)
  | ({ readonly end: 'FAILED' } & FailureFacts)
);

type ErrorLog = Pick<JobLog, 'error'>;

/** Paid: settles the share, and releases what is left of an exhausted gift. Once more, it only keeps the facts. */
export function succeedRedeem(tx: Db, id: string, facts: SuccessFacts, log?: ErrorLog): Promise<void> {
  return endRedeems(tx, [{ id, end: 'SUCCESS', ...facts }], log);
}

/** Not paid, and it never will be: the share and the place go back. Once more, or after a success, it is nothing. */
export function failRedeem(tx: Db, id: string, reason: string): Promise<void> {
  return endRedeems(tx, [{ id, end: 'FAILED', reason }]);
}

/**
 * Ends several redeems in the caller's transaction. All gifts are locked before the first credit moves, and ledgers in one
 * order, that of their characters whatever the database's language, so that nobody who does the same waits for us in a circle.
 */
export async function endRedeems(tx: Db, ends: readonly RedeemEnd[], log?: ErrorLog): Promise<void> {
  const ids = ends.map(({ id }) => id);
  await tx.rows(sql`
    select id from gifts where id in (select gift_id from gift_redeems where id = any(${ids}))
     order by id for no key update`);
  const redeems = await tx.rows<Redeem>(sql`
    select ${redeemColumns} from gift_redeems where id = any(${ids})
     order by organization_id collate "C", environment collate "C", id for no key update`);
  const endOf = new Map(ends.map((end) => [end.id, end]));
  if (redeems.length !== endOf.size) throw new Error('A redeem that is to end does not exist.');
  for (const redeem of redeems) {
    const end = endOf.get(redeem.id);
    if (end?.end === 'SUCCESS') await succeed(tx, redeem, end, log);
    else if (end) await fail(tx, redeem, end);
  }
}

async function succeed(tx: Db, redeem: Redeem, facts: SuccessFacts, log: ErrorLog | undefined): Promise<void> {
  const { id, status } = redeem;
  if (status !== 'SUCCESS' && !statusesBefore('SUCCESS', reorganisations).includes(status)) {
    throw new Error(`Redeem ${id} cannot end in SUCCESS from ${status}.`);
  }
  await tx.run(sql`
    update gift_redeems
       set status = 'SUCCESS', transaction_hash = coalesce(${facts.transactionHash ?? null}, transaction_hash),
           receive_hash = coalesce(${facts.receiveHash ?? null}, receive_hash), updated_at = now(),
           reason = case when status = 'SUCCESS' then reason end
     where id = ${id} and status = ${status}`);
  if (status === 'SUCCESS') return;
  await tx.run(sql`
    update gifts set redeemed_micros = redeemed_micros + ${redeem.amount} where id = ${redeem.giftId}`);
  if (status === 'FAILED') await chargeLateSuccess(tx, redeem, log);
  else await settle(tx, { holdId: redeem.holdId, amount: redeem.share, reference: id });
  await releaseIfExhausted(tx, redeem);
  await announce(tx, id);
}

async function fail(tx: Db, redeem: Redeem, { reason, burned = false }: FailureFacts): Promise<void> {
  const { id, status } = redeem;
  if (!statusesBefore('FAILED').includes(status)) return;
  // What was given back loses its key: whoever repeats the request tries anew.
  await tx.run(sql`
    update gift_redeems
       set status = 'FAILED', reason = ${reason}, request_key = case when ${burned} then request_key end, updated_at = now()
     where id = ${id} and status = ${status}`);
  if (burned) {
    await settle(tx, { holdId: redeem.holdId, amount: redeem.share, reference: id });
    await releaseIfExhausted(tx, redeem);
  } else {
    await giveBack(tx, redeem);
  }
  await announce(tx, id);
}

/** The place is free for another redeem. The share stays with the gift for it, unless the gift's hold was released meanwhile. */
async function giveBack(tx: Db, redeem: Redeem): Promise<void> {
  await tx.run(sql`update gifts set total_redeems = total_redeems - 1 where id = ${redeem.giftId}`);
  await tx.run(sql`
    update gift_users set redeems = redeems - 1 where gift_id = ${redeem.giftId} and address = ${redeem.address}`);
  const { holdId } = await giftOfRedeem(tx, redeem);
  if (holdId === redeem.holdId) return;
  await release(tx, { holdId: redeem.holdId, amount: redeem.share, reference: redeem.id });
}

async function announce(tx: Db, id: string): Promise<void> {
  await tx.run(sql`select pg_notify(${REDEEMS_CHANNEL}, ${id})`);
}

/** What stands in the row of a redeem that was paid although nothing is left to pay it with; the operator settles it by hand. */
export const UNCOVERED = 'Paid after it had failed, and the organisation has no credits left for it.';

/**
 * A redeem whose share went back was paid after all: its share is taken once more, from the gift's hold while it has a place left, else
 * from the organisation's available credits. The chain does not ask whether there are any.
 */
export async function chargeLateSuccess(tx: Db, redeem: Redeem, log?: Pick<JobLog, 'error'>): Promise<void> {
  if (await isSettled(tx, redeem)) return;
  const gift = await giftOfRedeem(tx, redeem);
  const hasPlace = gift.totalRedeems < gift.maxRedeems;
  if (hasPlace) await takePlace(tx, redeem);
  const holdId = hasPlace && gift.holdId !== null ? gift.holdId : await holdAnew(tx, redeem);
  if (holdId === undefined) {
    await tx.run(sql`update gift_redeems set reason = ${UNCOVERED} where id = ${redeem.id}`);
    log?.error({ redeemId: redeem.id }, 'a redeem was paid after it had failed, and no credits are left for it');
    return;
  }
  await tx.run(sql`update gift_redeems set hold_id = ${holdId} where id = ${redeem.id}`);
  await settle(tx, { holdId, amount: redeem.share, reference: redeem.id });
}

/** One that failed after its burn gave nothing back. */
async function isSettled(tx: Db, { holdId, id }: Redeem): Promise<boolean> {
  const entry = await tx.one(sql`
    select from ledger_entries where hold_id = ${holdId} and type = 'SETTLE' and reference = ${id}`);
  return entry !== undefined;
}

async function takePlace(tx: Db, { giftId, address }: Redeem): Promise<void> {
  await tx.run(sql`update gifts set total_redeems = total_redeems + 1 where id = ${giftId}`);
  await tx.run(sql`update gift_users set redeems = redeems + 1 where gift_id = ${giftId} and address = ${address}`);
}

async function holdAnew(tx: Db, redeem: Redeem): Promise<string | undefined> {
  try {
    const { organizationId, environment, share, id } = redeem;
    return (await hold(tx, { organizationId, environment, amount: share, reference: id })).id;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'insufficient_credits') return undefined;
    throw error;
  }
}

/** As it is now; the caller has its row locked. */
export async function giftOfRedeem(tx: Db, { giftId }: Pick<Redeem, 'giftId'>): Promise<GiftRecord> {
  const gift = await tx.one<GiftRecord>(sql`select ${giftColumns} from gifts where id = ${giftId}`);
  if (!gift) throw new Error(`Gift ${giftId} of a redeem does not exist.`);
  return gift;
}

/** A gift whose places are all taken needs its hold until the last redeem has ended: one that fails frees its place. */
export async function releaseIfExhausted(tx: Db, redeem: Pick<Redeem, 'giftId'>): Promise<void> {
  const gift = await giftOfRedeem(tx, redeem);
  if (gift.holdId === null || gift.totalRedeems < gift.maxRedeems) return;
  const open = await tx.one(sql`select from gift_redeems where gift_id = ${gift.id} and ${openRedeem} limit 1`);
  if (!open) await releaseRemainder(tx, gift);
}

export const BRIDGE_TASK = 'bridge-redeem';

export const payoutTask = (environment: Environment): string => `payout-${environment}`;

/** A reservation keeps its job's row until its commit: with one row, all reservations of an environment would wait for one another. */
const LANES = 8;

/** Pays out what waits in an environment. Of several that wait one runs at a time, and the first pays for all of them. */
export function payoutJob(environment: Environment, redeemId = ''): NewJob {
  const task = payoutTask(environment);
  return { task, payload: { environment }, key: `${environment} ${laneOf(redeemId, LANES)}`, queue: task };
}

/** Takes a redeem on its way to Solana a step further. */
export function bridgeJob(redeemId: string): NewJob {
  return { task: BRIDGE_TASK, payload: { redeemId }, key: redeemId };
}

/** Each is a request that is open; whoever comes when so many wait is told to ask again. */
const MAX_WAITERS = 10_000;
/** Announcements are lost when the connection is, so everyone looks by themselves besides. */
const LOOK_EVERY_MS = 1_000;

/** The requests of this process that wait for a redeem to change. They hold no connection meanwhile. */
export class RedeemWaiters {
  readonly #bells = new Map<string, Set<Wakeup>>();
  readonly #now: () => number;
  #count = 0;
  #stopped = false;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Somebody said that this redeem has changed. */
  ring(id: string): void {
    for (const bell of this.#bells.get(id) ?? []) bell.notify();
  }

  /** What was said meanwhile is unknown. */
  ringAll(): void {
    for (const bells of this.#bells.values()) for (const bell of bells) bell.notify();
  }

  /** Sends everyone away with what is known now. */
  stop(): void {
    this.#stopped = true;
    this.ringAll();
  }

  /** The redeem once `isEnough` of it, or as it is when the time is up. */
  async until(reads: Reads, id: string, isEnough: (redeem: Redeem) => boolean, patienceMs: number): Promise<Redeem> {
    const deadline = this.#now() + patienceMs;
    const bell = createWakeup();
    const leave = this.#enter(id, bell);
    try {
      for (;;) {
        const redeem = await findRedeem(reads, id);
        if (!redeem) throw new Error(`Redeem ${id} is gone.`);
        const leftMs = deadline - this.#now();
        if (isEnough(redeem) || !leave || this.#stopped || leftMs <= 0) return redeem;
        await bell.wait(Math.min(LOOK_EVERY_MS, leftMs));
      }
    } finally {
      leave?.();
    }
  }

  /** Undefined where no more can wait. */
  #enter(id: string, bell: Wakeup): (() => void) | undefined {
    if (this.#count >= MAX_WAITERS) return undefined;
    const bells = this.#bells.get(id) ?? new Set();
    this.#bells.set(id, bells.add(bell));
    this.#count += 1;
    return () => {
      this.#count -= 1;
      bells.delete(bell);
      if (bells.size === 0) this.#bells.delete(id);
    };
  }
}
