import { type Db, sql } from '@svc/store';
import { expect } from 'vitest';
import { auditLedger } from '../../packages/server/testing/ledger.ts';
import { auditRelays } from './audit-wallets.ts';
import { mintedOnSolana, type Paid, paidByManager } from './gift-payments.ts';
import { type RedeemRow, redeemRows } from './redeem-rows.ts';
import type { SolanaGifts } from './solana.ts';

/**
 * Once everything has ended: every redeem that succeeded was paid exactly once and in full, every other one not at all, nobody else
 * got anything, and places, shares, holds, balances and nonces say the same.
 */
export async function auditGifts(gifts: SolanaGifts, managerBefore: bigint): Promise<void> {
  const { db } = gifts.service.database;
  const rows = await redeemRows(db);
  const paid = await paidByManager(gifts.sandbox);
  expect(rows.filter(({ status }) => status !== 'SUCCESS' && status !== 'FAILED')).toEqual([]);
  expectPaidOnStarknet(rows, paid);
  expectBurned(rows, paid);
  await expectMinted(db, rows);
  expect(managerBefore - (await gifts.ofManager())).toBe(sumOf(paid.map(({ amount }) => amount)));
  await expectPlaces(db, rows);
  await expectShares(db, rows);
  expect(await auditLedger(db)).toEqual([]);
  await auditRelays(db, gifts.sandbox);
}

export const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n);

const isPaid = ({ status }: RedeemRow) => status === 'SUCCESS';

/** By wallet, so that one who has two redeems and is paid for one of them twice is seen. */
function expectPaidOnStarknet(rows: readonly RedeemRow[], paid: readonly Paid[]): void {
  const redeems = rows.filter(({ chain }) => chain === 'starknet');
  for (const address of new Set(redeems.map((row) => row.address))) {
    const own = redeems.filter((row) => row.address === address);
    const got = paid.filter(({ to }) => to === BigInt(address)).map(({ amount }) => amount);
    expect({ own, got }).toEqual({ own, got: own.filter(isPaid).map(({ amount }) => amount) });
  }
}

/** One that was attested is minted whatever becomes of its burn, so what burned is told by its transaction's own end. */
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

/** The whole amount arrives, and what the bridge leaves of its ceiling, never more. */
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

/** A place for each that was paid, in its gift and for its wallet. */
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

/** A share was spent for each that was paid, out of its hold, and nothing else; a hold that no gift draws on is closed. */
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
