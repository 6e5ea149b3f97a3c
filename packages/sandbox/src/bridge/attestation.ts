import { secp256k1 } from '@noble/curves/secp256k1';
import { keccak_256 } from '@noble/hashes/sha3';
import { hex64 } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SOLANA_DOMAIN, STARKNET_DOMAIN } from '../contracts/cctp.ts';
import { privateKeyOf } from '../contracts/predeployed.ts';
import { advanceBurns, type Burn, isMinted, reattest, signatureOf } from './burns.ts';
import {
  type BurnFields,
  changeMessage,
  decodeMessage,
  FAST_THRESHOLD,
  isFast,
  STANDARD_THRESHOLD,
  showFees,
  tamper,
} from './cctp-message.ts';
import { type BridgeRequest, takeRequestFault } from './faults.ts';
import { normalHash, readSettings } from './settings.ts';

const NONCE = /^0x[0-9a-fA-F]{64}$/;

export interface BridgeDeps {
  readonly db: Db;
  /** Chain time in seconds. */
  readonly seconds: () => Promise<number>;
}

/** The requests of the attestation service that svc makes, under their live paths. */
export function registerAttestation(app: FastifyInstance, deps: BridgeDeps): void {
  const guard = (request: BridgeRequest) => ({
    preHandler: (incoming: FastifyRequest, reply: FastifyReply) => applyRequestFault(deps, request, incoming, reply),
  });

  app.get<{ Params: { domain: string }; Querystring: { transactionHash?: unknown } }>(
    '/bridge/v2/messages/:domain',
    guard('messages'),
    async ({ params, query }, reply) => {
      const hash = normalHash(query.transactionHash);
      if (hash === undefined) return refuse(reply, 400, 'transactionHash must be the hash of a transaction.');
      const isHere = params.domain === String(STARKNET_DOMAIN);
      const which = sql`m.transaction_hash = ${hash}`;
      const burns = isHere ? await advanceBurns(deps.db, which, await deps.seconds()) : [];
      if (burns.length === 0) return refuse(reply, 404, 'No message of this transaction is known.');
      return { messages: burns.map(showMessage) };
    },
  );

  app.get<{ Params: { from: string; to: string }; Querystring: { forward?: unknown } }>(
    '/bridge/v2/burn/USDC/fees/:from/:to',
    guard('fees'),
    async ({ params, query }, reply) => {
      if (params.from !== String(STARKNET_DOMAIN) || params.to !== String(SOLANA_DOMAIN)) {
        return refuse(reply, 404, 'There are no fees for this way.');
      }
      return showFees(await readSettings(deps.db), query.forward === 'true');
    },
  );

  app.post<{ Params: { nonce: string } }>(
    '/bridge/v2/reattest/:nonce',
    guard('reattest'),
    async ({ params }, reply) => {
      if (!NONCE.test(params.nonce)) return refuse(reply, 400, 'The nonce must be 0x and 64 hexadecimal digits.');
      const nonce = params.nonce.toLowerCase();
      if (!(await reattest(deps.db, nonce, await deps.seconds()))) return refuse(reply, 404, 'This nonce is unknown.');
      return { message: 'The message is attested anew where that was needed.', nonce };
    },
  );
}

export async function applyRequestFault(
  { db, seconds }: BridgeDeps,
  request: BridgeRequest,
  { query }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  const { requestsPerSecond } = await readSettings(db);
  // The limit is the bridge's own; a node of Solana has none here.
  if (request !== 'solana' && !(await admitRequest(db, requestsPerSecond, await seconds())))
    return refuse(reply, 429, 'Too many requests.');
  const hash =
    request === 'messages' ? normalHash((query as { transactionHash?: unknown }).transactionHash) : undefined;
  switch (await takeRequestFault(db, request, hash)) {
    case 'unavailable':
      return refuse(reply, 500, 'Something went wrong, as ordered.');
    case 'rate-limited':
      return refuse(reply, 429, 'Too many requests, as ordered.');
    case 'no-answer':
      reply.hijack();
      reply.raw.destroy();
      return reply;
    default:
      return undefined;
  }
}

function refuse(reply: FastifyReply, code: number, error: string): FastifyReply {
  return reply.code(code).send({ code, error });
}

const CCTP_VERSION = 2;
/** As the live service names it. */
const DELAY_REASON = 'insufficient_allowance_available';

export function showMessage(burn: Burn) {
  const common = { eventNonce: burn.nonce, cctpVersion: CCTP_VERSION };
  const message = attestedMessage(burn);
  if (!message) {
    const delayReason = burn.fault?.kind === 'delayed' ? DELAY_REASON : null;
    const pending = { message: '0x', attestation: 'PENDING', decodedMessage: null, status: 'pending_confirmations' };
    return { ...common, ...pending, delayReason, forwardState: null, forwardTxHash: null };
  }
  const isInvented = burn.fault?.kind === 'unminted' && !isMinted(burn);
  const shown = burn.fault?.kind === 'tampered-message' ? tamper(message, burn.fault.field ?? 'amount') : message;
  return {
    ...common,
    message: hex(shown),
    attestation: hex(attest(message)),
    decodedMessage: showDecoded(shown),
    status: 'complete',
    delayReason: null,
    forwardState: isInvented ? 'COMPLETE' : (burn.forwardState ?? null),
    forwardTxHash: isInvented ? signatureOf(`${burn.nonce} invented`) : (burn.forwardTxHash ?? null),
  };
}

export function attestedMessage({ message, nonce, sent, attestation }: Burn): Uint8Array | undefined {
  if (!attestation) return undefined;
  return changeMessage(message, {
    nonce: BigInt(nonce),
    finalityThresholdExecuted: BigInt(isFast(sent.minFinalityThreshold) ? FAST_THRESHOLD : STANDARD_THRESHOLD),
    feeExecuted: attestation.feeExecuted,
    expirationBlock: attestation.expirationBlock,
  });
}

/** Numbers are decimal texts; keys and addresses are 32 bytes in hex. */
export function showDecoded(message: Uint8Array) {
  const fields = decodeMessage(message);
  if (!fields) throw new Error('A message that was attested cannot be read.');
  return {
    sourceDomain: String(fields.sourceDomain),
    destinationDomain: String(fields.destinationDomain),
    nonce: word(fields.nonce),
    sender: word(fields.sender),
    recipient: word(fields.recipient),
    destinationCaller: word(fields.destinationCaller),
    minFinalityThreshold: String(fields.minFinalityThreshold),
    finalityThresholdExecuted: String(fields.finalityThresholdExecuted),
    messageBody: hex(fields.body),
    decodedMessageBody: showBody(fields),
  };
}

function showBody(fields: BurnFields) {
  return {
    burnToken: word(fields.burnToken),
    mintRecipient: word(fields.mintRecipient),
    amount: String(fields.amount),
    messageSender: word(fields.messageSender),
    maxFee: String(fields.maxFee),
    feeExecuted: String(fields.feeExecuted),
    expirationBlock: String(fields.expirationBlock),
    hookData: hex(fields.hookData),
  };
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}

function word(value: bigint): string {
  return `0x${hex64(value)}`;
}

/** Public, like all keys of the sandbox. */
const PRIVATE_KEY = privateKeyOf('attester');
/** Ethereum's recovery id. */
const RECOVERY_OFFSET = 27;

/** r, s and the recovery byte over the Keccak hash: 65 bytes, deterministic. */
export function attest(message: Uint8Array): Uint8Array {
  const signature = secp256k1.sign(keccak_256(message), PRIVATE_KEY);
  return Uint8Array.from([...signature.toCompactRawBytes(), RECOVERY_OFFSET + signature.recovery]);
}

/** Uncompressed. */
export function attesterPublicKey(): Uint8Array {
  return secp256k1.getPublicKey(PRIVATE_KEY, false);
}

/** As the live service blocks a client that exceeds its limit. */
export const BLOCK_SECONDS = 300;

/** Counts over all processes. A block further ahead than BLOCK_SECONDS predates a clock set back, and is void. */
export async function admitRequest(db: Db, requestsPerSecond: number, nowSeconds: number): Promise<boolean> {
  const row = await db.one<{ blocked: boolean }>(sql`
    update sandbox.bridge_limit set
      second = ${nowSeconds}::bigint,
      requests = case when second = ${nowSeconds}::bigint then requests + 1 else 1 end,
      blocked_until = case
        when blocked_until > ${nowSeconds}::bigint and blocked_until <= ${nowSeconds + BLOCK_SECONDS}::bigint
          then blocked_until
        when second = ${nowSeconds}::bigint and requests >= ${requestsPerSecond}::integer
          then ${nowSeconds + BLOCK_SECONDS}::bigint
        else 0 end
    returning blocked_until > 0 as blocked`);
  return row?.blocked === false;
}
