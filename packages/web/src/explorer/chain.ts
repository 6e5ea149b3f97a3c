import type { ClassDescription } from './abi.ts';
import { Book, hex, type KnownContracts, type RpcEvent, type RpcTransaction } from './decode.ts';
import { apiUrl } from './place.ts';

/** Why a read failed: a code of JSON-RPC, or the status of HTTP. */
export class ChainError extends Error {
  override readonly name = 'ChainError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export const CONTRACT_NOT_FOUND = 20;
export const BLOCK_NOT_FOUND = 24;
export const TRANSACTION_NOT_FOUND = 29;

export interface Listed<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

export interface ListedTransaction {
  readonly transactionHash: string;
  readonly blockNumber: number;
  readonly timestamp: number;
  readonly finalityStatus: string;
  readonly executionStatus: string;
  readonly actualFee: string;
  readonly events: number;
  readonly transaction: RpcTransaction;
}

export interface ListedAccount {
  readonly address: string;
  readonly classHash: string;
  readonly blockNumber: number;
  readonly timestamp: number;
  readonly transactionHash: string;
}

export interface ChainHead {
  readonly blockNumber: number;
  readonly offsetSeconds: number;
  readonly blockSeconds: number;
  readonly waitingTransactions: number;
  readonly openTransactions: number;
  readonly transactions: number;
}

export async function read<T>(path: string): Promise<T> {
  const response = await fetch(`${apiUrl}/${path}`);
  const body = await response.json();
  if (!response.ok) throw new ChainError(response.status, body.message ?? response.statusText);
  return body;
}

export const readBook = async (): Promise<Book> => new Book(await read<KnownContracts>('contracts'));

interface RpcAnswer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export type RpcCall = readonly [method: string, params: unknown];
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ChainError };

/** The node's limit for calls in one request. */
const MAX_BATCH = 100;

/** Many calls at once; each has its own outcome. */
export async function ask(calls: readonly RpcCall[]): Promise<Outcome<unknown>[]> {
  if (calls.length > MAX_BATCH) {
    return [...(await ask(calls.slice(0, MAX_BATCH))), ...(await ask(calls.slice(MAX_BATCH)))];
  }
  if (calls.length === 0) return [];
  const body = calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method: `starknet_${method}`, params }));
  const response = await fetch(`${apiUrl}/rpc`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new ChainError(response.status, response.statusText);
  const answers: RpcAnswer[] = await response.json();
  return answers.map(({ result, error }) =>
    error ? { ok: false, error: new ChainError(error.code, error.message) } : { ok: true, value: result },
  );
}

export async function askOne<T>(method: string, params: unknown): Promise<T> {
  const [outcome] = await ask([[method, params]]);
  if (!outcome?.ok) throw outcome?.error ?? new ChainError(0, 'No answer');
  return outcome.value as T;
}

/** Undefined instead of an error with this code. */
export async function askFor<T>(method: string, params: unknown, missing: number): Promise<T | undefined> {
  return askOne<T>(method, params).catch((error: unknown) => {
    if (error instanceof ChainError && error.code === missing) return undefined;
    throw error;
  });
}

export interface RpcBlock {
  readonly status?: string;
  readonly block_hash?: string;
  readonly parent_hash?: string;
  readonly block_number: number;
  readonly timestamp: number;
  readonly sequencer_address: string;
  readonly l2_gas_price: { readonly price_in_fri: string };
  readonly l1_data_gas_price: { readonly price_in_fri: string };
  readonly event_count?: number;
}

export interface RpcReceipt {
  readonly type: string;
  readonly transaction_hash: string;
  readonly actual_fee: { readonly amount: string };
  readonly finality_status: string;
  readonly execution_status: string;
  readonly revert_reason?: string;
  readonly block_hash?: string;
  readonly block_number?: number;
  readonly contract_address?: string;
  readonly events: readonly RpcEvent[];
  readonly execution_resources: { readonly l1_gas: number; readonly l1_data_gas: number; readonly l2_gas: number };
}

const blockId = (id: string) =>
  id === 'pre_confirmed' ? id : id.startsWith('0x') ? { block_hash: id } : { block_number: Number(id) };

export type BlockWithHashes = RpcBlock & { readonly transactions: readonly string[] };
export type BlockWithReceipts = RpcBlock & {
  readonly transactions: readonly { readonly transaction: RpcTransaction; readonly receipt: RpcReceipt }[];
};

/** From this number downwards. */
export async function readBlocks(from: number, count: number): Promise<BlockWithHashes[]> {
  const numbers = Array.from({ length: Math.min(count, from + 1) }, (_, index) => from - index);
  const outcomes = await ask(numbers.map((number) => ['getBlockWithTxHashes', [{ block_number: number }]]));
  return outcomes.flatMap((outcome) => (outcome.ok ? [outcome.value as BlockWithHashes] : []));
}

export const readBlock = (id: string) =>
  askFor<BlockWithReceipts>('getBlockWithReceipts', [blockId(id)], BLOCK_NOT_FOUND);

export interface FoundTransaction {
  readonly transaction: RpcTransaction & { readonly transaction_hash: string };
  /** Undefined while it waits for one before it. */
  readonly receipt: RpcReceipt | undefined;
  readonly block: BlockWithHashes | undefined;
}

export async function readTransaction(hash: string): Promise<FoundTransaction | undefined> {
  const [transaction, receipt] = await ask([
    ['getTransactionByHash', [hash]],
    ['getTransactionReceipt', [hash]],
  ]);
  if (!transaction?.ok) {
    if (transaction?.error.code === TRANSACTION_NOT_FOUND) return undefined;
    throw transaction?.error ?? new ChainError(0, 'No answer');
  }
  const found = receipt?.ok ? (receipt.value as RpcReceipt) : undefined;
  const number = found?.block_number;
  const id = found?.block_hash === undefined ? 'pre_confirmed' : String(number);
  const block =
    found && number !== undefined
      ? await askFor<BlockWithHashes>('getBlockWithTxHashes', [blockId(id)], BLOCK_NOT_FOUND)
      : undefined;
  return { transaction: transaction.value as FoundTransaction['transaction'], receipt: found, block };
}

export interface Account {
  readonly address: bigint;
  /** Undefined: not deployed. */
  readonly classHash: bigint | undefined;
  readonly nonce: bigint | undefined;
  readonly publicKey: bigint | undefined;
  readonly totalSupply: bigint | undefined;
  /** By token, in its smallest unit. */
  readonly balances: ReadonlyMap<string, bigint>;
}

export async function readAccount(book: Book, address: bigint): Promise<Account> {
  const at = hex(address);
  const [classHash, nonce, publicKey, supply, ...balances] = await ask([
    ['getClassHashAt', ['latest', at]],
    ['getNonce', ['latest', at]],
    callOf(book, at, 'get_public_key'),
    callOf(book, at, 'total_supply'),
    ...book.tokens.map((token) => callOf(book, token.address, 'balance_of', [at])),
  ]);
  const first = (outcome: Outcome<unknown> | undefined) => (outcome?.ok ? numberOf(outcome.value) : undefined);
  return {
    address,
    classHash: first(classHash),
    nonce: first(nonce),
    publicKey: first(publicKey),
    totalSupply: first(supply),
    balances: new Map(book.tokens.map((token, index) => [token.token, first(balances[index]) ?? 0n])),
  };
}

/** By token, in its smallest unit. */
export async function readSupplies(book: Book): Promise<ReadonlyMap<string, bigint>> {
  const outcomes = await ask(book.tokens.map(({ address }) => callOf(book, address, 'total_supply')));
  return new Map(
    outcomes.flatMap((outcome, index) => {
      const supply = outcome.ok ? numberOf(outcome.value) : undefined;
      const token = book.tokens[index]?.token;
      return supply === undefined || token === undefined ? [] : [[token, supply] as const];
    }),
  );
}

function callOf(book: Book, contract: string, name: string, calldata: readonly string[] = []): RpcCall {
  const request = { contract_address: contract, entry_point_selector: book.selector(name) ?? '0x0', calldata };
  return ['call', [request, 'latest']];
}

/** A felt, or the two halves of a u256. */
function numberOf(value: unknown): bigint | undefined {
  const [low = '0x0', high = '0x0'] = Array.isArray(value) ? value : [value];
  return typeof low === 'string' && typeof high === 'string' ? BigInt(low) | (BigInt(high) << 128n) : undefined;
}

export interface Session {
  readonly key: bigint;
  /** Unix seconds; 0: revoked. */
  readonly validUntil: bigint;
  readonly maxCalls: bigint;
  readonly callsUsed: bigint;
  /** Names, or selectors without a known name; empty: all that sessions may call. */
  readonly entrypoints: readonly string[];
  readonly policies: readonly Policy[];
}

export interface Policy {
  readonly token: bigint;
  readonly maxPerCall: bigint;
  readonly maxPerWindow: bigint;
  readonly windowSeconds: bigint;
  readonly spentInWindow: bigint;
  readonly windowStart: bigint;
}

/** The chain keeps no list of sessions: their events name the keys, calls read what is in force. */
export async function readSessions(book: Book, address: bigint): Promise<Session[]> {
  const at = hex(address);
  const [added, policies] = await Promise.all([
    readKeys(at, book.selector('SessionKeyAdded')),
    readKeys(at, book.selector('SpendingPolicySet')),
  ]);
  const keys = [...new Set([...added, ...policies].map(([key = '0x0']) => key))].slice(-MAX_SESSIONS).reverse();
  const data = await ask(keys.map((key) => callOf(book, at, 'get_session_data', [key])));
  const pairs = [...new Set(policies.map((pair) => pair.join()))].map((pair) => pair.split(','));
  const limits = await ask(pairs.map((pair) => callOf(book, at, 'get_spending_policy', pair)));
  const feltsOf = (outcome: Outcome<unknown> | undefined) =>
    outcome?.ok && Array.isArray(outcome.value) ? outcome.value.map((felt) => BigInt(felt)) : [];
  return Promise.all(
    keys.map(async (key, index) => {
      const [validUntil = 0n, maxCalls = 0n, callsUsed = 0n, length = 0n] = feltsOf(data[index]);
      return {
        key: BigInt(key),
        validUntil,
        maxCalls,
        callsUsed,
        entrypoints: await readEntrypoints(book, at, key, Number(length)),
        policies: pairs.flatMap(([of, token = '0x0'], place) =>
          of === key ? policyOf(BigInt(token), feltsOf(limits[place])) : [],
        ),
      };
    }),
  );
}

const MAX_SESSIONS = 50;
const MAX_EVENTS = 1_000;
const MAX_ENTRYPOINTS = 50;

async function readKeys(address: string, selector: string | undefined): Promise<string[][]> {
  if (selector === undefined) return [];
  const filter = {
    from_block: { block_number: 0 },
    to_block: 'latest',
    address,
    keys: [[selector]],
    chunk_size: MAX_EVENTS,
  };
  const { events } = await askOne<{ events: readonly RpcEvent[] }>('getEvents', { filter });
  return events.map(({ keys }) => keys.slice(1));
}

async function readEntrypoints(book: Book, at: string, key: string, length: number): Promise<string[]> {
  const indexes = Array.from({ length: Math.min(length, MAX_ENTRYPOINTS) }, (_, index) => hex(BigInt(index)));
  const found = await ask(indexes.map((index) => callOf(book, at, 'get_session_allowed_entrypoint_at', [key, index])));
  return found.flatMap((outcome) => {
    const selector = outcome.ok ? numberOf(outcome.value) : undefined;
    return selector === undefined ? [] : [book.functionName(selector) ?? hex(selector)];
  });
}

function policyOf(token: bigint, felts: readonly bigint[]): Policy[] {
  const [callLow = 0n, callHigh = 0n, low = 0n, high = 0n, windowSeconds = 0n, spent = 0n, spentHigh = 0n, start = 0n] =
    felts;
  if (windowSeconds === 0n) return [];
  return [
    {
      token,
      maxPerCall: callLow | (callHigh << 128n),
      maxPerWindow: low | (high << 128n),
      windowSeconds,
      spentInWindow: spent | (spentHigh << 128n),
      windowStart: start,
    },
  ];
}

/** Undefined where no class has this hash. */
export async function readClass(book: Book, id: string): Promise<ClassDescription | undefined> {
  const known = book.class(BigInt(id));
  if (known) return known;
  return read<ClassDescription>(`classes/${id}`).catch((error: unknown) => {
    if (error instanceof ChainError && (error.code === 404 || error.code === 400)) return undefined;
    throw error;
  });
}

export type Found =
  | { readonly kind: 'block' | 'tx' | 'account' | 'class'; readonly id: string }
  | { readonly kind: 'nothing'; readonly why: 'number' | 'hash' | 'form' };

const MAX_FELT_DIGITS = 64;

/** What a text names on the chain. An address needs no contract: money may wait there. */
export async function find(book: Book, text: string): Promise<Found> {
  const given = text.trim().replaceAll(/[\s,]/g, '');
  if (/^\d{1,9}$/.test(given)) {
    const block = await readBlock(given);
    return block ? { kind: 'block', id: given } : { kind: 'nothing', why: 'number' };
  }
  const digits = /^(?:0x)?0*([0-9a-f]*)$/i.exec(given)?.[1];
  if (!digits || digits.length > MAX_FELT_DIGITS) return findByName(book, text) ?? { kind: 'nothing', why: 'form' };
  const id = `0x${digits.toLowerCase()}`;
  const [tx, block, contract, ...balances] = await ask([
    ['getTransactionByHash', [id]],
    ['getBlockWithTxHashes', [{ block_hash: id }]],
    ['getClassHashAt', ['latest', id]],
    ...book.tokens.map((token) => callOf(book, token.address, 'balance_of', [id])),
  ]);
  if (tx?.ok) return { kind: 'tx', id };
  if (block?.ok) return { kind: 'block', id };
  if (contract?.ok) return { kind: 'account', id };
  if (await readClass(book, id)) return { kind: 'class', id };
  if (balances.some((outcome) => outcome.ok && numberOf(outcome.value))) return { kind: 'account', id };
  return { kind: 'nothing', why: 'hash' };
}

function findByName(book: Book, text: string): Found | undefined {
  const name = text.trim().toLowerCase();
  const token = book.tokens.find((one) =>
    [one.token, one.symbol, one.name].some((each) => each.toLowerCase() === name),
  );
  const address = token?.address ?? book.addressOf(name);
  return address === undefined ? undefined : { kind: 'account', id: address };
}
