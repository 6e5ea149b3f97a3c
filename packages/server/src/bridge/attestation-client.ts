import { ApiError } from '@svc/protocol';
import { trusted } from '../outbound/address-guard.ts';
import { OutboundError } from '../outbound/outbound-error.ts';
import { type OutboundRequestOptions, type OutboundResponse, outboundRequest } from '../outbound/request.ts';
import { SOLANA_DOMAIN, STARKNET_DOMAIN } from './cctp.ts';
import { type Fees, readFees } from './fees.ts';
import { Pace } from './pace.ts';
import { readMessages, type ShownMessage } from './shown-message.ts';

/** Live answers take well under a second. Repeating is safe: reading changes nothing, and a message is minted once. */
const TIMEOUT_MS = 10_000;
/** A message has some 900 characters, and is shown twice. */
const MAX_ANSWER_BYTES = 256 * 1024;

/** The bridge did not answer, or not in a way that can be used. Why is the operator's business, and in `cause`. */
export class BridgeUnavailableError extends ApiError {
  constructor(why: string) {
    super('chain_unavailable', 'The bridge to Solana does not answer at the moment. Try again.', {
      cause: new Error(why),
    });
  }
}

/** Circle's attestation service. */
export class AttestationClient {
  readonly #url: string;
  readonly #pace: Pace;

  /** The operator configured the address, so it may lead anywhere. */
  constructor(url: string, pace = new Pace()) {
    this.#url = url.replace(/\/+$/, '');
    this.#pace = pace;
  }

  /** Undefined while it has not seen the transaction. */
  async messages(burnHash: string): Promise<readonly ShownMessage[] | undefined> {
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
    if (!(await this.#pace.take())) throw new BridgeUnavailableError('Too much is asked of the bridge at once.');
    const bounds = { timeoutMs: TIMEOUT_MS, maxBodyBytes: MAX_ANSWER_BYTES, guard: trusted() };
    const response = await outboundRequest(this.#url + path, { ...options, ...bounds }).catch((error: unknown) => {
      throw error instanceof OutboundError ? new BridgeUnavailableError(error.message) : error;
    });
    if (response.status === 429) this.#pace.block();
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
