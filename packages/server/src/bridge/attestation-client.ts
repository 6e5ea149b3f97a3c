import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, parseDecimal } from '@svc/protocol';
import { OutboundError, trusted } from '../outbound/address-guard.ts';
import { type OutboundRequestOptions, type OutboundResponse, outboundRequest } from '../outbound/request.ts';
import type { ForwardState } from './bridge.ts';
import { FAST_THRESHOLD, SOLANA_DOMAIN, STANDARD_THRESHOLD, STARKNET_DOMAIN } from './cctp-message.ts';

/** Circle allows 35 requests a second from one address: enough for three processes. */
const INTERVAL_MS = 100;
const BLOCK_MS = 300_000;
const MAX_WAIT_MS = 10_000;

interface ThrottleClock {
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
}

const systemClock: ThrottleClock = { now: () => performance.now(), pause };

export class Throttle {
  readonly #clock: ThrottleClock;
  #nextAt = 0;
  #blockedUntil = 0;

  constructor(clock: ThrottleClock = systemClock) {
    this.#clock = clock;
  }

  /** False, without waiting, when blocked or when the wait would be too long. */
  async take(): Promise<boolean> {
    const now = this.#clock.now();
    const at = Math.max(now, this.#nextAt);
    if (now < this.#blockedUntil || at - now > MAX_WAIT_MS) return false;
    this.#nextAt = at + INTERVAL_MS;
    if (at > now) await this.#clock.pause(at - now);
    return this.#clock.now() >= this.#blockedUntil;
  }

  block(): void {
    this.#blockedUntil = this.#clock.now() + BLOCK_MS;
  }
}

/** Safe to repeat: reading changes nothing, and a message is minted once. */
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 256 * 1024;

class BridgeUnavailableError extends ApiError {
  constructor(why: string) {
    super('chain_unavailable', 'The bridge to Solana does not answer at the moment. Try again.', {
      cause: new Error(why),
    });
  }
}

export class AttestationClient {
  readonly #url: string;
  readonly #throttle: Throttle;

  /** The URL is the operator's, so it may be private. */
  constructor(url: string, throttle = new Throttle()) {
    this.#url = url.replace(/\/+$/, '');
    this.#throttle = throttle;
  }

  async messages(burnHash: string): Promise<readonly BridgeMessage[] | undefined> {
    const path = `/v2/messages/${STARKNET_DOMAIN}?transactionHash=${encodeURIComponent(burnHash)}`;
    const response = await this.#ask(path);
    if (response.status === 404) return undefined;
    return readMessages(jsonOf(response)) ?? unusable('messages that cannot be read');
  }

  async fees(): Promise<{ readonly fast: Fees; readonly standard: Fees }> {
    const path = `/v2/burn/USDC/fees/${STARKNET_DOMAIN}/${SOLANA_DOMAIN}?forward=true`;
    return readFees(jsonOf(await this.#ask(path))) ?? unusable('fees that cannot be read');
  }

  async reattest(nonce: string): Promise<void> {
    jsonOf(await this.#ask(`/v2/reattest/${encodeURIComponent(nonce)}`, { method: 'POST' }));
  }

  async #ask(path: string, options: Pick<OutboundRequestOptions, 'method'> = {}): Promise<OutboundResponse> {
    if (!(await this.#throttle.take())) throw new BridgeUnavailableError('Too much is asked of the bridge at once.');
    const bounds = { timeoutMs: TIMEOUT_MS, maxBodyBytes: MAX_ANSWER_BYTES, guard: trusted() };
    const response = await outboundRequest(this.#url + path, { ...options, ...bounds }).catch((error: unknown) => {
      throw error instanceof OutboundError ? new BridgeUnavailableError(error.message) : error;
    });
    if (response.status === 429) this.#throttle.block();
    return response;
  }
}

function jsonOf({ status, body }: OutboundResponse): unknown {
  if (status !== 200) unusable(`HTTP ${status}`);
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return unusable('no JSON');
  }
}

function unusable(what: string): never {
  throw new BridgeUnavailableError(`The bridge answered with ${what}.`);
}

export interface BridgeMessage {
  readonly complete: boolean;
  readonly message: string;
  readonly attestation: string;
  readonly forwardState: ForwardState;
  readonly forwardTxHash: string | undefined;
}

const MAX_MESSAGES = 100;
const TRANSACTION = /^[1-9A-HJ-NP-Za-km-z]{32,88}$/;
const forwardStates = ['PENDING', 'CONFIRMED', 'COMPLETE', 'FAILED'] as const;

function readMessages(answer: unknown): readonly BridgeMessage[] | undefined {
  const { messages } = (answer ?? {}) as { messages?: unknown };
  if (!Array.isArray(messages) || messages.length > MAX_MESSAGES) return undefined;
  const read = messages.map(readMessage);
  return read.every((message) => message !== undefined) ? read : undefined;
}

function readMessage(entry: unknown): BridgeMessage | undefined {
  const { message, attestation, status, forwardState, forwardTxHash } = (entry ?? {}) as Record<string, unknown>;
  if (status === 'pending_confirmations' || attestation === 'PENDING') return PENDING;
  if (status !== 'complete' || typeof message !== 'string' || typeof attestation !== 'string') return undefined;
  const hash = typeof forwardTxHash === 'string' && TRANSACTION.test(forwardTxHash) ? forwardTxHash : undefined;
  const state = forwardStates.find((known) => known === forwardState);
  return { complete: true, message, attestation, forwardState: state, forwardTxHash: hash };
}

const PENDING: BridgeMessage = {
  complete: false,
  message: '',
  attestation: '',
  forwardState: undefined,
  forwardTxHash: undefined,
};

const DECIMALS = 10;
const PARTS_PER_UNIT = 10_000n * 10n ** BigInt(DECIMALS);
/** A tenth of the amount, 3 USD for the mint: more is an error or a spike and must not become part of a gift. */
const MAX_BASIS_POINTS = 1_000;
const MAX_FORWARD_FEE = 3_000_000;
/** A ceiling of zero marks gifts created without a bridge. */
const LEAST_CEILING = 1n;

export interface Fees {
  /** Fraction of the amount, in 10^-14. */
  readonly rate: bigint;
  readonly forward: bigint;
}

export function readFees(answer: unknown): { readonly fast: Fees; readonly standard: Fees } | undefined {
  if (!Array.isArray(answer)) return undefined;
  const feesOf = (threshold: bigint) =>
    readEntry(answer.find((entry) => entry?.finalityThreshold === Number(threshold)));
  const [fast, standard] = [feesOf(FAST_THRESHOLD), feesOf(STANDARD_THRESHOLD)];
  return fast && standard && { fast, standard };
}

function readEntry(entry: unknown): Fees | undefined {
  const { minimumFee, forwardFee } = (entry ?? {}) as { minimumFee?: unknown; forwardFee?: { high?: unknown } | null };
  // The highest of three, so that a busy Solana does not delay a mint.
  const forward = forwardFee?.high;
  if (typeof minimumFee !== 'number' || !(minimumFee >= 0 && minimumFee <= MAX_BASIS_POINTS)) return undefined;
  if (typeof forward !== 'number' || !(Number.isSafeInteger(forward) && forward >= 0 && forward <= MAX_FORWARD_FEE)) {
    return undefined;
  }
  const rate = parseDecimal(minimumFee.toFixed(DECIMALS), DECIMALS);
  return rate.ok ? { rate: rate.value, forward: BigInt(forward) } : undefined;
}

export function feeOf({ rate, forward }: Fees, burned: bigint): bigint {
  return (burned * rate + PARTS_PER_UNIT - 1n) / PARTS_PER_UNIT + forward;
}

/** Burned on top of an amount, with a margin of half: fees change between creation and redeem. */
export function ceilingOf(fees: Fees, amount: bigint): bigint {
  // The fee is also charged on the ceiling itself.
  const ceiling = withMargin(feeOf(fees, amount + withMargin(feeOf(fees, amount))));
  return ceiling > LEAST_CEILING ? ceiling : LEAST_CEILING;
}

const withMargin = (fee: bigint): bigint => (fee * 3n + 1n) / 2n;
