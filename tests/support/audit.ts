import { selector, toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import { expect } from 'vitest';
import { findBrokenInvariants } from '../../packages/server/testing/ledger.ts';
import type { Receiver } from '../../packages/server/testing/receiver.ts';
import { eventually } from './eventually.ts';
import type { GiftFixture, RedeemChain } from './gifts.ts';
import type { Sandbox } from './sandbox.ts';
import { USDC } from './starknet-client.ts';

export interface RedeemRow {
  readonly id: string;
  readonly gift: string;
  readonly organization: string;
  readonly chain: RedeemChain;
  readonly address: string;
  readonly status: string;
  readonly reason: string | null;
  readonly amount: bigint;
  readonly share: bigint;
  readonly hold: string;
  readonly hash: string | null;
  /** The state of the payout or burn. */
  readonly relay: string | null;
  /** The amount and the ceiling of the bridge's fee. */
  readonly burns: bigint;
  readonly burned: boolean;
  /** Burned after it had failed, and not yet paid. */
  readonly late: boolean;
}

export function redeemRows(db: Db): Promise<RedeemRow[]> {
  return db.rows<RedeemRow>(sql`
    select redeem.id, gift_id as gift, redeem.organization_id as organization, destination_chain as chain, address, status, reason,
           amount_micros as amount, share_micros as share, hold_id as hold, transaction_hash as hash, relays.state as relay,
           amount_micros + coalesce((bridge ->> 'maxFee')::bigint, 0) as burns,
           bridge ->> 'burnedAt' is not null as burned, coalesce((bridge ->> 'late')::boolean, false) as late
      from gift_redeems as redeem left join relays on relays.id = relay_id
     order by redeem.created_at, redeem.id`);
}

export const hasEnded = ({ status, late }: RedeemRow): boolean =>
  status === 'SUCCESS' || (status === 'FAILED' && !late);

/** Failed after its burn: the operator resumes it. */
export const isStuck = (row: RedeemRow): boolean => row.status === 'FAILED' && row.burned && !row.late;

/** The largest page of a node. */
const PAGE = 1_024;

export interface Paid {
  readonly hash: string;
  readonly to: bigint;
  readonly amount: bigint;
}

interface EventPage {
  readonly events: readonly { transaction_hash: string; keys: string[]; data: string[] }[];
  readonly continuation_token?: string;
}

/** Burns included. */
export async function paidByManager(sandbox: Sandbox): Promise<Paid[]> {
  const { address } = await sandbox.account('manager');
  const filter = {
    address: USDC,
    keys: [[toHex(selector('Transfer'))], [address]],
    from_block: { block_number: 0 },
    to_block: 'latest',
    chunk_size: PAGE,
  };
  const all: Paid[] = [];
  let token: string | undefined;
  do {
    const { result } = await sandbox.rpc('getEvents', [{ ...filter, ...(token && { continuation_token: token }) }]);
    const page = result as EventPage;
    for (const { transaction_hash, keys, data } of page.events) {
      all.push({ hash: transaction_hash, to: BigInt(keys[2] ?? 0), amount: BigInt(data[0] ?? 0) });
    }
    token = page.continuation_token;
  } while (token !== undefined);
  return all;
}

export interface Minted {
  readonly owner: string;
  readonly amount: bigint;
}

export function mintedOnSolana(db: Db): Promise<Minted[]> {
  return db.rows<Minted>(sql`
    select owner, amount::bigint as amount
      from sandbox.solana_transactions join sandbox.solana_accounts using (token_account)`);
}

const SETTLE_MS = 60_000;

export async function settled(db: Db, limitMs = SETTLE_MS): Promise<void> {
  const open = () =>
    db.rows<object>(sql`
      select id, account, nonce, state, hash from relays where state in ('STORED', 'SENT')
      union all
      select id, null, null, status, transaction_hash from transactions where status in ('PENDING', 'PROCESSING')`);
  expect(await eventually(open, (rows) => rows.length === 0, limitMs)).toEqual([]);
}

interface NonceRow {
  readonly account: string;
  readonly nonces: bigint[];
  readonly next_nonce: bigint;
}

/** Every nonce was used once, without a gap, and every relay is stored as the chain shows it. */
export async function auditRelays(db: Db, sandbox: Pick<Sandbox, 'rpc'>): Promise<void> {
  const accounts = await db.rows<NonceRow>(sql`
    select account, array_agg(nonce order by nonce) as nonces, next_nonce
      from relays join relayer_accounts on address = account and relayer_accounts.chain_id = relays.chain_id
     group by account, next_nonce`);
  for (const { account, nonces, next_nonce } of accounts) {
    const first = nonces[0] ?? 0n;
    expect(nonces).toEqual(nonces.map((_, index) => first + BigInt(index)));
    expect(next_nonce).toBe(first + BigInt(nonces.length));
    const { result } = await sandbox.rpc('getNonce', ['latest', account]);
    expect(BigInt(String(result))).toBe(next_nonce);
  }
  for (const { id, state, chain } of await compareRelays(db, sandbox)) {
    expect({ id, state, chain }).toEqual({ id, state, chain: state });
  }
}

interface Compared {
  readonly id: string;
  readonly state: string;
  /** As the chain shows it. */
  readonly chain: string | undefined;
}

/** A voided relay keeps its hash; on the chain its nonce is used by a filler. */
export async function compareRelays(db: Db, sandbox: Pick<Sandbox, 'rpc'>): Promise<Compared[]> {
  const relays = await db.rows<{ id: string; state: string; hashes: string[] }>(sql`
    select id, state, case when state = 'VOIDED'
             then array(select hash from relay_attempts where relay_id = relays.id and kind = 'FILLER')
             else array[hash] end as hashes
      from relays`);
  return Promise.all(
    relays.map(async ({ id, state, hashes }) => {
      const found = await Promise.all(hashes.map((hash) => executionOf(sandbox, hash)));
      const chain = found.find((status) => status !== undefined);
      return { id, state, chain: state === 'VOIDED' && chain !== undefined ? 'VOIDED' : chain };
    }),
  );
}

async function executionOf(sandbox: Pick<Sandbox, 'rpc'>, hash: string): Promise<string | undefined> {
  const { result } = await sandbox.rpc('getTransactionReceipt', [hash]);
  return ((result ?? {}) as { execution_status?: string }).execution_status;
}

/** Every successful redeem was paid once and in full, nothing else was paid, and places, shares, holds and nonces agree. */
export async function auditGifts(gifts: GiftFixture, managerBefore: bigint): Promise<void> {
  const { db } = gifts.service.database;
  const rows = await redeemRows(db);
  const paid = await paidByManager(gifts.sandbox);
  expect(rows.filter(({ status }) => status !== 'SUCCESS' && status !== 'FAILED')).toEqual([]);
  expectPaidOnStarknet(rows, paid);
  expectBurned(rows, paid);
  await expectMinted(db, rows);
  expect(managerBefore - (await gifts.managerBalance())).toBe(sumOf(paid.map(({ amount }) => amount)));
  await expectPlaces(db, rows);
  await expectShares(db, rows);
  expect(await findBrokenInvariants(db)).toEqual([]);
  await auditRelays(db, gifts.sandbox);
}

export const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n);

const isPaid = ({ status }: RedeemRow) => status === 'SUCCESS';

/** By wallet: finds one of two redeems paid twice. */
function expectPaidOnStarknet(rows: readonly RedeemRow[], paid: readonly Paid[]): void {
  const redeems = rows.filter(({ chain }) => chain === 'starknet');
  for (const address of new Set(redeems.map((row) => row.address))) {
    const own = redeems.filter((row) => row.address === address);
    const got = paid.filter(({ to }) => to === BigInt(address)).map(({ amount }) => amount);
    expect({ own, got }).toEqual({ own, got: own.filter(isPaid).map(({ amount }) => amount) });
  }
}

/** An attested redeem is minted even if its burn is lost, so the burn's own relay says what burned. */
function expectBurned(rows: readonly RedeemRow[], paid: readonly Paid[]): void {
  const redeems = rows.filter(({ chain }) => chain === 'solana');
  let burns = 0;
  for (const row of redeems) {
    const taken = row.hash === null ? [] : paid.filter(({ hash }) => hash === row.hash).map(({ amount }) => amount);
    expect({ row, taken }).toEqual({ row, taken: row.relay === 'SUCCEEDED' ? [row.burns] : [] });
    expect({ row, burned: row.burned }).toEqual({ row, burned: isPaid(row) });
    burns += taken.length;
  }
  const wallets = new Set(rows.filter(({ chain }) => chain === 'starknet').map(({ address }) => BigInt(address)));
  expect(paid.filter(({ to }) => !wallets.has(to))).toHaveLength(burns);
}

/** At least the amount, at most what burned. */
async function expectMinted(db: Db, rows: readonly RedeemRow[]): Promise<void> {
  const redeems = rows.filter(({ chain }) => chain === 'solana');
  const minted = await mintedOnSolana(db);
  for (const row of redeems) {
    const [got, ...others] = minted.filter(({ owner }) => owner === row.address);
    expect({ row, others, isMinted: got !== undefined }).toEqual({ row, others: [], isMinted: isPaid(row) });
    if (got) expect(got.amount >= row.amount && got.amount <= row.burns, `${row.id}: ${got.amount}`).toBe(true);
  }
  expect(minted).toHaveLength(redeems.filter(isPaid).length);
}

async function expectPlaces(db: Db, rows: readonly RedeemRow[]): Promise<void> {
  const gifts = await db.rows<{ id: string; total: number; redeemed: bigint }>(sql`
    select id, total_redeems as total, redeemed_micros as redeemed from gifts`);
  for (const gift of gifts) {
    const own = rows.filter((row) => row.gift === gift.id && isPaid(row));
    expect(gift).toEqual({ id: gift.id, total: own.length, redeemed: sumOf(own.map(({ amount }) => amount)) });
  }
  const users = await db.rows<{ gift: string; address: string; redeems: number }>(sql`
    select gift_id as gift, address, redeems from gift_users`);
  for (const user of users) {
    const own = rows.filter((row) => row.gift === user.gift && row.address === user.address && isPaid(row));
    expect(user).toEqual({ ...user, redeems: own.length });
  }
}

/** One share is spent for each paid redeem, and unused holds are closed. */
async function expectShares(db: Db, rows: readonly RedeemRow[]): Promise<void> {
  const settled = await db.rows<{ id: string; hold: string; share: bigint }>(sql`
    select reference as id, hold_id as hold, amount_micros as share from ledger_entries where type = 'SETTLE'`);
  const shares = rows.filter(isPaid).map(({ id, hold, share }) => ({ id, hold, share }));
  expect(settled.sort(byId)).toEqual(shares.sort(byId));
  const balances = await db.rows<{ organization: string; spent: bigint }>(sql`
    select organization_id as organization, sum(spent)::bigint as spent from ledger_balances group by organization_id`);
  for (const { organization, spent } of balances) {
    const own = rows.filter((row) => row.organization === organization && isPaid(row));
    expect({ organization, spent }).toEqual({ organization, spent: sumOf(own.map(({ share }) => share)) });
  }
  const holds = await db.rows<{ id: string; status: string; released: bigint; drawn: boolean }>(sql`
    select id, status, released_micros as released, exists (select from gifts where hold_id = ledger_holds.id) as drawn
      from ledger_holds`);
  for (const { id, status, released, drawn } of holds) {
    expect({ id, status, released }).toEqual(
      drawn ? { id, status: 'OPEN', released: 0n } : { id, status: 'CLOSED', released },
    );
  }
}

const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);

interface Told {
  readonly type: string;
  readonly data: { readonly id?: string; readonly status?: string };
}

export function eventTypesOf({ received }: Pick<Receiver, 'received'>, id: string): ReadonlySet<string> {
  const told = received.map(({ body }) => JSON.parse(body) as Told);
  return new Set(told.filter(({ data }) => data.id === id).map(({ type }) => type));
}

interface Audited {
  readonly id: string;
  readonly status: string;
  readonly reference: string;
  readonly refund: string | null;
  readonly file: string | null;
  /** Of the provider's ledger; null where it has no such order. */
  readonly state: string | null;
  readonly delivered: number | null;
  readonly delivered_file: string | null;
  readonly events: string[];
  readonly uses: number;
}

/** The provider has one order for each purchase, every payment was used once, and every event was delivered. */
export async function expectOnceEach(db: Db, receiver: Receiver, limitMs: number): Promise<void> {
  const purchases = await db.rows<Audited>(sql`
    select t.id, t.status, t.sku_reference as reference, t.refund_status as refund, t.sku_file_number as file, o.state,
           o.delivered, o.file_number as delivered_file,
           array(select type from events where subject = t.id order by type) as events,
           (select count(*)::integer from used_payments u where u.reference = t.id and purpose = 'purchase') as uses
      from transactions t left join sandbox.provider_orders o on o.order_id = t.id
     where t.type = 'SKU_PURCHASE' order by t.id`);
  for (const purchase of purchases) expect(purchase).toEqual(expectedEnd(purchase));
  const strangers = await db.rows(sql`
    select order_id from sandbox.provider_orders
     where not exists (select from transactions where id = order_id and type = 'SKU_PURCHASE')`);
  expect(strangers).toEqual([]);
  const untold = async () =>
    purchases.filter(({ id, events }) => !events.every((type) => eventTypesOf(receiver, id).has(type)));
  expect(await eventually(untold, (left) => left.length === 0, limitMs)).toEqual([]);
}

function expectedEnd(purchase: Audited): Audited {
  const isRefused = purchase.reference.endsWith('0000');
  const end = isRefused
    ? { status: 'FAILED', refund: 'DUE', file: null, state: 'failed', delivered: 0, delivered_file: null }
    : { status: 'SUCCESS', refund: null, state: 'completed', delivered: 1, delivered_file: purchase.file };
  const told = isRefused ? 'sku-purchase.failed' : 'sku-purchase.completed';
  return { ...purchase, ...end, events: [told, 'sku-purchase.processing'], uses: 1 };
}

/** Attestations are renewed after 5 and 30 seconds, sweeps run every 15 and 60; the machine may be busy. */
const GIFTS_SETTLE_MS = 240_000;

export async function giftsSettled(gifts: GiftFixture): Promise<RedeemRow[]> {
  // A reverted payout is repeated once its block is accepted on L1.
  await gifts.sandbox.ask('/starknet/block-time', { seconds: 0, l1AfterBlocks: 1 });
  const open = async () => {
    await gifts.sandbox.ask('/starknet/mine', { blocks: 1 });
    const rows = [...(await forkedCursors(gifts)), ...(await openRedeems(gifts))];
    return rows.length > 0 ? rows : openRelays(gifts);
  };
  expect(await eventually<object[]>(open, (rows) => rows.length === 0, GIFTS_SETTLE_MS)).toEqual([]);
  return redeemRows(gifts.service.database.db);
}

/** A reorganisation that the indexer has not seen yet will open relays again. */
async function forkedCursors({ service, sandbox }: GiftFixture): Promise<object[]> {
  const cursors = await service.database.db.rows<{ number: string; hash: string }>(sql`
    select block_number::text as number, block_hash as hash from followed_chains`);
  const compared = await Promise.all(
    cursors.map(async (cursor) => {
      const { result } = await sandbox.rpc('getBlockWithTxHashes', [{ block_number: Number(cursor.number) }]);
      return { ...cursor, chain: ((result ?? {}) as { block_hash?: string }).block_hash };
    }),
  );
  return compared.filter(({ hash, chain }) => hash !== chain);
}

async function openRedeems(gifts: GiftFixture): Promise<RedeemRow[]> {
  const rows = await redeemRows(gifts.service.database.db);
  const isUnpaid = ({ chain, status, relay }: RedeemRow) =>
    chain === 'starknet' && status === 'SUCCESS' && relay !== 'SUCCEEDED';
  return rows.filter((row) => !hasEnded(row) || isUnpaid(row));
}

/** Open, or stored otherwise than the chain shows it. */
async function openRelays({ service, sandbox }: GiftFixture): Promise<object[]> {
  const compared = await compareRelays(service.database.db, sandbox);
  return compared.filter(({ state, chain }) => state !== chain);
}

export async function resumeStuck(gifts: GiftFixture): Promise<number> {
  const stuck = (await redeemRows(gifts.service.database.db)).filter(isStuck);
  for (const { id } of stuck) await gifts.resume(id);
  return stuck.length;
}
