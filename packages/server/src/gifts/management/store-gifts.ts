import { ApiError } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { newId } from '../../ids.ts';
import type { LedgerOwner } from '../../ledger/entries.ts';
import { holdMany } from '../../ledger/hold-many.ts';
import type { GiftRecord } from '../gift.ts';
import { shareOf } from '../shares.ts';
import { codeKey, randomCode } from './code.ts';

type Made = Exclude<
  keyof GiftRecord,
  'id' | 'organizationId' | 'environment' | 'totalRedeems' | 'redeemed' | 'holdId' | 'deletedAt'
>;

/** A gift to be made; without a code it gets one. */
export type NewGift = Pick<GiftRecord, Exclude<Made, 'code'>> & { readonly code: string | undefined };
export type StoredGift = NewGift & Pick<GiftRecord, 'id' | 'code'>;

/** Of so many codes by chance that one exists already happens once in a lifetime; a generator that repeats itself is stopped. */
const MAX_ATTEMPTS = 5;

/**
 * Stores gifts and takes a hold for each: all of them, or none and `gift_code_taken` or `insufficient_credits`, which end the
 * transaction. Answers them in the order given.
 */
export async function storeGifts(
  tx: Db,
  owner: LedgerOwner,
  gifts: readonly NewGift[],
  newCode: () => string = randomCode,
): Promise<StoredGift[]> {
  const stored = await insertWithCodes(tx, owner, gifts, newCode);
  const holds = await holdMany(
    tx,
    owner,
    stored.map((gift) => ({ amount: shareOf(gift) * BigInt(gift.maxRedeems), reference: gift.id })),
  );
  const ids = stored.map(({ id }) => id);
  await tx.run(sql`
    update gifts set hold_id = held.hold_id
      from unnest(${ids}::text[], ${holds}::text[]) as held (id, hold_id)
     where gifts.id = held.id`);
  return stored;
}

async function insertWithCodes(
  tx: Db,
  owner: LedgerOwner,
  gifts: readonly NewGift[],
  newCode: () => string,
): Promise<StoredGift[]> {
  const used = usedCodes(gifts);
  const named = (gift: NewGift): StoredGift => ({
    ...gift,
    id: newId('gift'),
    code: gift.code ?? freeCode(used, newCode),
  });
  const places = gifts.map(named);
  let waiting = [...places.keys()];
  for (let attempt = 1; waiting.length > 0; attempt++) {
    if (attempt > MAX_ATTEMPTS) throw new Error('No free gift codes were found.');
    const inserted = await insert(
      tx,
      owner,
      waiting.flatMap((place) => places[place] ?? []),
    );
    waiting = waiting.filter((place) => !inserted.has(places[place]?.id ?? ''));
    for (const place of waiting) {
      const gift = gifts[place];
      if (gift) places[place] = gift.code === undefined ? named(gift) : taken(gift.code);
    }
  }
  return places;
}

/** The codes that were asked for, provided that none was asked for twice. */
function usedCodes(gifts: readonly NewGift[]): Set<string> {
  const used = new Set<string>();
  for (const { code } of gifts) {
    if (code === undefined) continue;
    if (used.has(codeKey(code))) throw new ApiError('gift_code_taken', `The gift code ${code} is there twice.`);
    used.add(codeKey(code));
  }
  return used;
}

function freeCode(used: Set<string>, newCode: () => string): string {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const code = newCode();
    if (used.has(codeKey(code))) continue;
    used.add(codeKey(code));
    return code;
  }
  throw new Error('No free gift codes were found.');
}

function taken(code: string): never {
  throw new ApiError('gift_code_taken', `The gift code ${code} exists already. Choose another.`);
}

/** Answers the ids of those whose code was free. In the order of codes, so that two transactions never wait for each other. */
async function insert(
  tx: Db,
  { organizationId, environment }: LedgerOwner,
  gifts: readonly StoredGift[],
): Promise<ReadonlySet<string>> {
  const rows = JSON.stringify(gifts, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  const inserted = await tx.rows<{ id: string }>(sql`
    insert into gifts (
      id, organization_id, environment, code, name, type, amount_micros, gas_micros, bridge_micros, max_redeems,
      max_redeems_per_user, starts_at, expires_at, is_active, cctp_fast, recipient_email, campaign_name)
    select id, ${organizationId}, ${environment}, code, name, type, amount, gas, bridge, "maxRedeems",
           "maxRedeemsPerUser", "startsAt", "expiresAt", "isActive", "cctpFast", "recipientEmail", "campaignName"
      from jsonb_to_recordset(${rows}::jsonb) as gift (
        id text, code text, name text, type text, amount bigint, gas bigint, bridge bigint, "maxRedeems" integer,
        "maxRedeemsPerUser" integer, "startsAt" timestamptz, "expiresAt" timestamptz, "isActive" boolean,
        "cctpFast" boolean, "recipientEmail" text, "campaignName" text)
     order by lower(code)
    on conflict (code_key) do nothing
    returning id`);
  return new Set(inserted.map(({ id }) => id));
}
