import {
  ApiError,
  type Environment,
  type endpoints,
  formatUsd,
  type Gift,
  parseMoment,
  parseUsd,
  type UsdMicros,
  usdToNumber,
} from '@svc/protocol';
import { type Database, type Db, sql } from '@svc/store';
import { recordChange } from '../audit-log.ts';
import type { Answer, Call, Caller } from '../http/call.ts';
import { countInWindow } from '../http/limits.ts';
import { refuse } from '../http/validation.ts';
import { holdMany, type LedgerOwner } from '../ledger/ledger.ts';
import type { NewMail } from '../mail/mail.ts';
import type { Organizations } from '../organizations/organization-store.ts';
import { newId } from '../util/ids.ts';
import {
  claimUrlOf,
  codeKey,
  findGift,
  type GiftRecord,
  isExpired,
  randomCode,
  seesRecipients,
  shareOf,
  toGift,
} from './gift.ts';

export type GiftMail = NewMail<'gift'>;

export interface GiftDeps {
  readonly db: Database;
  readonly organizations: Organizations;
  readonly gas: UsdMicros;
  /** Throws `chain_not_configured` where there is none. */
  readonly manager: (environment: Environment) => unknown;
  readonly bridge: {
    /** Throws `chain_not_configured` where there is no bridge. */
    feeCeiling(environment: Environment, amount: UsdMicros, fast: boolean): Promise<UsdMicros>;
  };
  readonly queueMails: (tx: Db, mails: readonly GiftMail[]) => Promise<void>;
  readonly publicUrl: string;
  readonly chosenCodesPerMinute?: number | undefined;
  readonly now?: () => number;
  readonly newCode?: () => string;
}

type CreateGift = typeof endpoints.createGift;

export async function createGift(
  deps: GiftDeps,
  { caller, body, transact }: Call<CreateGift>,
): Promise<Answer<CreateGift>> {
  const gift = readGift(body, deps.now?.() ?? Date.now());
  deps.manager(caller.environment);
  const costs = await costsOf(deps, caller.environment, gift.amount, gift.cctpFast);
  await countChosenCodes(deps, caller, [gift]);
  return transact(async (tx): Promise<Gift> => {
    await countPublicKeyGifts(tx, caller, gift.amount * BigInt(gift.maxRedeems), deps.now);
    const [stored] = await storeGifts(tx, caller, [{ ...gift, ...costs }], deps.newCode);
    const created = await findGift(tx, caller, stored?.id ?? '');
    if (!created) throw new Error('A gift that was stored is not there.');
    const { name, type, maxRedeems, maxRedeemsPerUser, startsAt, expiresAt, isActive } = gift;
    const terms = { name, type, maxRedeems, maxRedeemsPerUser, startsAt, expiresAt, isActive };
    const changes = { amount: formatUsd(gift.amount), ...terms };
    await recordChange(tx, caller, { action: 'gift.created', target: created.id, changes });
    const shown = { code: created.code, claimUrl: claimUrlOf(deps.publicUrl, created.code) };
    return { ...toGift(created, caller, deps.publicUrl), ...shown };
  });
}

function readGift(body: Call<CreateGift>['body'], nowMs: number): Omit<NewGift, 'gas' | 'bridge'> {
  const startsAt = readMoment(body.startsAt, 'body.startsAt');
  const expiresAt = readExpiry(body.expiresAt ?? null);
  requireAfter(expiresAt, startsAt);
  if (isExpired({ expiresAt }, nowMs)) refuse('body.expiresAt', 'must be in the future');
  if (body.maxRedeemsPerUser > body.maxRedeems) refuse('body.maxRedeemsPerUser', 'must be at most maxRedeems');
  const { code, name, maxRedeems, maxRedeemsPerUser, isActive } = body;
  return {
    ...{ code, name, maxRedeems, maxRedeemsPerUser, isActive, startsAt, expiresAt },
    amount: readAmount(body.amount),
    type: body.type ?? 'GIFT_CARD',
    cctpFast: body.cctpFast ?? true,
    recipientEmail: null,
    campaignName: null,
  };
}

type CreateGiftsBulk = typeof endpoints.createGiftsBulk;

/** All gifts and mails in one transaction, or none. */
export async function createGiftsBulk(
  deps: GiftDeps,
  { caller, body, transact }: Call<CreateGiftsBulk>,
): Promise<Answer<CreateGiftsBulk>> {
  const amount = readAmount(body.amount);
  deps.manager(caller.environment);
  const costs = await costsOf(deps, caller.environment, amount, body.cctpFast ?? true);
  const organization = await deps.organizations.organization(caller.organizationId);
  if (!organization) throw new ApiError('internal_error');
  const newGifts = giftsOf(body, { amount, ...costs }, deps.now?.() ?? Date.now());
  await countChosenCodes(deps, caller, newGifts);
  return transact(async (tx) => {
    await countPublicKeyGifts(tx, caller, amount * BigInt(newGifts.length), deps.now);
    const gifts = await storeGifts(tx, caller, newGifts, deps.newCode);
    const { organizationId, environment } = caller;
    const mails = gifts.map((gift, index): GiftMail => {
      const language = body.recipients[index]?.language;
      const content = { ...contentOf(gift, organization.name, deps.publicUrl), ...(language && { language }) };
      return {
        organizationId,
        environment,
        recipient: gift.recipientEmail ?? '',
        template: 'gift',
        content,
        giftId: gift.id,
      };
    });
    await deps.queueMails(tx, mails);
    const totalHeldUsd = usdToNumber(gifts.reduce((sum, gift) => sum + shareOf(gift), 0n));
    const summary = { created: gifts.length, campaignName: body.name, totalHeldUsd };
    const changes = { ...summary, amount: formatUsd(amount) };
    await recordChange(tx, caller, { action: 'gift.bulk-created', changes });
    return {
      ...summary,
      gifts: mails.map(({ recipient, content: { code, claimUrl } }) => ({
        code,
        email: seesRecipients(caller) ? recipient : '',
        claimUrl,
      })),
    };
  });
}

/** `gift_code_taken` shows that a code exists, also in another organisation: without a limit codes could be guessed that way. */
async function countChosenCodes(
  { db, chosenCodesPerMinute }: GiftDeps,
  { organizationId }: Caller,
  gifts: readonly Pick<NewGift, 'code'>[],
): Promise<void> {
  const chosen = gifts.filter(({ code }) => code !== undefined).length;
  if (chosen === 0 || chosenCodesPerMinute === undefined) return;
  await countInWindow(db, `chosen codes ${organizationId}`, chosen, chosenCodesPerMinute);
}

/** Under the lock of the day's row, so that concurrent requests cannot pass the limit together. */
export async function countPublicKeyGifts(tx: Db, caller: Caller, amount: UsdMicros, now = Date.now): Promise<void> {
  if (seesRecipients(caller)) return;
  const { organizationId, environment } = caller;
  const day = new Date(now()).toISOString().slice(0, 10);
  const counted = await tx.one<{ total: UsdMicros; limit: UsdMicros | null }>(sql`
    insert into public_key_gift_totals as totals (organization_id, environment, day, total_micros)
    values (${organizationId}, ${environment}, ${day}, ${amount})
    on conflict (organization_id, environment, day)
      do update set total_micros = totals.total_micros + excluded.total_micros
    returning total_micros as total, (
      select public_key_gifts_daily_micros from environments
       where organization_id = ${organizationId} and environment = ${environment}) as "limit"`);
  if (counted && counted.limit !== null && counted.total > counted.limit) {
    const limit = `${formatUsd(counted.limit)} USD a day (UTC)`;
    throw new ApiError('daily_limit_reached', `Gifts created with the public key alone may pay out ${limit}.`);
  }
}

function giftsOf(
  body: Call<CreateGiftsBulk>['body'],
  costs: Pick<NewGift, 'amount' | 'gas' | 'bridge'>,
  nowMs: number,
): NewGift[] {
  const common = {
    ...costs,
    name: body.name,
    campaignName: body.name,
    type: body.type ?? ('GIFT_CARD' as const),
    cctpFast: body.cctpFast ?? true,
    maxRedeems: 1,
    maxRedeemsPerUser: 1,
    startsAt: new Date(nowMs),
    expiresAt: null,
    isActive: true,
  };
  return body.recipients.map(({ email, code }) => ({ ...common, recipientEmail: email, code }));
}

function contentOf({ code, name, amount }: StoredGift, orgName: string, publicUrl: string): GiftMail['content'] {
  return { code, name, amountUsd: formatUsd(amount), claimUrl: claimUrlOf(publicUrl, code), orgName };
}

type CreatedField = Exclude<
  keyof GiftRecord,
  'id' | 'organizationId' | 'environment' | 'totalRedeems' | 'redeemed' | 'holdId' | 'deletedAt'
>;

export type NewGift = Pick<GiftRecord, Exclude<CreatedField, 'code'>> & { readonly code: string | undefined };
export type StoredGift = NewGift & Pick<GiftRecord, 'id' | 'code'>;

/** A random code collides about never; this stops a generator that repeats itself. */
const MAX_ATTEMPTS = 5;

/** All or none: `gift_code_taken` and `insufficient_credits` end the transaction. Results keep the order. */
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
    const inserted = await insertGifts(
      tx,
      owner,
      waiting.flatMap((place) => places[place] ?? []),
    );
    waiting = waiting.filter((place) => !inserted.has(places[place]?.id ?? ''));
    for (const place of waiting) {
      const gift = gifts[place];
      if (gift) places[place] = gift.code === undefined ? named(gift) : refuseCode(gift.code);
    }
  }
  return places;
}

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

function refuseCode(code: string): never {
  throw new ApiError('gift_code_taken', `The gift code ${code} exists already. Choose another.`);
}

/** Ordered by code, so that two transactions cannot deadlock. Returns the ids of those whose code was free. */
async function insertGifts(
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

/** Fixed at creation, before price rises. Without a bridge nothing is reserved, and redeems to Solana are refused. */
export async function costsOf(
  { gas, bridge }: Pick<GiftDeps, 'gas' | 'bridge'>,
  environment: Environment,
  amount: UsdMicros,
  cctpFast: boolean,
): Promise<Pick<GiftRecord, 'gas' | 'bridge'>> {
  if (!cctpFast) return { gas, bridge: 0n };
  return { gas, bridge: await bridge.feeCeiling(environment, amount, cctpFast).catch(zeroWithoutBridge) };
}

function zeroWithoutBridge(error: unknown): UsdMicros {
  if (error instanceof ApiError && error.code === 'chain_not_configured') return 0n;
  throw error;
}

export function readAmount(amount: number): UsdMicros {
  const micros = parseUsd(amount);
  if (micros.ok) return micros.value;
  // JSON numbers below a millionth print with an exponent.
  return refuse('body.amount', amount < 1 ? 'must have at most 6 decimals' : micros.reason);
}

export function readMoment(text: string, field: string): Date {
  const moment = parseMoment(text);
  return moment.ok ? moment.value : refuse(field, moment.reason);
}

export function readExpiry(text: string | null): Date | null {
  return text === null ? null : readMoment(text, 'body.expiresAt');
}

export function requireAfter(expiresAt: Date | null, startsAt: Date): void {
  if (expiresAt !== null && expiresAt <= startsAt) {
    refuse('body.expiresAt', `must be after startsAt, which is ${startsAt.toISOString()}`);
  }
}
