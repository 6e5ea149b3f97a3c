import { type AnswerOf, type endpoints, type GiftType, parseUsd, usdToNumber } from '@svc/protocol';
import type { Client } from './client/client.ts';
import { SvcApiError, SvcError, SvcInputError } from './client/errors.ts';
import { request } from './client/request.ts';
import { randomHex, toBase64url } from './client/values.ts';
import { readGiftAmount } from './gifts.ts';
import { subtle } from './keys/cipher.ts';

export interface CreateGiftsBulkParams {
  /** Also the `campaignName` of the gifts. */
  readonly name: string;
  /** USDC per gift: above 0, at most 10,000, at most 6 decimals. */
  readonly amount: string | number;
  readonly token?: 'USDC' | undefined;
  readonly chain?: 'STARKNET' | undefined;
  readonly type?: GiftType | undefined;
  readonly cctpFast?: boolean | undefined;
  /** Each gets a mail with a claim link. Without a `code` the service generates one. */
  readonly recipients: readonly {
    readonly email: string;
    readonly code?: string | undefined;
    /** Of the mail; without it the mail has both. */
    readonly language?: 'en' | 'es' | undefined;
  }[];
  /**
   * Store the state and pass it as `resume` after a crash. Awaited before each batch is sent and after it was
   * created.
   */
  readonly onProgress?: ((state: GiftsBulkState) => void | Promise<void>) | undefined;
  readonly resume?: GiftsBulkState | undefined;
}

export type GiftsCreated = AnswerOf<typeof endpoints.createGiftsBulk>;

export type BulkGift = AnswerOf<typeof endpoints.createGiftsBulk>['gifts'][number];

/** Progress of a bulk creation, as plain JSON. It contains gift codes: protect it like those. */
export interface GiftsBulkState {
  readonly version: 1;
  /** Identifies the gifts and recipients: a state resumes only its own order. */
  readonly order: string;
  readonly created: readonly BulkGift[];
  readonly totalHeldUsd: number;
  /** A batch that was sent, or is about to be, and has no answer yet. */
  readonly pending?: { readonly idempotencyKey: string; readonly sinceMs: number } | undefined;
}

/** A bulk creation stopped. Pass `state` as `resume` to continue it. */
export class SvcGiftsBulkError extends SvcError {
  override readonly name = 'SvcGiftsBulkError';
  declare readonly code: 'gifts_bulk_stopped' | 'gifts_bulk_unclear';
  readonly state: GiftsBulkState;

  constructor(
    code: 'gifts_bulk_stopped' | 'gifts_bulk_unclear',
    message: string,
    state: GiftsBulkState,
    options?: ErrorOptions,
  ) {
    super(code, message, options);
    this.state = state;
  }
}

/** The API's limit for one request. */
const BATCH_SIZE = 500;
/** 200 batches: more is most likely a mistake, and the state would grow too large. */
const MAX_RECIPIENTS = 100_000;
/** The service stores an idempotency key for 24 hours; one hour is left for clock differences. */
const KEY_LIFE_MS = 23 * 3_600_000;
const KEY_BYTES = 16;
/** After these errors the batch was not created. */
const REFUSALS: readonly string[] = ['invalid_request', 'insufficient_credits', 'gift_code_taken'];

/**
 * Creates one gift for each recipient and mails the claim links, in batches of 500. A batch is created whole or not
 * at all.
 *
 * Resuming never gives a recipient two gifts: a batch without an answer is sent again with the same idempotency key.
 * Only one run at a time may use a state.
 *
 * @throws SvcGiftsBulkError if it stopped; call again with `resume: error.state`
 * @example
 * const { created, gifts } = await svc.gifts.createGiftsBulk({
 *   name: 'Navidad',
 *   amount: 5,
 *   recipients: [{ email: 'ana@example.com' }, { email: 'luis@example.com' }],
 *   onProgress: (state) => console.log(`${state.created.length} of 2`),
 * });
 */
export async function createGiftsBulk(client: Client, params: CreateGiftsBulkParams): Promise<GiftsCreated> {
  const { recipients, onProgress, resume } = params;
  if (recipients.length === 0 || recipients.length > MAX_RECIPIENTS) {
    throw new SvcInputError('invalid_input', `recipients must be 1 to ${MAX_RECIPIENTS}.`);
  }
  const order = orderOf(params);
  const emails = recipients.map(({ email }) => email);
  let state = beginBulk(await describeOrder(order, recipients), resume);
  while (state.created.length < recipients.length) {
    const pending = state.pending ?? newPending(client);
    if (state.pending) requireRemembered(client, state, emails);
    state = { ...state, pending };
    await onProgress?.(state);
    const from = state.created.length;
    const batch = recipients
      .slice(from, from + BATCH_SIZE)
      .map(({ email, code, language }) => ({ email, ...(code && { code }), ...(language && { language }) }));
    const answer = await sendBatch(client, { ...order, recipients: batch }, state, onProgress);
    requireWhole(answer, batch.length, state);
    state = added(state, answer);
    await onProgress?.(state);
  }
  const { created: gifts, totalHeldUsd } = state;
  return { created: gifts.length, campaignName: order.name, totalHeldUsd, gifts: [...gifts] };
}

function orderOf({ name, amount, token, chain, type, cctpFast }: CreateGiftsBulkParams) {
  return { name, amount: readGiftAmount(amount), token, chain, type, cctpFast };
}

/** Digest of the list as passed in: the service may normalise mail addresses. */
async function describeOrder(
  order: ReturnType<typeof orderOf>,
  recipients: CreateGiftsBulkParams['recipients'],
): Promise<string> {
  const list = recipients.map(({ email, code, language }) => [email, code || null, ...(language ? [language] : [])]);
  return JSON.stringify({ ...order, recipients: recipients.length, digest: await digestOf(JSON.stringify(list)) });
}

async function digestOf(text: string): Promise<string> {
  return toBase64url(new Uint8Array(await subtle().digest('SHA-256', new TextEncoder().encode(text))));
}

async function sendBatch(
  client: Client,
  body: ReturnType<typeof orderOf> & { recipients: { email: string; code?: string; language?: 'en' | 'es' }[] },
  state: GiftsBulkState,
  onProgress: CreateGiftsBulkParams['onProgress'],
): Promise<GiftsCreated> {
  const idempotencyKey = state.pending?.idempotencyKey;
  try {
    const spec = { route: 'POST /gifts/bulk', access: 'either', body, idempotencyKey } as const;
    return await request<typeof endpoints.createGiftsBulk>(client, spec);
  } catch (cause) {
    if (!(cause instanceof SvcApiError && REFUSALS.includes(cause.code))) throw stopped(state, cause);
    // The service stores a refusal with its key, so the next attempt needs a new key.
    const { pending: _, ...refused } = state;
    await onProgress?.(refused);
    throw refused.created.length === 0 ? cause : stopped(refused, cause);
  }
}

/** With another number it is unknown who has a gift, and continuing could give a recipient two. */
function requireWhole({ gifts }: GiftsCreated, expected: number, state: GiftsBulkState): void {
  if (Array.isArray(gifts) && gifts.length === expected) return;
  throw new SvcGiftsBulkError(
    'gifts_bulk_unclear',
    `The service answered a batch of ${expected} with ${Array.isArray(gifts) ? gifts.length : 'no'} gifts. Look with listGifts({ campaignName }) which there are, then create those that are missing.`,
    state,
  );
}

function added(state: GiftsBulkState, { gifts, totalHeldUsd }: GiftsCreated): GiftsBulkState {
  const { pending: _, ...rest } = state;
  return { ...rest, created: [...state.created, ...gifts], totalHeldUsd: sum(state.totalHeldUsd, totalHeldUsd) };
}

/** Exact, in millionths. */
function sum(one: number, other: number): number {
  const [a, b] = [parseUsd(one), parseUsd(other)];
  return a.ok && b.ok ? usdToNumber(a.value + b.value) : one + other;
}

function newPending({ runtime }: Client): NonNullable<GiftsBulkState['pending']> {
  return { idempotencyKey: `gifts-bulk-${randomHex(runtime, KEY_BYTES)}`, sinceMs: runtime.now() };
}

function requireRemembered({ runtime }: Client, state: GiftsBulkState, emails: readonly string[]): void {
  if (state.pending === undefined || runtime.now() - state.pending.sinceMs < KEY_LIFE_MS) return;
  throw new SvcGiftsBulkError(
    'gifts_bulk_unclear',
    `A batch was sent more than a day ago, and its answer was lost. Look with listGifts({ campaignName }) whether ${emails[state.created.length]} has a gift, then create those that are missing.`,
    state,
  );
}

function stopped(state: GiftsBulkState, cause: unknown): SvcGiftsBulkError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `${state.created.length} gifts were created, then it stopped: ${reason} Call again with resume: error.state.`;
  return new SvcGiftsBulkError('gifts_bulk_stopped', message, state, { cause });
}

/** A new state, or the stored one if it belongs to the same order. */
function beginBulk(order: string, stored?: GiftsBulkState): GiftsBulkState {
  if (stored === undefined) return { version: 1, order, created: [], totalHeldUsd: 0 };
  if (stored.version === 1 && stored.order === order && Array.isArray(stored.created)) return stored;
  throw new SvcInputError('invalid_input', 'resume belongs to another creation: pass what it was begun with.');
}
