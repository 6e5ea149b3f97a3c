import { Agent, request } from 'node:https';
import { ApiError, isObject } from '@svc/protocol';
import { parseFelt, type StarkSignature, toHex } from '@svc/starknet';
import type { HeldKey, SignRequest } from './crypto.ts';

export interface RemoteSignerOptions {
  readonly url: string;
  /** PEM. The signer lets in who has them. */
  readonly certificate: string;
  readonly key: string;
  /** PEM; without it the authorities of the system. */
  readonly ca: string | undefined;
}

/** The nonce of an account is locked meanwhile. */
const TIMEOUT_MS = 5_000;
const MAX_ANSWER = 4_096;

/** Keys behind HTTPS with mutual TLS. Each request carries what is signed, with felts in hexadecimal digits, and is answered `{ r, s }`. */
export function createRemoteSigner({ url, certificate, key, ca }: RemoteSignerOptions) {
  const agent = new Agent({ keepAlive: true, cert: certificate, key, ...(ca !== undefined && { ca }) });
  return {
    keyOf: (publicKey: bigint): HeldKey => ({
      publicKey,
      sign: async (asked) => readSignature(await post(agent, url, bodyOf(publicKey, asked)).catch(unavailable)),
    }),
    close: () => agent.destroy(),
  };
}

const bodyOf = (publicKey: bigint, asked: SignRequest): string =>
  JSON.stringify({ publicKey, ...asked }, (_, value: unknown) => (typeof value === 'bigint' ? toHex(value) : value));

function post(agent: Agent, url: string, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > MAX_ANSWER) sent.destroy(new Error('its answer is too long'));
      });
      answer.on('error', reject);
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(text);
        else reject(new Error(`it answered HTTP ${answer.statusCode}`));
      });
    });
    const late = setTimeout(() => sent.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
    sent.on('close', () => clearTimeout(late));
    sent.on('error', reject);
    sent.end(body);
  });
}

/** No signature arrived here, and nothing was sent: safe to repeat. */
function unavailable(error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  throw new ApiError('chain_unavailable', 'The signer of this deployment does not sign. Try again later.', {
    cause: new Error(`SIGNER_URL: ${reason}`, { cause: error }),
  });
}

function readSignature(text: string): StarkSignature {
  const { r, s } = parse(text);
  const [first, second] = [parseFelt(String(r)), parseFelt(String(s))];
  if (!first.ok || !second.ok) return unavailable(new Error('its answer has no r and s'));
  return { r: first.value, s: second.value };
}

function parse(text: string): { readonly r?: unknown; readonly s?: unknown } {
  try {
    const answer: unknown = JSON.parse(text);
    return isObject(answer) ? answer : {};
  } catch {
    return {};
  }
}
