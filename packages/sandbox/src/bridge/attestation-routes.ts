import { type Db, sql } from '@svc/store';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SOLANA_DOMAIN, STARKNET_DOMAIN } from '../contracts/cctp/constants.ts';
import { advanceBurns, reattest } from './advance.ts';
import { type BridgeRequest, takeRequestFault } from './faults.ts';
import { showFees } from './fees.ts';
import { admit } from './limit.ts';
import { normalHash } from './requests.ts';
import { readSettings } from './settings.ts';
import { showMessage } from './show-message.ts';

const NONCE = /^0x[0-9a-fA-F]{64}$/;

export interface BridgeParts {
  readonly db: Db;
  /** The chain's time in seconds. */
  readonly seconds: () => Promise<number>;
}

/** The three requests of the attestation service that svc makes, under the paths of the live one. */
export function registerAttestation(app: FastifyInstance, parts: BridgeParts): void {
  const guard = (request: BridgeRequest) => ({
    preHandler: (asked: FastifyRequest, reply: FastifyReply) => stopWhereOrdered(parts, request, asked, reply),
  });

  app.get<{ Params: { domain: string }; Querystring: { transactionHash?: unknown } }>(
    '/bridge/v2/messages/:domain',
    guard('messages'),
    async ({ params, query }, reply) => {
      const hash = normalHash(query.transactionHash);
      if (hash === undefined) return refuse(reply, 400, 'transactionHash must be the hash of a transaction.');
      const isHere = params.domain === String(STARKNET_DOMAIN);
      const which = sql`m.transaction_hash = ${hash}`;
      const burns = isHere ? await advanceBurns(parts.db, which, await parts.seconds()) : [];
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
      return showFees(await readSettings(parts.db), query.forward === 'true');
    },
  );

  app.post<{ Params: { nonce: string } }>(
    '/bridge/v2/reattest/:nonce',
    guard('reattest'),
    async ({ params }, reply) => {
      if (!NONCE.test(params.nonce)) return refuse(reply, 400, 'The nonce must be 0x and 64 hexadecimal digits.');
      const nonce = params.nonce.toLowerCase();
      if (!(await reattest(parts.db, nonce, await parts.seconds())))
        return refuse(reply, 404, 'This nonce is unknown.');
      return { message: 'The message is attested anew where that was needed.', nonce };
    },
  );
}

/** Answers in place of the handler where the limit is passed or a fault was ordered. */
async function stopWhereOrdered(
  { db, seconds }: BridgeParts,
  request: BridgeRequest,
  { query }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  const { requestsPerSecond } = await readSettings(db);
  if (!(await admit(db, requestsPerSecond, await seconds()))) return refuse(reply, 429, 'Too many requests.');
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

/** As the live service refuses: the status again, and a sentence. */
function refuse(reply: FastifyReply, code: number, error: string): FastifyReply {
  return reply.code(code).send({ code, error });
}
