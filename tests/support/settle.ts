import { expect } from 'vitest';
import { compareRelays } from './audit-wallets.ts';
import { eventually } from './eventually.ts';
import { hasEnded, isStuck, type RedeemRow, redeemRows } from './redeem-rows.ts';
import type { SolanaGifts } from './solana.ts';

/** Renewals of attestations come after five and thirty seconds, sweeps every fifteen and sixty, and the machine may be busy. */
const SETTLE_MS = 240_000;

/** Waits until every redeem has ended and the chain says of every transaction what is stored of it. */
export async function giftsSettled(gifts: SolanaGifts): Promise<RedeemRow[]> {
  // What reverted is paid again once that stands on L1; nothing is reorganised any more, so it may stand there soon.
  await gifts.sandbox.ask('/starknet/block-time', { seconds: 0, l1AfterBlocks: 1 });
  const open = async () => {
    await gifts.sandbox.ask('/starknet/mine', { blocks: 1 });
    const rows = await openRedeems(gifts);
    return rows.length > 0 ? rows : openRelays(gifts);
  };
  expect(await eventually<object[]>(open, (rows) => rows.length === 0, SETTLE_MS)).toEqual([]);
  return redeemRows(gifts.service.database.db);
}

async function openRedeems(gifts: SolanaGifts): Promise<RedeemRow[]> {
  const rows = await redeemRows(gifts.service.database.db);
  const isUnpaid = ({ chain, status, relay }: RedeemRow) =>
    chain === 'starknet' && status === 'SUCCESS' && relay !== 'SUCCEEDED';
  return rows.filter((row) => !hasEnded(row) || isUnpaid(row));
}

/** Under way, or ended otherwise than the chain says: a reorganisation that nobody has noticed yet. */
async function openRelays({ service, sandbox }: SolanaGifts): Promise<object[]> {
  const compared = await compareRelays(service.database.db, sandbox);
  return compared.filter(({ state, chain }) => state !== chain);
}

/** What the operator does about redeems that failed after their burn, once the bridge is well again. Answers how many there were. */
export async function resumeStuck(gifts: SolanaGifts): Promise<number> {
  const stuck = (await redeemRows(gifts.service.database.db)).filter(isStuck);
  for (const { id } of stuck) await gifts.resume(id);
  return stuck.length;
}
