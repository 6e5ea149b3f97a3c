import { ApiError, type ChainToken, parseEvmAddress } from '@svc/protocol';
import type { Db } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { type StartEngine, startEngine } from './engine.ts';
import { failure, PARSE_ERROR, respond } from './json-rpc.ts';
import { EvmNode, QueueFullError, SerialQueue } from './node.ts';
import { type EvmChain, evmChains, type NativeCoin, parseEvmChain } from './tokens.ts';

/** A request takes 1 to 2 ms, so the last one waits for a few seconds at most. */
const MAX_WAITING = 1_000;
/** Above any real supply, and far from overflowing a token's supply. */
export const MAX_GRANT = 10n ** 36n;

export interface EvmOptions {
  readonly start?: StartEngine;
  readonly now?: () => number;
}

/** All chains share one queue, because one execution may take much memory. */
export class EvmChains {
  readonly #nodes: ReadonlyMap<EvmChain, EvmNode>;

  constructor(db: Db, { start = startEngine, now = Date.now }: EvmOptions = {}) {
    const queue = new SerialQueue(MAX_WAITING);
    const chains = Object.keys(evmChains) as EvmChain[];
    this.#nodes = new Map(chains.map((chain) => [chain, new EvmNode({ chain, db, start, queue, now })]));
  }

  node(chain: EvmChain): EvmNode {
    const node = this.#nodes.get(chain);
    if (!node) throw new Error(`${chain} is not an EVM chain.`);
    return node;
  }

  /** `amount` in the smallest unit. Included in a block on return. */
  async fund(chain: EvmChain, address: string, token: ChainToken | NativeCoin, amount: bigint): Promise<string> {
    const recipient = parseEvmAddress(address);
    if (!recipient.ok) throw new ApiError('invalid_request', `address ${recipient.reason}.`);
    const { native, tokens } = evmChains[chain];
    if (token !== native && !tokens.some((item) => item.token === token)) throw new ApiError('token_not_supported');
    if (amount <= 0n || amount > MAX_GRANT) {
      throw new ApiError('invalid_request', 'amount is not one that the faucet pays.');
    }
    const { hash, paid } = await this.node(chain).grant({ address: recipient.value, token, amount }).catch(toApiError);
    if (!paid) throw new ApiError('invalid_request', 'address is a contract that does not take this money.');
    return hash;
  }
}

function toApiError(error: unknown): never {
  throw error instanceof QueueFullError ? new ApiError('rate_limited', error.message) : error;
}

const MAX_BODY_BYTES = 1024 * 1024;

/** Serves `POST /evm/:chain/rpc`. The engine is loaded on first use. */
export function registerEvm(app: FastifyInstance, db: Db, options?: EvmOptions): EvmChains {
  const chains = new EvmChains(db, options);
  app.register(async (scope) => {
    readBodiesAsText(scope);
    scope.post<{ Params: { chain: string } }>(
      '/evm/:chain/rpc',
      { bodyLimit: MAX_BODY_BYTES },
      async ({ params, body }, reply) => {
        const chain = parseEvmChain(params.chain);
        if (!chain) throw new ApiError('not_found');
        const answer = await answerText(String(body ?? ''), (value) => chains.node(chain).handle(value));
        return answer === undefined ? reply.code(204).send() : reply.send(answer);
      },
    );
  });
  return chains;
}

/** A body that is not JSON gets a JSON-RPC answer, so the route parses it. */
function readBodiesAsText(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
}

async function answerText(text: string, handle: (body: unknown) => Promise<unknown>): Promise<unknown> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return respond(null, failure(PARSE_ERROR, 'The body is not JSON.'));
  }
  return handle(body);
}
