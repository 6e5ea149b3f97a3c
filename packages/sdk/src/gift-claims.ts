import {
  type AnswerOf,
  type Brand,
  type endpoints,
  hasLeadingZeros,
  PROOF_BYTES,
  type ProofOfWork,
  parseSolanaAddress,
  parseStarknetAddress,
  type RedeemChain,
} from '@svc/protocol';
import type { Client } from './client/client.ts';
import { SvcApiError, SvcConnectionError, SvcInputError } from './client/errors.ts';
import { type PollOptions, pollUntil } from './client/poll.ts';
import { request } from './client/request.ts';

/** More attempts than any difficulty of the service needs; a thousand are usual. */
const MAX_ATTEMPTS = 10_000_000;

/**
 * Solves a challenge of the service: about a second of work. Claim operations do it by themselves where the service asks for it; call it
 * in a worker of your own, or pass `solveProof` to the client.
 *
 * @example
 * const proof = await solveProof(await svc.gifts.getClaimChallenge());
 */
export async function solveProof({ challenge, iterations, difficulty }: ProofOfWork): Promise<string> {
  const encoder = new TextEncoder();
  const salt = encoder.encode(challenge);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const key = await crypto.subtle.importKey('raw', encoder.encode(String(attempt)), 'PBKDF2', false, ['deriveBits']);
    const bits = await crypto.subtle.deriveBits(
      { name: 'PBKDF2', hash: 'SHA-256', salt, iterations },
      key,
      PROOF_BYTES * 8,
    );
    if (hasLeadingZeros(new Uint8Array(bits), difficulty)) return `${challenge}.${attempt}`;
  }
  throw new Error('The challenge has no solution within reach.');
}

export type ClaimChallenge = AnswerOf<typeof endpoints.getClaimChallenge>;

/**
 * A challenge for a proof of work. `claimGift` and `redeemGift` solve one by themselves while the service asks for it, because too many
 * unknown codes were looked up: that takes about a second.
 *
 * @example
 * const { difficulty, expiresAt } = await svc.gifts.getClaimChallenge();
 */
export function getClaimChallenge(client: Client): Promise<ClaimChallenge> {
  return request<typeof endpoints.getClaimChallenge>(client, { route: 'GET /gifts/claim-challenge', access: 'none' });
}

/** A proof may expire or the service change its mind meanwhile. */
const MAX_PROOFS = 3;
const proofCodes = new Set(['proof_of_work_required', 'invalid_proof_of_work']);

export async function withProof<T>(client: Client, send: (proof: string | undefined) => Promise<T>): Promise<T> {
  let proof: string | undefined;
  for (let proofs = 0; ; proofs++) {
    try {
      return await send(proof);
    } catch (error) {
      const isNeeded = error instanceof SvcApiError && proofCodes.has(error.code);
      if (!isNeeded || proofs === MAX_PROOFS) throw error;
      proof = await (client.solveProof ?? solveProof)(await getClaimChallenge(client));
    }
  }
}

export interface ClaimGiftParams {
  readonly code: string;
}

type ClaimAnswer = AnswerOf<typeof endpoints.claimGift>;

/**
 * The gift of a valid code, or the reason: `Gift not found`, `Gift has expired`, `Gift redemption limit reached`, …
 */
export type Claim =
  | {
      readonly valid: true;
      readonly gift: NonNullable<ClaimAnswer['gift']>;
      readonly orgName: string;
      /** How the organisation shows itself; undefined where it has set nothing. */
      readonly brand: Brand | undefined;
      readonly startsAt: string | undefined;
      /** null: never. */
      readonly expiresAt: string | null | undefined;
      /** For recipients without a wallet. */
      readonly wallet: ClaimAnswer['wallet'];
    }
  | {
      readonly valid: false;
      readonly reason: string;
      /** Undefined for an unknown code. */
      readonly orgName: string | undefined;
      readonly brand: Brand | undefined;
      readonly startsAt: string | undefined;
      readonly expiresAt: string | null | undefined;
    };

/**
 * Checks whether a gift code is valid and what it is worth. Redeems nothing; the code is the only credential.
 *
 * @example
 * const claim = await svc.gifts.claimGift({ code: gift.code });
 * console.log(claim.valid ? `${claim.gift.amount} USDC from ${claim.orgName}` : claim.reason);
 */
export async function claimGift(client: Client, { code }: ClaimGiftParams): Promise<Claim> {
  const { valid, gift, orgName, brand, reason, startsAt, expiresAt, wallet } = await withProof(client, (proof) =>
    request<typeof endpoints.claimGift>(client, {
      route: 'GET /gifts/claim/{code}',
      access: 'none',
      params: { code },
      proof,
    }),
  );
  const times = { startsAt, expiresAt };
  if (!valid) return { valid, reason: reason ?? 'Gift not found', orgName, brand, ...times };
  if (gift && orgName !== undefined) return { valid, gift, orgName, brand, ...times, wallet };
  throw new SvcConnectionError('invalid_answer', 'The service says that the code is valid, but not what it gives.');
}

export interface RedeemGiftParams<C extends RedeemChain = RedeemChain> {
  readonly code: string;
  /** Receives the USDC: an address on `chain`. */
  readonly walletAddress: string;
  readonly chain: C;
  /** Store one before the call: repeating the call within 24 hours redeems once. Default: a new one. */
  readonly idempotencyKey?: string | undefined;
}

type Answer = AnswerOf<typeof endpoints.redeemGift>;
/** Paid, or `PENDING`: then pass its `id` to `waitForRedeem`. */
export type RedeemedOnStarknet = Extract<Answer, { giftRedeem: unknown }>;
/** On the bridge: pass its `redeemId` to `waitForRedeem`. */
export type RedeemStarted = Extract<Answer, { redeemId: unknown }>;
export type Redeemed<C extends RedeemChain> = C extends 'starknet' ? RedeemedOnStarknet : RedeemStarted;

/**
 * Pays a gift out to a wallet on Starknet, in seconds, or on Solana, over a bridge. The code is the only credential.
 *
 * After a `SvcConnectionError` the gift may have been redeemed. If a wallet may redeem the code more than once, pass
 * a stored `idempotencyKey` and repeat the call with the same key.
 *
 * @example
 * const { giftRedeem } = await svc.gifts.redeemGift({ code: gift.code, walletAddress: wallet.publicKey, chain: 'starknet' });
 */
export async function redeemGift<C extends RedeemChain>(
  client: Client,
  { code, walletAddress, chain, idempotencyKey }: RedeemGiftParams<C>,
): Promise<Redeemed<C>> {
  requireAddress(walletAddress, chain);
  const answer = await withProof(client, (proof) =>
    request<typeof endpoints.redeemGift>(client, {
      route: 'POST /gifts/claim/{code}/redeem',
      access: 'none',
      params: { code },
      body: { walletAddress, chain },
      idempotencyKey,
      proof,
    }),
  );
  return answer as Redeemed<C>;
}

export interface GetRedeemStatusParams {
  readonly code: string;
  readonly redeemId: string;
}

/** After `FAILED`, `cctpBurnTxHash` still leads to the funds. */
export type RedeemState = AnswerOf<typeof endpoints.getRedeemStatus>;

/**
 * Reads the status of a redeem. `waitForRedeem` waits until it is final.
 *
 * @example
 * const { status } = await svc.gifts.getRedeemStatus({ code: gift.code, redeemId });
 */
export function getRedeemStatus(client: Client, { code, redeemId }: GetRedeemStatusParams): Promise<RedeemState> {
  return request<typeof endpoints.getRedeemStatus>(client, {
    route: 'GET /gifts/claim/{code}/status/{redeemId}',
    access: 'none',
    params: { code, redeemId },
  });
}

export interface WaitForRedeemParams extends GetRedeemStatusParams, PollOptions {}

/**
 * Waits until a redeem is `SUCCESS` or `FAILED`; both are results. Standard redeems on Solana take hours: pass a
 * longer `timeoutMs`, or call `getRedeemStatus` at intervals.
 *
 * @throws SvcConnectionError with code `timeout` if it is not final in time; it continues, so wait again
 * @example
 * const { status, receiveChainTxHash } = await svc.gifts.waitForRedeem({ code: gift.code, redeemId });
 */
export function waitForRedeem(client: Client, params: WaitForRedeemParams): Promise<RedeemState> {
  const { code, redeemId } = params;
  return pollUntil(client, params, {
    name: `Redeem ${redeemId}`,
    read: () => getRedeemStatus(client, { code, redeemId }),
    isFinal: ({ status }) => status === 'SUCCESS' || status === 'FAILED',
  });
}

/** Funds sent to an address of another chain are lost. */
function requireAddress(text: string, chain: RedeemChain): void {
  if (chain !== 'starknet' && chain !== 'solana') {
    throw new SvcInputError('invalid_input', 'chain must be starknet or solana.');
  }
  const address = chain === 'starknet' ? parseStarknetAddress(text) : parseSolanaAddress(text);
  if (!address.ok) throw new SvcInputError('invalid_input', `walletAddress ${address.reason}.`);
}
