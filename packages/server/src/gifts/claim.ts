import {
  ApiError,
  catalogue,
  type Environment,
  type endpoints,
  formatUsd,
  type Parsed,
  parseSolanaAddress,
  parseStarknetAddress,
  type RedeemChain,
  type UsdMicros,
  unparsed,
  usdToNumber,
} from '@svc/protocol';
import { type Database, type Db, runAs, type Sql, sql } from '@svc/store';
import { isSolanaWallet } from '../bridge/bridge.ts';
import { estimatedSeconds } from '../bridge/follow-burn.ts';
import type { Networks } from '../chains/networks.ts';
import { type Answer, type Call, WithStatus } from '../http/call.ts';
import { enqueue } from '../jobs/job.ts';
import { type BrandRow, brandColumns, toBrand } from '../organizations/settings.ts';
import { newId } from '../util/ids.ts';
import type { ClaimProofs, CodeLookup, Visitor } from './code-lookup.ts';
import { codeKey, type GiftRecord, giftColumns, refusalOf, shareOfRedeem } from './gift.ts';
import { type PayoutWaker, payoutJob } from './payouts.ts';
import { bridgeJob, type Redeem, type RedeemWaiters, redeemColumns } from './redeem.ts';

export interface ClaimDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet' | 'tokens'>;
  /** Throws `chain_not_configured` where there is none. */
  readonly manager: (environment: Environment) => bigint;
  readonly canBridge: (environment: Environment) => boolean;
  readonly codes: CodeLookup;
  readonly proofs: ClaimProofs;
  readonly waiters: RedeemWaiters;
  readonly payouts: Pick<PayoutWaker, 'wake'>;
  readonly publicUrl: string;
  /** To show beside the amount; undefined while there is no rate. */
  readonly pesos?: ((environment: Environment, amount: UsdMicros) => Promise<string | undefined>) | undefined;
  readonly now?: () => number;
}

type RedeemGift = typeof endpoints.redeemGift;
type Request = Pick<Call<RedeemGift>, keyof Visitor | 'params' | 'body' | 'requestKey'>;

/** Counted from the start of the request: it ends before its Idempotency-Key is released. */
const MAX_WAIT_MS = 30_000;

export async function redeemGift(deps: ClaimDeps, request: Request): Promise<Answer<RedeemGift>> {
  const startedAt = performance.now();
  const { params, body, requestKey } = request;
  const destination = readDestination(body.chain, body.walletAddress);
  const gift = await findByCode(deps, request, params.code);
  if (!gift) throw new ApiError('gift_not_found', undefined, { status: 400 });
  const { id, isNew } = await runAs(gift.organizationId, () => takePlace(deps, gift, { destination, requestKey }));
  const leftMs = MAX_WAIT_MS - (performance.now() - startedAt);
  const isEnough = destination.chain === 'solana' ? isBurnSent : hasEnded;
  const redeem = await deps.waiters.until(deps.db.reads, id, isEnough, leftMs, isNew);
  return destination.chain === 'solana' ? bridgingAnswer(redeem, gift.cctpFast) : payoutAnswer(redeem);
}

const hasEnded = ({ status }: Redeem) => status === 'SUCCESS' || status === 'FAILED';
const isBurnSent = ({ status, transactionHash }: Redeem) =>
  status === 'FAILED' || (status !== 'PENDING' && transactionHash !== null);

function payoutAnswer({ id, status, transactionHash, shownAddress, amount }: Redeem): Answer<RedeemGift> {
  if (status === 'FAILED') throw new ApiError('payout_failed');
  const giftRedeem = { id, status, transactionHash, walletAddress: shownAddress, amount: formatUsd(amount) };
  return new WithStatus(201, { giftRedeem });
}

function bridgingAnswer(redeem: Redeem, fast: boolean): Answer<RedeemGift> {
  const { id, status, transactionHash } = redeem;
  // A burned redeem can be resumed by the operator.
  if (status === 'FAILED' && transactionHash === null) throw new ApiError('payout_failed');
  return new WithStatus(202, {
    redeemId: id,
    status,
    destinationChain: 'solana' as const,
    cctpBurnTxHash: status === 'PENDING' ? null : transactionHash,
    estimatedSeconds: estimatedSeconds(fast),
  });
}

type ClaimGift = typeof endpoints.claimGift;

export async function claimGift(
  deps: Pick<ClaimDeps, 'codes' | 'publicUrl' | 'pesos' | 'now'>,
  request: Pick<Call<ClaimGift>, keyof Visitor | 'params'>,
): Promise<Answer<ClaimGift>> {
  const gift = await findByCode(deps, request, request.params.code);
  const refusal = refusalOf(gift, (deps.now ?? Date.now)());
  if (!gift) return { valid: false, reason: catalogue.gift_not_found.message };
  const shown = shownWith(gift, deps.publicUrl);
  if (refusal) return { valid: false, reason: catalogue[refusal].message, ...shown };
  const { code, name, amount } = gift;
  const amountMxn = await deps.pesos?.(gift.environment, amount);
  return {
    valid: true,
    gift: {
      ...{ code, name, amount: formatUsd(amount), token: 'USDC', chain: 'STARKNET' },
      ...(amountMxn !== undefined && { amountMxn }),
    },
    ...shown,
    wallet: { isOffered: gift.offersWallet && gift.appUrl === null, appUrl: gift.appUrl },
  };
}

/** For every code that exists: who gives it, and when it is valid. */
function shownWith(gift: ClaimedGift, publicUrl: string) {
  const brand = toBrand(gift, publicUrl);
  return {
    orgName: gift.orgName,
    ...(brand && { brand }),
    startsAt: gift.startsAt.toISOString(),
    expiresAt: gift.expiresAt?.toISOString() ?? null,
  };
}

export function claimChallenge({ proofs }: Pick<ClaimDeps, 'proofs'>): Answer<typeof endpoints.getClaimChallenge> {
  const { expiresAt, ...challenge } = proofs.issue();
  return { ...challenge, expiresAt: expiresAt.toISOString() };
}

type GetRedeemStatus = typeof endpoints.getRedeemStatus;

/** An unknown redeem counts against the client like an unknown code. */
export async function redeemStatus(
  { codes }: Pick<ClaimDeps, 'codes'>,
  { client, params }: Pick<Call<GetRedeemStatus>, 'client' | 'params'>,
): Promise<Answer<GetRedeemStatus>> {
  const redeem = await codes.findUnguessable<Redeem>(
    client,
    sql`
      select ${redeemColumns} from gift_redeems
       where id = ${params.redeemId} and gift_id = (select id from gifts where code_key = ${keyOfCode(params.code)})`,
  );
  if (!redeem) throw new ApiError('redeem_not_found');
  const { id, status, destinationChain, amount } = redeem;
  return { id, status, destinationChain, ...hashesOf(redeem), amount: usdToNumber(amount) };
}

/** On Starknet the payout's hash may change until it has succeeded. */
function hashesOf({ destinationChain, status, transactionHash, receiveHash, receiveProof }: Redeem) {
  return destinationChain === 'solana'
    ? { cctpBurnTxHash: transactionHash, receiveChainTxHash: receiveHash, receiveProof }
    : {
        ...{ cctpBurnTxHash: null, receiveProof: null },
        receiveChainTxHash: status === 'SUCCESS' ? transactionHash : null,
      };
}

const KEY_HOURS = 24;

export interface RedeemRequest {
  readonly giftId: string;
  readonly destination: Destination;
  readonly requestKey: string | undefined;
}

/** Takes a place and a share, and has it paid. A job of its own is not needed: the payout's job pays for all that wait. */
export async function takePlace(
  deps: ClaimDeps,
  gift: ClaimedGift,
  { destination, requestKey }: Omit<RedeemRequest, 'giftId'>,
): Promise<Reservation> {
  const request = { giftId: gift.id, destination, requestKey };
  if (destination.chain === 'solana') return deps.db.tx((tx) => reserveUnderLock(deps, tx, request));
  const id = requestKey === undefined ? await reserveAtOnce(deps, gift, destination) : undefined;
  const placed = id === undefined ? await deps.db.tx((tx) => reserveUnderLock(deps, tx, request)) : { id, isNew: true };
  deps.payouts.wake(gift.environment);
  return placed;
}

interface Reservation {
  readonly id: string;
  /** Not of an earlier request with the same key. */
  readonly isNew: boolean;
}

/** Takes a place and a share and enqueues the payment. A repeated request gets the same redeem. Returns its id. */
export async function reserve(deps: ClaimDeps, tx: Db, request: RedeemRequest): Promise<string> {
  const { id, isNew, environment } = await reserveUnderLock(deps, tx, request);
  if (isNew && request.destination.chain === 'starknet') await enqueue(tx, payoutJob(environment, id));
  return id;
}

async function reserveUnderLock(
  deps: ClaimDeps,
  tx: Db,
  request: RedeemRequest,
): Promise<Reservation & { readonly environment: Environment }> {
  // The lock serialises everything that concerns this gift; the second statement runs when it is held.
  const [gift, repeated] = await Promise.all([
    tx.one<GiftRecord>(sql`select ${giftColumns} from gifts where id = ${request.giftId} for no key update`),
    findRepeated(tx, request),
  ]);
  if (gift && repeated !== undefined) return { id: repeated, isNew: false, environment: gift.environment };
  const refusal = refusalOf(gift, (deps.now ?? Date.now)());
  if (refusal || !gift) throw new ApiError(refusal ?? 'gift_not_found', undefined, { status: 400 });
  requireReachable(deps, gift, request.destination);
  const id = newId('rdm');
  const [isInserted] = await Promise.all([
    insertRedeem(tx, id, gift, request),
    request.destination.chain === 'solana' && enqueue(tx, bridgeJob(id)),
  ]);
  if (!isInserted) throw new ApiError('gift_user_limit_reached');
  return { id, isNew: true, environment: gift.environment };
}

/** In one statement, without a transaction around it. Undefined where something refuses it: `reserveUnderLock` says what. */
async function reserveAtOnce(
  deps: ClaimDeps,
  gift: ClaimedGift,
  destination: Destination,
): Promise<string | undefined> {
  requireReachable(deps, gift, destination);
  const [id, at] = [newId('rdm'), new Date((deps.now ?? Date.now)())];
  const { chain, address, shownAddress } = destination;
  const inserted = await deps.db.run(sql`
    with gift as materialized (
      select id, organization_id, environment, amount_micros, gas_micros, hold_id, max_redeems_per_user from gifts
       where id = ${gift.id} and deleted_at is null and is_active and starts_at <= ${at}
         and coalesce(expires_at > ${at}, true) and total_redeems < max_redeems and hold_id is not null
         for no key update
    ), place as (
      insert into gift_users as known (gift_id, address, redeems)
      select id, ${address}, 1 from gift
      on conflict (gift_id, address) do update set redeems = known.redeems + 1
       where known.redeems < (select max_redeems_per_user from gift)
      returning gift_id
    ), counted as (
      update gifts set total_redeems = total_redeems + 1 from place where gifts.id = place.gift_id
    )
    insert into gift_redeems (
      id, gift_id, organization_id, environment, destination_chain, address, shown_address, amount_micros, share_micros,
      hold_id)
    select ${id}, gift.id, organization_id, environment, ${chain}, ${address}, ${shownAddress}, amount_micros,
           amount_micros + gas_micros, hold_id
      from gift join place on place.gift_id = gift.id`);
  return inserted === 1 ? id : undefined;
}

async function findRepeated(tx: Db, { giftId, requestKey }: RedeemRequest): Promise<string | undefined> {
  if (requestKey === undefined) return undefined;
  const row = await tx.one<{ id: string }>(sql`
    select id from gift_redeems
     where gift_id = ${giftId} and request_key = ${requestKey}
       and created_at > now() - make_interval(hours => ${KEY_HOURS})
     limit 1`);
  return row?.id;
}

/** False where the address has redeemed as often as the gift allows. */
async function insertRedeem(tx: Db, id: string, gift: GiftRecord, request: RedeemRequest): Promise<boolean> {
  const { chain, address, shownAddress } = request.destination;
  const inserted = await tx.run(sql`
    with place as (
      insert into gift_users as known (gift_id, address, redeems)
      values (${gift.id}, ${address}, 1)
      on conflict (gift_id, address) do update set redeems = known.redeems + 1
       where known.redeems < ${gift.maxRedeemsPerUser}
      returning gift_id
    ), counted as (
      update gifts set total_redeems = total_redeems + 1 from place where gifts.id = place.gift_id
    )
    insert into gift_redeems (
      id, gift_id, organization_id, environment, destination_chain, address, shown_address, amount_micros, share_micros,
      hold_id, request_key)
    select ${id}, gift_id, ${gift.organizationId}, ${gift.environment}, ${chain}, ${address}, ${shownAddress},
           ${gift.amount}, ${shareOfRedeem(gift, chain)}, ${gift.holdId}, ${request.requestKey ?? null}
      from place`);
  return inserted === 1;
}

export interface Destination {
  readonly chain: RedeemChain;
  readonly address: string;
  readonly shownAddress: string;
}

export function readDestination(chain: RedeemChain, walletAddress: string): Destination {
  const parsed: Parsed<string> =
    chain === 'solana' ? parseSolanaWallet(walletAddress) : parseStarknetAddress(walletAddress);
  if (!parsed.ok) refuse(parsed.reason);
  return { chain, address: parsed.value, shownAddress: walletAddress };
}

function parseSolanaWallet(text: string): Parsed<string> {
  const address = parseSolanaAddress(text);
  if (!address.ok || isSolanaWallet(address.value)) return address;
  return unparsed('must be a wallet, not a token, a token account or a program');
}

export function requireReachable(
  { networks, manager, canBridge }: Pick<ClaimDeps, 'networks' | 'manager' | 'canBridge'>,
  { environment, cctpFast, bridge }: Pick<GiftRecord, 'environment' | 'cctpFast' | 'bridge'>,
  { chain, address }: Destination,
): void {
  const payer = manager(environment);
  if (chain === 'solana') {
    // A gift made while there was no bridge has no fee reserved.
    if (!canBridge(environment) || (cctpFast && bridge === 0n)) {
      throw new ApiError('chain_not_configured', 'Solana is not configured for this gift. Choose Starknet.');
    }
    return;
  }
  const value = BigInt(address);
  const tokens = networks.tokens(environment).filter((token) => token.chain === 'STARKNET' && token.address !== null);
  if (tokens.some((token) => BigInt(token.address ?? 0) === value)) refuse('must be a wallet, not a token');
  const own = [payer, BigInt(networks.starknet(environment).paymentAddress)];
  if (own.includes(value)) refuse('must be a wallet of yours, not one of this service');
}

function refuse(reason: string): never {
  throw new ApiError('invalid_request', `body.walletAddress ${reason}.`);
}

/** Other texts are looked up under a key that no gift has. */
const CODE = /^[A-Za-z0-9_-]{4,64}$/;
const NO_CODE = '';

export const keyOfCode = (code: string): string => (CODE.test(code) ? codeKey(code) : NO_CODE);

export interface ClaimedGift extends GiftRecord, BrandRow {
  readonly orgName: string;
  /** Whether recipients without a wallet get one. */
  readonly offersWallet: boolean;
  readonly appUrl: string | null;
}

export function findByCode({ codes }: Pick<ClaimDeps, 'codes'>, { client, proofOfWork }: Visitor, code: string) {
  return codes.find<ClaimedGift>({ client, proofOfWork }, giftByCode(code));
}

function giftByCode(code: string): Sql {
  return sql`
    select ${giftColumns}, organizations.name as "orgName", ${brandColumns},
           environments.recipient_wallets as "offersWallet", environments.recipient_app_url as "appUrl"
      from gifts
      join organizations on organizations.id = gifts.organization_id
      join environments on environments.organization_id = gifts.organization_id
       and environments.environment = gifts.environment
      left join branding on branding.organization_id = gifts.organization_id and branding.environment = gifts.environment
     where gifts.code_key = ${keyOfCode(code)} and gifts.deleted_at is null`;
}
