import { formatUsd, type RedeemChain, type UsdMicros } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, type Reads, sql } from '@svc/store';
import { type OperatorName, operatorOf, recordChange } from '../audit-log.ts';
import { ownerOfBurn } from '../bridge/cctp-message.ts';
import { addressOf } from '../chains/starknet/chain.ts';
import { enqueue } from '../jobs/job.ts';
import type { FoundPayment } from '../relayer/payer.ts';
import type { ImportedTransaction, NamedPayment, PaymentImporter, Unmatched } from '../relayer/reconcile-accounts.ts';
import { newId } from '../util/ids.ts';
import { addFacts, type BridgedRedeem, type BridgeFacts, burnPurpose, lockBridged } from './bridge-redeem.ts';
import { type GiftRecord, giftColumns, shareOfRedeem } from './gift.ts';
import { requeueRedeems } from './payout-store.ts';
import {
  bridgeJob,
  failRedeem,
  findRedeem,
  giftOfRedeem,
  REDEEMS_CHANNEL,
  type Redeem,
  redeemColumns,
  resumptions,
} from './redeem.ts';

export type Resumption =
  | { readonly ok: true; readonly status: BridgedRedeem['status']; readonly burn: string | null }
  | { readonly ok: false; readonly isMissing?: true; readonly reason: string };

/** Restarts all timeouts. The share is spent already and is not charged again. */
export async function resumeRedeem(tx: Db, id: string, operator?: OperatorName): Promise<Resumption> {
  const redeem = await lockBridged(tx, sql`id = ${id}`);
  if (!redeem) return { ok: false, isMissing: true, reason: 'No redeem to Solana has this id.' };
  const refusal = refusalOf(redeem);
  if (refusal !== undefined) return { ok: false, reason: refusal };
  const status = await sendOn(tx, redeem);
  await enqueue(tx, bridgeJob(id, redeem.organizationId));
  await tx.run(sql`select pg_notify(${REDEEMS_CHANNEL}, ${id})`);
  await recordChange(tx, operatorOf(redeem.organizationId, redeem.environment, operator), {
    action: 'gift-redeem.resumed',
    target: id,
    changes: { status },
  });
  return { ok: true, status, burn: redeem.transactionHash };
}

function refusalOf({ status, facts }: BridgedRedeem): string | undefined {
  if (resumptions[status].length === 0) return `This redeem is ${status}; only one that failed can be resumed.`;
  if (typeof facts.burnedAt === 'string') return undefined;
  return 'Nothing was burned for this redeem, and its share was given back. The code can be redeemed again.';
}

async function sendOn(tx: Db, redeem: BridgedRedeem): Promise<BridgedRedeem['status']> {
  const { id, holdId, facts } = redeem;
  const row = await tx.one<{ now: Date; settled: boolean }>(sql`
    select now() as now, exists (
      select from ledger_entries where hold_id = ${holdId} and type = 'SETTLE' and reference = ${id}) as settled`);
  const since = (row?.now ?? new Date()).toISOString();
  // Burned after its share was released: it keeps its status until the mint.
  if (!row?.settled) {
    await addFacts(tx, id, { since, renewals: 0, late: true });
    return redeem.status;
  }
  const to = facts.message === undefined ? 'BRIDGING' : 'ATTESTED';
  await tx.run(sql`
    update gift_redeems set status = ${to}, spent = true, reason = null where id = ${id} and status = 'FAILED'`);
  await addFacts(tx, id, { since, renewals: 0 });
  return to;
}

export interface StuckRedeem extends Redeem {
  readonly organizationName: string;
  readonly burnedAt: string;
}

export const isStuck = sql`
  destination_chain = 'solana' and status = 'FAILED' and bridge ->> 'burnedAt' is not null
  and coalesce(bridge ->> 'late', 'false') = 'false'`;

/** Burned on Starknet, failed, and not resumed since: one that was burned late keeps its status until the mint. */
export function stuckRedeems(reads: Reads, limit: number): Promise<StuckRedeem[]> {
  return reads.rows<StuckRedeem>(sql`
    select stuck.*, organizations.name as "organizationName"
      from (select ${redeemColumns}, bridge ->> 'burnedAt' as "burnedAt" from gift_redeems
             where ${isStuck}) as stuck
      join organizations on organizations.id = stuck."organizationId"
     order by stuck."burnedAt", stuck.id limit ${limit}`);
}

export async function countStuckRedeems(reads: Reads): Promise<number> {
  const row = await reads.one<{ count: number }>(sql`
    select count(*)::integer as count from gift_redeems where ${isStuck}`);
  return row?.count ?? 0;
}

/** Payouts and burns that the chain has and the database does not know, such as after a restore. */
export const giftImporters: Readonly<Record<'payout' | 'burn', PaymentImporter>> = {
  payout: {
    purpose: async (_, { hash }) => `payout imported ${toHex(hash)}`,
    attach: (tx, relayId, imported) => attachAll(tx, relayId, imported, attachPayout),
    release: async (tx, relayId) => void (await requeueRedeems(tx, relayId)),
  },
  burn: {
    purpose: async (_, { payments: [payment] }) => burnPurpose(payment?.marker?.id ?? ''),
    attach: (tx, relayId, imported) => attachAll(tx, relayId, imported, attachBurn),
    // The outcome of a burn that was never executed has given the redeem back.
    release: async () => {},
  },
};

interface Payment extends FoundPayment {
  readonly redeemId: string;
  readonly gift: GiftRecord | undefined;
}

/** Undefined where the payment belongs to the redeem now; else the reason why not. */
type Attach = (tx: Db, relayId: string, imported: ImportedTransaction, payment: Payment) => Promise<string | undefined>;

async function attachAll(
  tx: Db,
  relayId: string,
  imported: ImportedTransaction,
  attach: Attach,
): Promise<readonly Unmatched[]> {
  const gifts = await lockGifts(tx, imported);
  const unmatched: Unmatched[] = [];
  for (const payment of imported.payments) {
    const { marker } = payment;
    if (!marker) {
      unmatched.push({ payment, reason: 'It names no redeem.' });
      continue;
    }
    const found = { ...payment, redeemId: marker.id, gift: gifts.get(marker.giftId ?? '') };
    const reason = await attach(tx, relayId, imported, found);
    if (reason !== undefined) unmatched.push({ payment, reason });
  }
  return unmatched;
}

/** In the order of everything that locks gifts. */
async function lockGifts(
  tx: Db,
  { payments, environment }: ImportedTransaction,
): Promise<ReadonlyMap<string, GiftRecord>> {
  const ids = payments.flatMap(({ marker }) => marker?.giftId ?? []);
  const gifts = await tx.rows<GiftRecord>(sql`
    select ${giftColumns} from gifts where id = any(${ids}) and environment = ${environment}
     order by id for no key update`);
  return new Map(gifts.map((gift) => [gift.id, gift]));
}

const attachPayout: Attach = async (tx, relayId, imported, { redeemId, gift, to, amount }) => {
  const known = await findStored(tx, redeemId);
  if (known && (BigInt(known.address) !== to || known.amount !== amount)) {
    return `Redeem ${redeemId} has another address or amount.`;
  }
  if (known?.relayId === relayId) return undefined;
  const paid = known && (await paidElsewhere(tx, known));
  if (paid !== undefined) return `Redeem ${redeemId} is paid by ${paid} already.`;
  if (!known) {
    if (!imported.executed) return undefined;
    const reason = unknownGift(redeemId, gift, amount);
    if (!gift || reason !== undefined) return reason;
    await restoreRedeem(tx, gift, { id: redeemId, chain: 'starknet', address: addressOf(to), at: imported.at });
  }
  await tx.run(sql`
    update gift_redeems set relay_id = ${relayId}, transaction_hash = ${toHex(imported.hash)}, updated_at = now()
     where id = ${redeemId}`);
  await recordReconciled(tx, redeemId, imported);
  return undefined;
};

const attachBurn: Attach = async (tx, relayId, imported, { redeemId, gift, amount }) => {
  const known = await findStored(tx, redeemId);
  if (known?.relayId === relayId) return undefined;
  const paid = known && (await paidElsewhere(tx, known));
  if (paid !== undefined) return `Redeem ${redeemId} is burned by ${paid} already.`;
  if (!known && !imported.executed) return undefined;
  if (!gift) return unknownGift(redeemId, gift, amount);
  const owner = ownerOfBurn(imported.calls);
  const maxFee = amount - gift.amount;
  if (!owner || (known && known.address !== owner) || maxFee < 0n) {
    return `Redeem ${redeemId} has another address or amount.`;
  }
  if (!known) await restoreRedeem(tx, gift, { id: redeemId, chain: 'solana', address: owner, at: imported.at });
  const facts: BridgeFacts = { sender: toHex(imported.account), maxFee: String(maxFee), fast: gift.cctpFast };
  await tx.run(sql`
    update gift_redeems
       set status = case status when 'PENDING' then 'BRIDGING' else status end, relay_id = ${relayId},
           transaction_hash = ${toHex(imported.hash)}, bridge = ${JSON.stringify(facts)}::jsonb, updated_at = now()
     where id = ${redeemId}`);
  await recordReconciled(tx, redeemId, imported);
  return undefined;
};

interface StoredRedeem extends Redeem {
  readonly relayId: string | null;
}

function findStored(tx: Db, id: string): Promise<StoredRedeem | undefined> {
  return tx.one<StoredRedeem>(sql`
    select ${redeemColumns}, relay_id as "relayId" from gift_redeems where id = ${id} for no key update`);
}

async function paidElsewhere(tx: Db, { relayId }: StoredRedeem): Promise<string | undefined> {
  if (relayId === null) return undefined;
  const row = await tx.one<{ hash: string }>(sql`
    select hash from relays where id = ${relayId} and state = 'SUCCEEDED'`);
  return row?.hash;
}

function unknownGift(redeemId: string, gift: GiftRecord | undefined, amount: UsdMicros): string | undefined {
  if (!gift) return `Redeem ${redeemId} is of a gift that this database does not have.`;
  if (gift.amount === amount) return undefined;
  return `Redeem ${redeemId} was paid ${formatUsd(amount)} USD, and its gift is of ${formatUsd(gift.amount)}.`;
}

interface LostRedeem {
  readonly id: string;
  readonly chain: RedeemChain;
  readonly address: string;
  readonly at: Date;
}

/**
 * Stores a redeem that the database has lost. With its place in the gift it is PENDING, like before its payment. Where the gift has no
 * place or no hold left it is FAILED: a payment that is executed all the same is charged to the organisation's credits.
 */
async function restoreRedeem(tx: Db, gift: GiftRecord, { id, chain, address, at }: LostRedeem): Promise<void> {
  const hasPlace = await takePlace(tx, gift, address);
  const { organizationId, environment, amount } = gift;
  const holdId = await holdOf(tx, gift);
  await tx.run(sql`
    insert into gift_redeems (
      id, gift_id, organization_id, environment, destination_chain, address, shown_address, amount_micros, share_micros,
      hold_id, status, created_at)
    values (${id}, ${gift.id}, ${organizationId}, ${environment}, ${chain}, ${address}, ${address}, ${amount},
            ${shareOfRedeem(gift, chain)}, ${holdId}, ${hasPlace ? 'PENDING' : 'FAILED'}, ${at})`);
}

/** Without a hold of its own any more, the gift's last one. Only a gift without redeems needs a search through the ledger. */
async function holdOf(tx: Db, { id, holdId, organizationId, environment }: GiftRecord): Promise<string> {
  if (holdId !== null) return holdId;
  const used = await tx.one<{ id: string }>(sql`
    select hold_id as id from gift_redeems where gift_id = ${id} order by created_at desc limit 1`);
  if (used) return used.id;
  const first = await tx.one<{ id: string }>(sql`
    select id from ledger_entries
     where organization_id = ${organizationId} and environment = ${environment} and type = 'HOLD' and reference = ${id}
     order by number limit 1`);
  if (!first) throw new Error(`Gift ${id} has no hold.`);
  return first.id;
}

const OVERTAKEN = 'Its place in the gift belongs to a redeem that was paid before the database was restored.';

/** Redeems that came after the restore and wait for their payment give way. */
async function takePlace(tx: Db, { id }: GiftRecord, address: string): Promise<boolean> {
  // Anew: an earlier payment of the same transaction may have taken a place.
  const gift = await giftOfRedeem(tx, { giftId: id });
  await tx.run(sql`
    insert into gift_users (gift_id, address, redeems) values (${gift.id}, ${address}, 0) on conflict do nothing`);
  const full = (await redeemsOfUser(tx, gift, address)) >= gift.maxRedeemsPerUser;
  const sameUser = full ? sql`and address = ${address}` : sql``;
  if (full || gift.totalRedeems >= gift.maxRedeems) {
    const waiting = await tx.one<{ id: string }>(sql`
      select id from gift_redeems
       where gift_id = ${gift.id} and status = 'PENDING' and relay_id is null ${sameUser}
       order by (address = ${address}) desc, created_at desc, id desc limit 1`);
    if (waiting) await failRedeem(tx, waiting.id, OVERTAKEN);
  }
  const now = await giftOfRedeem(tx, { giftId: gift.id });
  const isFull = (await redeemsOfUser(tx, gift, address)) >= gift.maxRedeemsPerUser;
  if (now.holdId === null || now.totalRedeems >= now.maxRedeems || isFull) return false;
  await tx.run(sql`update gifts set total_redeems = total_redeems + 1 where id = ${gift.id}`);
  await tx.run(sql`
    update gift_users set redeems = redeems + 1 where gift_id = ${gift.id} and address = ${address}`);
  return true;
}

async function redeemsOfUser(tx: Db, gift: GiftRecord, address: string): Promise<number> {
  const row = await tx.one<{ redeems: number }>(sql`
    select redeems from gift_users where gift_id = ${gift.id} and address = ${address}`);
  return row?.redeems ?? 0;
}

async function recordReconciled(tx: Db, redeemId: string, { hash, operator }: ImportedTransaction): Promise<void> {
  const redeem = await findRedeem(tx, redeemId);
  if (!redeem) throw new Error(`Redeem ${redeemId} was not stored: its gift has no hold.`);
  const { organizationId, environment } = redeem;
  const changes = { transactionHash: toHex(hash) };
  await recordChange(tx, operatorOf(organizationId, environment, operator), {
    action: 'gift-redeem.reconciled',
    target: redeemId,
    changes,
  });
}

/** A redeem, or a gift whose redeem the database has lost. */
export async function namedGiftPayment(db: Db, id: string): Promise<NamedPayment | undefined> {
  const redeem = await findRedeem(db, id);
  const giftId = redeem?.giftId ?? id;
  const gift = await db.one<GiftRecord>(sql`select ${giftColumns} from gifts where id = ${giftId}`);
  if (!gift) return undefined;
  const kind = redeem?.destinationChain === 'solana' ? 'burn' : 'payout';
  return {
    marker: { kind, id: redeem?.id ?? newId('rdm'), giftId },
    fits: ({ to, amount }) => {
      if (kind === 'burn') return amount >= gift.amount && amount <= gift.amount + gift.bridge;
      return amount === gift.amount && (!redeem || BigInt(redeem.address) === to);
    },
  };
}
