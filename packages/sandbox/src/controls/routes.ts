import { ApiError, type ChainToken, chains, chainTokens, parseStarknetAddress, parseTokenAmount } from '@svc/protocol';
import type { FastifyInstance } from 'fastify';
import { faultKinds, type NewFault } from '../chain/faults.ts';
import type { EvmChains } from '../evm/chains.ts';
import { type EvmChain, evmChains, type NativeCoin } from '../evm/tokens.ts';
import {
  type Body,
  readBody,
  readOneOf,
  readOptionalText,
  readOptionalWhole,
  readText,
  readWhole,
} from '../request-body.ts';
import { starknetToken, starknetTokens } from '../tokens.ts';
import { NodeGoneError, type RunningNode } from '../worker/node-thread.ts';
import { type Command, type Funding, MAX_MINED_BLOCKS, MAX_REORGANISED_BLOCKS } from './commands.ts';

export function registerControls(app: FastifyInstance, node: RunningNode, evm: EvmChains): void {
  const command = (one: Command) => node.command(one).catch(toApiError);

  app.post('/faucet', async ({ body }) => {
    const request = readFaucetRequest(body);
    if (request.chain === 'STARKNET') return command({ do: 'fund', funding: request.funding });
    const { chain, address, token, amount } = request;
    return { transactionHash: await evm.fund(chain, address, token, amount) };
  });

  app.get('/starknet', async () => command({ do: 'show' }));
  app.post('/starknet/mine', async ({ body }) => command(readMine(body)));
  app.post('/starknet/time', async ({ body }) => command(readTime(body)));
  app.post('/starknet/block-time', async ({ body }) => command(readBlockTime(body)));
  app.post('/starknet/reorg', async ({ body }) => command(readReorganisation(body)));

  app.post('/starknet/pool', async ({ body }) => command(readPoolTerms(body)));

  app.get('/starknet/faults', async () => command({ do: 'list-faults' }));
  app.delete('/starknet/faults', async () => command({ do: 'clear-faults' }));
  app.post('/starknet/faults', async ({ body }) => {
    const fault = await command({ do: 'add-fault', fault: readFault(body) });
    if (!fault) throw new ApiError('invalid_request', 'There are too many orders. Clear them with DELETE first.');
    return fault;
  });
}

function toApiError(error: unknown): never {
  if (error instanceof NodeGoneError) throw new ApiError('internal_error', error.message, { cause: error });
  throw error;
}

/** A century; later timestamps would not fit the contracts' types. */
const MAX_OFFSET_SECONDS = 100 * 366 * 86_400;
const MAX_BLOCK_SECONDS = 3_600;
const MAX_L1_AFTER_BLOCKS = 1_000_000;

const MAX_FAULT_SECONDS = 86_400;
const DEFAULT_FAULT_SECONDS = 3_600;
const MAX_FAULT_COUNT = 10_000;
/** Below the usual client timeout. */
const MAX_DELAY_MS = 60_000;
const MAX_TEXT = 1_000;
/** Range of JSON-RPC error codes. */
const MAX_CODE = 2 ** 31 - 1;

export function readMine(body: unknown): Command {
  return { do: 'mine', blocks: readOptionalWhole(readBody(body), 'blocks', 1, MAX_MINED_BLOCKS) ?? 1 };
}

export function readTime(value: unknown): Command {
  const body = readBody(value);
  const offsetSeconds = readOptionalWhole(body, 'offsetSeconds', -MAX_OFFSET_SECONDS, MAX_OFFSET_SECONDS);
  const seconds = readOptionalWhole(body, 'increaseSeconds', 0, MAX_OFFSET_SECONDS);
  if (offsetSeconds !== undefined && seconds === undefined) return { do: 'set-time', offsetSeconds };
  if (seconds !== undefined && offsetSeconds === undefined) return { do: 'increase-time', seconds };
  throw new ApiError('invalid_request', 'The body must have either offsetSeconds or increaseSeconds.');
}

/** `POST /starknet/pool` `{fee?, shieldPaused?, lagBlocks?}`, the fee in whole STRK; what is not named is off. */
export function readPoolTerms(value: unknown): Command {
  const body = readBody(value);
  const fee = body.fee === undefined ? 0n : readAmount(body, 'fee', starknetToken('STRK').decimals);
  const { shieldPaused: shield_paused = false } = body;
  if (typeof shield_paused !== 'boolean') throw new ApiError('invalid_request', 'body.shieldPaused must be a boolean.');
  const lag_blocks = BigInt(readOptionalWhole(body, 'lagBlocks', 0, MAX_MINED_BLOCKS) ?? 0);
  return { do: 'set-pool-terms', terms: { fee, shield_paused, lag_blocks } };
}

/** `POST /starknet/block-time` `{seconds, l1AfterBlocks?}`; 0 seconds: instant blocks. */
export function readBlockTime(value: unknown): Command {
  const body = readBody(value);
  const seconds = readWhole(body, 'seconds', 0, MAX_BLOCK_SECONDS);
  const l1AfterBlocks = readOptionalWhole(body, 'l1AfterBlocks', 0, MAX_L1_AFTER_BLOCKS);
  return { do: 'set-block-time', seconds, ...(l1AfterBlocks !== undefined && { l1AfterBlocks }) };
}

export function readReorganisation(value: unknown): Command {
  const body = readBody(value);
  return {
    do: 'reorganise',
    blocks: readWhole(body, 'blocks', 1, MAX_REORGANISED_BLOCKS),
    transactions: readOneOf(body, 'transactions', ['drop', 'requeue']),
  };
}

/** Without `count` and `seconds`: once, within an hour. */
export function readFault(value: unknown): NewFault {
  const body = readBody(value);
  const kind = readOneOf(body, 'kind', faultKinds);
  const method = readOptionalText(body, 'method', MAX_TEXT);
  const count = readOptionalWhole(body, 'count', 1, MAX_FAULT_COUNT);
  const seconds = readOptionalWhole(body, 'seconds', 1, MAX_FAULT_SECONDS);
  const times = count ?? (seconds === undefined ? 1 : undefined);
  return {
    kind,
    ...(method !== undefined && { method }),
    ...(times !== undefined && { count: times }),
    seconds: seconds ?? DEFAULT_FAULT_SECONDS,
    ...readParameters(kind, body),
  };
}

function readParameters(kind: NewFault['kind'], body: Body): Partial<NewFault> {
  switch (kind) {
    case 'revert':
    case 'reject':
      return body.reason === undefined ? {} : { reason: readText(body, 'reason', MAX_TEXT) };
    case 'slow':
      return { delayMs: readWhole(body, 'delayMs', 1, MAX_DELAY_MS) };
    case 'error':
      return {
        code: readWhole(body, 'code', -MAX_CODE, MAX_CODE),
        message: readText(body, 'message', MAX_TEXT),
      };
    case 'stale':
      return { blocks: readWhole(body, 'blocks', 1, MAX_REORGANISED_BLOCKS) };
    case 'forget':
    case 'lose-answer':
    case 'unavailable':
      return {};
  }
}

/** Whole tokens; far below any balance limit. */
const MAX_WHOLE = 1_000_000_000n;
/** Longest decimal that the parser accepts. */
const MAX_LENGTH = 98;
const NATIVE_DECIMALS = 18;

export type FaucetRequest =
  | { readonly chain: 'STARKNET'; readonly funding: Funding }
  | {
      readonly chain: EvmChain;
      readonly address: string;
      readonly token: ChainToken | NativeCoin;
      readonly amount: bigint;
    };

/** `POST /faucet` `{address, token, amount, chain?}`: amount in whole tokens as a decimal text, STARKNET by default. */
export function readFaucetRequest(value: unknown): FaucetRequest {
  const body = readBody(value);
  const chain = body.chain === undefined ? 'STARKNET' : readOneOf(body, 'chain', chains);
  const address = readText(body, 'address', MAX_LENGTH);
  if (chain !== 'STARKNET') {
    const token = readOneOf(body, 'token', [...chainTokens, evmChains[chain].native]);
    return { chain, address, token, amount: readAmount(body, 'amount', evmDecimals(chain, token)) };
  }
  const token = readOneOf(body, 'token', chainTokens);
  const known = starknetTokens.find((one) => one.token === token);
  if (!known) throw new ApiError('token_not_supported');
  const to = parseStarknetAddress(address);
  if (!to.ok) throw new ApiError('invalid_request', `body.address ${to.reason}.`);
  const amount = readAmount(body, 'amount', known.decimals);
  return { chain, funding: { token: known.address, to: BigInt(to.value), amount } };
}

function evmDecimals(chain: EvmChain, token: string): number {
  const { native, tokens } = evmChains[chain];
  if (token === native) return NATIVE_DECIMALS;
  const known = tokens.find((one) => one.token === token);
  if (!known) throw new ApiError('token_not_supported');
  return known.decimals;
}

function readAmount(body: Body, field: string, decimals: number): bigint {
  const amount = parseTokenAmount(readText(body, field, MAX_LENGTH), decimals);
  if (!amount.ok) throw new ApiError('invalid_request', `body.${field} ${amount.reason}.`);
  if (amount.value === 0n) throw new ApiError('invalid_request', `body.${field} must be more than 0.`);
  if (amount.value > MAX_WHOLE * 10n ** BigInt(decimals)) {
    throw new ApiError('invalid_request', `body.${field} must be at most ${MAX_WHOLE}.`);
  }
  return amount.value;
}
