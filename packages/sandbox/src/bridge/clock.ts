import { type Reads, sql } from '@svc/store';

/** Solana makes five slots in two seconds. */
const SLOTS = 5;
const SLOT_SECONDS = 2;
/** When slots began to be counted here, so that their numbers have the size of live ones. */
const FIRST_SLOT_TIME = 1_600_000_000;
/** Slot 0 would mean that an attestation never expires. */
const FIRST_SLOT = 2;

/** The chain's time in whole seconds: the real one, moved by time travel. */
export async function chainSeconds(reads: Reads, now: () => number): Promise<number> {
  const row = await reads.one<{ time_offset_seconds: bigint }>(sql`select time_offset_seconds from sandbox.chain`);
  return Math.floor(now() / 1_000) + Number(row?.time_offset_seconds ?? 0n);
}

/** The height of the sandbox's Solana at a second of the chain's time. */
export function slotAt(seconds: number): bigint {
  const slot = Math.floor(((seconds - FIRST_SLOT_TIME) * SLOTS) / SLOT_SECONDS);
  return BigInt(Math.max(slot, FIRST_SLOT));
}
