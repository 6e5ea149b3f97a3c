import {
  ApiError,
  type Environment,
  type EventData,
  formatUsd,
  type GiftRedeem,
  type ReceiveProof,
  type RedeemChain,
  type RedeemStatus,
  redeemStatuses,
  type UsdMicros,
} from '@svc/protocol';
import { currentTenant, type Db, type Reads, type Sql, sql } from '@svc/store';
import { giftEventsWanted, type NewEvent, publishEvents } from '../events/events.ts';
import type { JobLog, NewJob } from '../jobs/job.ts';
import { endMany, hold, release, settle } from '../ledger/ledger.ts';
import { Waiters } from '../util/wakeup.ts';
import { type GiftRecord, giftColumns, openRedeem, releaseRemainder, restOfHold } from './gift.ts';

type Machine = Readonly<Record<RedeemStatus, readonly RedeemStatus[]>>;

export const nextStatuses: Machine = {
  PENDING: ['BRIDGING', 'SUCCESS', 'FAILED'],
  BRIDGING: ['ATTESTED', 'FAILED'],
  ATTESTED: ['SUCCESS', 'FAILED'],
  SUCCESS: [],
  FAILED: [],
};

/** A reorganisation can execute a payment that had failed. */
export const reorganisations: Machine = {
  PENDING: [],
  BRIDGING: [],
  ATTESTED: [],
  SUCCESS: [],
  FAILED: ['SUCCESS'],
};

/** By the operator, for a burned redeem. */
export const resumptions: Machine = {
  PENDING: [],
  BRIDGING: [],
  ATTESTED: [],
  SUCCESS: [],
  FAILED: ['BRIDGING', 'ATTESTED'],
};

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
  /** Canonical form. */
  readonly address: string;
  /** As the caller wrote it. */
  readonly shownAddress: string;
  readonly amount: UsdMicros;
  readonly share: UsdMicros;
  readonly holdId: string;
  readonly status: RedeemStatus;
  /** On Starknet: the payout or the burn. */
  readonly transactionHash: string | null;
  /** On Solana. */
  readonly receiveHash: string | null;
  readonly receiveProof: ReceiveProof | null;
  readonly reason: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Redeems that ended before nodes of Solana were asked took the bridge's word. */
export const receiveProofIn = (row: Sql): Sql => sql`
  case when ${row}.destination_chain = 'solana' and ${row}.status = 'SUCCESS'
       then coalesce(${row}.bridge ->> 'receiveProof', 'BRIDGE') end`;

export const redeemColumns = sql`
  id, gift_id as "giftId", organization_id as "organizationId", environment, destination_chain as "destinationChain", address,
  shown_address as "shownAddress", amount_micros as amount, share_micros as share, hold_id as "holdId", status,
  transaction_hash as "transactionHash", receive_hash as "receiveHash", ${receiveProofIn(sql`gift_redeems`)} as "receiveProof", reason, created_at as "createdAt",
  updated_at as "updatedAt"`;

type ShownRedeem = Pick<
  Redeem,
  | 'id'
  | 'giftId'
  | 'status'
  | 'destinationChain'
  | 'shownAddress'
  | 'amount'
  | 'transactionHash'
  | 'receiveHash'
  | 'receiveProof'
  | 'createdAt'
  | 'updatedAt'
>;

/** Without the code, which may be worth money still. */
export function toRedeem(redeem: ShownRedeem): Omit<GiftRedeem, 'code'> {
  const { id, giftId, status, destinationChain, transactionHash } = redeem;
  const bridged = destinationChain === 'solana';
  return {
    ...{ id, giftId, status, destinationChain },
    walletAddress: redeem.shownAddress,
    amount: formatUsd(redeem.amount),
    transactionHash: bridged ? null : transactionHash,
    cctpBurnTxHash: bridged ? transactionHash : null,
    receiveChainTxHash: redeem.receiveHash,
    receiveProof: redeem.receiveProof,
    createdAt: redeem.createdAt.toISOString(),
    updatedAt: redeem.updatedAt.toISOString(),
  };
}

export function findRedeem(db: Reads, id: string): Promise<Redeem | undefined> {
  return db.one<Redeem>(sql`select ${redeemColumns} from gift_redeems where id = ${id}`);
}

export const REDEEMS_CHANNEL = 'svc_redeems';

export interface SuccessFacts {
  readonly transactionHash?: string;
  readonly receiveHash?: string;
  readonly receiveProof?: ReceiveProof;
  /** Of the block. Default: now. */
  readonly at?: Date | undefined;
}

export interface FailureFacts {
  readonly reason: string;
  /** The amount has left Starknet, so the share is spent. */
  readonly burned?: boolean;
}

export type RedeemEnd = { readonly id: string } & (
  | ({ readonly end: 'SUCCESS' } & SuccessFacts)
  | ({ readonly end: 'FAILED' } & FailureFacts)
);

type ErrorLog = Pick<JobLog, 'error'>;

export function succeedRedeem(tx: Db, id: string, facts: SuccessFacts, log?: ErrorLog): Promise<void> {
  return endRedeems(tx, [{ id, end: 'SUCCESS', ...facts }], log);
}

export function failRedeem(tx: Db, id: string, reason: string): Promise<void> {
  return endRedeems(tx, [{ id, end: 'FAILED', reason }]);
}

/** Locks gifts before ledgers, and ledgers in byte order of their names, so that two transactions cannot deadlock. */
export async function endRedeems(tx: Db, ends: readonly RedeemEnd[], log?: ErrorLog): Promise<void> {
  const ids = ends.map(({ id }) => id);
  const [, redeems] = await Promise.all([
    tx.rows(sql`
      select id from gifts where id in (select gift_id from gift_redeems where id = any(${ids}))
       order by id for no key update`),
    tx.rows<Redeem & { eventsWanted: boolean }>(sql`
      select ${redeemColumns}, ${giftEventsWanted} as "eventsWanted" from gift_redeems where id = any(${ids})
       order by organization_id collate "C", environment collate "C", id for no key update`),
  ]);
  const endOf = new Map(ends.map((end) => [end.id, end]));
  if (redeems.length !== endOf.size) throw new Error('A redeem that is to end does not exist.');
  const paid: PaidRedeem[] = [];
  for (const redeem of redeems) {
    const end = endOf.get(redeem.id);
    if (end?.end === 'SUCCESS' && nextStatuses[redeem.status].length > 0) paid.push({ redeem, facts: end });
    else {
      // Those before it have their turn first, for the order of the ledgers.
      await succeedTogether(tx, paid.splice(0));
      await (end?.end === 'SUCCESS' ? succeedAgain(tx, redeem, end, log) : end && fail(tx, redeem, end));
    }
  }
  await succeedTogether(tx, paid);
  const told = redeems.filter(({ eventsWanted }) => eventsWanted);
  if (told.length > 0) await publishEnds(tx, told);
}

/** Of redeems that were read before they ended. */
async function publishEnds(tx: Db, before: readonly Redeem[]): Promise<void> {
  const statuses = new Map(before.map(({ id, status }) => [id, status]));
  const ended = await tx.rows<Redeem>(sql`
    select ${redeemColumns} from gift_redeems where id = any(${[...statuses.keys()]}) order by id`);
  const events = ended
    .filter(({ id, status }) => status !== statuses.get(id))
    .map((redeem): NewEvent => {
      const { id, organizationId, environment, status, reason } = redeem;
      const owner = { organizationId, environment };
      if (status === 'SUCCESS') return { ...owner, type: 'gift.redeemed', subject: id, data: toRedeem(redeem) };
      // A burned redeem can be resumed and fail again.
      return {
        ...owner,
        type: 'gift.redeem-failed',
        data: { ...toRedeem(redeem), reason } satisfies EventData['gift.redeem-failed'],
      };
    });
  await publishEvents(tx, events);
}

interface PaidRedeem {
  readonly redeem: Redeem;
  readonly facts: SuccessFacts;
}

/** As many statements for a whole payout as for one redeem. They are sent together and run in their order. */
async function succeedTogether(tx: Db, paid: readonly PaidRedeem[]): Promise<void> {
  if (paid.length === 0) return;
  const all = paid.map(({ redeem }) => redeem);
  for (const redeem of all) requirePayable(redeem);
  const ids = all.map(({ id }) => id);
  const settlementOf = ({ id, holdId, share }: Redeem) =>
    ({ type: 'SETTLE', holdId, amount: share, reference: id }) as const;
  const [changed, , ended] = await Promise.all([
    markPaid(tx, paid),
    endMany(tx, all.map(settlementOf)),
    countPaid(tx, all),
    tx.run(sql`select pg_notify(${REDEEMS_CHANNEL}, id) from unnest(${ids}::text[]) as id`),
  ]);
  if (changed !== paid.length) throw new Error('A redeem has ended in another way meanwhile.');
  if (ended.some(({ rest }) => rest < 0n)) throw new Error('More is reserved for redeems of a gift than its hold has.');
  const releaseOf = ({ holdId, rest }: (typeof ended)[number]) =>
    ({ type: 'RELEASE', holdId, amount: rest, reference: 'rest' }) as const;
  await endMany(tx, ended.filter(({ rest }) => rest > 0n).map(releaseOf));
}

function markPaid(tx: Db, paid: readonly PaidRedeem[]): Promise<number> {
  const of = <T>(read: (one: PaidRedeem) => T) => paid.map(read);
  return tx.run(sql`
    update gift_redeems
       set status = 'SUCCESS', transaction_hash = coalesce(paid.hash, transaction_hash),
           receive_hash = coalesce(paid.receive, receive_hash), updated_at = now(), reason = null,
           bridge = case when paid.proof is null then bridge
                         else coalesce(bridge, '{}') || jsonb_build_object('receiveProof', paid.proof) end,
           ended_at = coalesce(paid.at, now())
      from unnest(${of(({ redeem }) => redeem.id)}::text[], ${of(({ redeem }) => redeem.status)}::text[],
                  ${of(({ facts }) => facts.transactionHash ?? null)}::text[],
                  ${of(({ facts }) => facts.receiveHash ?? null)}::text[],
                  ${of(({ facts }) => facts.receiveProof ?? null)}::text[],
                  ${of(({ facts }) => facts.at ?? null)}::timestamptz[]) as paid (id, status, hash, receive, proof, at)
     where gift_redeems.id = paid.id and gift_redeems.status = paid.status`);
}

/** Adds to what gifts have paid. Answers the holds of those that are exhausted, with what is left in them. */
function countPaid(tx: Db, paid: readonly Redeem[]): Promise<{ holdId: string; rest: UsdMicros }[]> {
  const [giftIds, amounts] = [paid.map(({ giftId }) => giftId), paid.map(({ amount }) => amount)];
  return tx.rows(sql`
    with counted as (
      update gifts
         set redeemed_micros = gifts.redeemed_micros + paid.amount,
             hold_id = case when paid.ends then null else gifts.hold_id end,
             updated_at = case when paid.ends then now() else gifts.updated_at end
        from (
          select gift_id, sum(paid.amount)::bigint as amount, gift.hold_id,
                 gift.hold_id is not null and gift.total_redeems >= gift.max_redeems and not exists (
                   select from gift_redeems where gift_redeems.gift_id = gift.id and ${openRedeem}) as ends
            from unnest(${giftIds}::text[], ${amounts}::bigint[]) as paid (gift_id, amount)
            join gifts as gift on gift.id = paid.gift_id
           group by gift_id, gift.id) as paid
       where gifts.id = paid.gift_id
      returning case when paid.ends then paid.hold_id end as hold_id
    )
    select hold.id as "holdId", ${restOfHold(sql`hold`)} as rest
      from counted join ledger_holds as hold on hold.id = counted.hold_id
     order by hold.id`);
}

function requirePayable({ id, status }: Redeem): void {
  if (statusesBefore('SUCCESS', reorganisations).includes(status)) return;
  throw new Error(`Redeem ${id} cannot end in SUCCESS from ${status}.`);
}

/** Of one that has ended already: a reorganisation moved or executed its payment. */
async function succeedAgain(tx: Db, redeem: Redeem, facts: SuccessFacts, log: ErrorLog | undefined): Promise<void> {
  const { id, status } = redeem;
  if (status !== 'SUCCESS') requirePayable(redeem);
  const proof = facts.receiveProof ?? null;
  await tx.run(sql`
    update gift_redeems
       set status = 'SUCCESS', transaction_hash = coalesce(${facts.transactionHash ?? null}, transaction_hash),
           receive_hash = coalesce(${facts.receiveHash ?? null}, receive_hash), updated_at = now(),
           bridge = case when ${proof}::text is null then bridge
                         else coalesce(bridge, '{}') || jsonb_build_object('receiveProof', ${proof}::text) end,
           ended_at = coalesce(${facts.at ?? null}, case when status = 'SUCCESS' then ended_at end, now()),
           reason = case when status = 'SUCCESS' then reason end
     where id = ${id} and status = ${status}`);
  if (status === 'SUCCESS') return;
  await tx.run(sql`
    update gifts set redeemed_micros = redeemed_micros + ${redeem.amount} where id = ${redeem.giftId}`);
  await chargeLateSuccess(tx, redeem, log);
  await releaseIfExhausted(tx, redeem);
  await notifyWaiters(tx, id);
}

async function fail(tx: Db, redeem: Redeem, { reason, burned = false }: FailureFacts): Promise<void> {
  const { id, status } = redeem;
  if (!statusesBefore('FAILED').includes(status)) return;
  // A given back redeem loses its key: a repeated request tries anew.
  await tx.run(sql`
    update gift_redeems
       set status = 'FAILED', reason = ${reason}, request_key = case when ${burned} then request_key end, updated_at = now(),
           ended_at = now()
     where id = ${id} and status = ${status}`);
  if (burned) {
    await settle(tx, { holdId: redeem.holdId, amount: redeem.share, reference: id });
    await releaseIfExhausted(tx, redeem);
  } else {
    await returnShare(tx, redeem);
  }
  await notifyWaiters(tx, id);
}

/** The share stays with the gift, unless its hold was released in the meantime. */
async function returnShare(tx: Db, redeem: Redeem): Promise<void> {
  await tx.run(sql`update gifts set total_redeems = total_redeems - 1 where id = ${redeem.giftId}`);
  await tx.run(sql`
    update gift_users set redeems = redeems - 1 where gift_id = ${redeem.giftId} and address = ${redeem.address}`);
  const { holdId } = await giftOfRedeem(tx, redeem);
  if (holdId === redeem.holdId) return;
  await release(tx, { holdId: redeem.holdId, amount: redeem.share, reference: redeem.id });
}

async function notifyWaiters(tx: Db, id: string): Promise<void> {
  await tx.run(sql`select pg_notify(${REDEEMS_CHANNEL}, ${id})`);
}

export const UNCOVERED = 'Paid after it had failed, and the organisation has no credits left for it.';

/** Charges the released share again: from the gift's hold while it has a place left, else from available credits. */
export async function chargeLateSuccess(tx: Db, redeem: Redeem, log?: Pick<JobLog, 'error'>): Promise<void> {
  if (await isSettled(tx, redeem)) return;
  const gift = await giftOfRedeem(tx, redeem);
  const hasPlace = gift.totalRedeems < gift.maxRedeems;
  if (hasPlace) await takePlace(tx, redeem);
  const holdId = hasPlace && gift.holdId !== null ? gift.holdId : await holdAnew(tx, redeem);
  if (holdId === undefined) {
    await tx.run(sql`update gift_redeems set reason = ${UNCOVERED} where id = ${redeem.id}`);
    log?.error({ redeemId: redeem.id }, 'redeem paid after it failed, no credits left to charge');
    return;
  }
  await tx.run(sql`update gift_redeems set hold_id = ${holdId} where id = ${redeem.id}`);
  await settle(tx, { holdId, amount: redeem.share, reference: redeem.id });
}

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

export async function giftOfRedeem(tx: Db, { giftId }: Pick<Redeem, 'giftId'>): Promise<GiftRecord> {
  const gift = await tx.one<GiftRecord>(sql`select ${giftColumns} from gifts where id = ${giftId}`);
  if (!gift) throw new Error(`Gift ${giftId} of a redeem does not exist.`);
  return gift;
}

/** A failed redeem frees its place, so the hold stays until the last one has ended. */
export async function releaseIfExhausted(tx: Db, redeem: Pick<Redeem, 'giftId'>): Promise<void> {
  const gift = await giftOfRedeem(tx, redeem);
  if (gift.holdId === null || gift.totalRedeems < gift.maxRedeems) return;
  const open = await tx.one(sql`select from gift_redeems where gift_id = ${gift.id} and ${openRedeem} limit 1`);
  if (!open) await releaseRemainder(tx, gift);
}

export const BRIDGE_TASK = 'bridge-redeem';

export function bridgeJob(redeemId: string, organizationId = currentTenant()): NewJob {
  return { task: BRIDGE_TASK, payload: { redeemId }, key: redeemId, tenant: organizationId };
}

/** Notifications are lost with their connection. */
const POLL_MS = 1_000;

/** Requests that wait for a redeem to change. They hold no database connection, and look together. */
export class RedeemWaiters extends Waiters {
  readonly #now: () => number;
  readonly #wanted = new Map<string, PromiseWithResolvers<Redeem | undefined>>();
  #stopped = false;

  constructor(now: () => number = () => performance.now()) {
    super();
    this.#now = now;
  }

  stop(): void {
    this.#stopped = true;
    this.notifyAll();
  }

  /** `isNew`: stored a moment ago, so there is nothing to see yet. */
  until(
    reads: Reads,
    id: string,
    isEnough: (redeem: Redeem) => boolean,
    timeoutMs: number,
    isNew = false,
  ): Promise<Redeem> {
    const deadline = this.#now() + timeoutMs;
    return this.waiting(id, async (wakeup) => {
      if (isNew && wakeup && !this.#stopped) await wakeup.wait(Math.min(POLL_MS, timeoutMs));
      for (;;) {
        const redeem = await this.#find(reads, id);
        if (!redeem) throw new Error(`Redeem ${id} is gone.`);
        const leftMs = deadline - this.#now();
        if (isEnough(redeem) || !wakeup || this.#stopped || leftMs <= 0) return redeem;
        await wakeup.wait(Math.min(POLL_MS, leftMs));
      }
    });
  }

  /** A payout wakes all its requests at once: their looks are one statement. */
  #find(reads: Reads, id: string): Promise<Redeem | undefined> {
    const wanted = this.#wanted.get(id) ?? Promise.withResolvers<Redeem | undefined>();
    if (this.#wanted.size === 0) setImmediate(() => void this.#look(reads));
    this.#wanted.set(id, wanted);
    return wanted.promise;
  }

  async #look(reads: Reads): Promise<void> {
    const wanted = new Map(this.#wanted);
    this.#wanted.clear();
    try {
      const found = await reads.rows<Redeem>(sql`
        select ${redeemColumns} from gift_redeems where id = any(${[...wanted.keys()]})`);
      const byId = new Map(found.map((redeem) => [redeem.id, redeem]));
      for (const [id, { resolve }] of wanted) resolve(byId.get(id));
    } catch (error) {
      for (const { reject } of wanted.values()) reject(error);
    }
  }
}
