import {
  type AnswerOf,
  ApiError,
  type AttemptState,
  type Chain,
  type Environment,
  type endpoints,
  parseStarknetAddress,
  type Transaction,
} from '@svc/protocol';
import { type Call, decodeCalls, toHex } from '@svc/starknet';
import type { Reads } from '@svc/store';
import type { Networks, StarknetNetwork } from '../chains/networks.ts';
import { ChainUnavailableError } from '../chains/node-fetch.ts';
import {
  type ChainEvent,
  padAddress,
  type RawInvoke,
  type Receipt,
  type StarknetChain,
} from '../chains/starknet/chain.ts';
import { evmChainNames, type Token } from '../chains/tokens.ts';
import type { Caller } from '../http/call.ts';
import { refuse } from '../http/validation.ts';
import type { Relay } from '../relayer/relay.ts';
import { callsOf, findRelay, findRelayByHash, readAttempts, type StoredAttempt } from '../relayer/relay-store.ts';
import { mayActFor, walletsAt } from '../wallets/wallet.ts';
import { parseEvmHash, parseStarknetHash } from './chain-transaction.ts';
import { type CallOf, decodeArguments, decodeEvent, flattenCalls, nameOfEvent, namesOf } from './decode.ts';
import { type TransactionRecord, toTransaction } from './record.ts';
import { recordById, recordsByHash, recordsOfRelay } from './record-store.ts';

export interface FindDeps {
  readonly reads: Reads;
  readonly networks: Pick<Networks, 'starknet'>;
}

/** By id or hash. Of several records of a transaction: its purchase, else the first that the caller's wallet sent. */
export async function getTransaction(deps: FindDeps, caller: Caller, hashOrId: string): Promise<Transaction> {
  const [first] = await findRecords(deps, caller, hashOrId);
  return toTransaction(first);
}

/** One at least. */
async function findRecords(
  deps: FindDeps,
  caller: Caller,
  hashOrId: string,
): Promise<[TransactionRecord, ...TransactionRecord[]]> {
  const found = await find(deps, caller, hashOrId);
  const known = found.filter(({ transactionHash }) => transactionHash !== undefined);
  const [first, ...others] = await visibleTo(deps.reads, caller, known);
  if (!first) throw new ApiError('transaction_not_found');
  return [first, ...others];
}

export async function find(deps: FindDeps, caller: Caller, hashOrId: string): Promise<TransactionRecord[]> {
  const { reads } = deps;
  if (!hashOrId.startsWith('0x')) {
    const record = await recordById(reads, caller, hashOrId);
    return record ? [record] : [];
  }
  const spellings: (readonly [Chain, string])[] = [];
  const [felt, evmHash] = [parseStarknetHash(hashOrId), parseEvmHash(hashOrId)];
  if (felt.ok) spellings.push(['STARKNET', toHex(felt.value)]);
  if (evmHash.ok) spellings.push(...evmChainNames.map((chain) => [chain, evmHash.value] as const));
  const byHash = await Promise.all(
    spellings.map(([chain, hash]) => recordsByHash(reads, { ...ownerOf(caller), withPurchase: true }, chain, hash)),
  );
  const records = byHash.flat();
  return records.length === 0 && felt.ok ? recordsOfReplaced(deps, caller, felt.value) : records;
}

/** A relay with a raised fee has several hashes; its records have the last. */
async function recordsOfReplaced(
  { reads, networks }: FindDeps,
  caller: Caller,
  hash: bigint,
): Promise<TransactionRecord[]> {
  const chainId = networkIfAny(networks, caller.environment)?.chain.chainId;
  const relay = chainId === undefined ? undefined : await findRelayByHash(reads, chainId, hash);
  const records = relay ? await recordsOfRelay(reads, relay.id) : [];
  return records.filter(({ organizationId }) => organizationId === caller.organizationId);
}

/** Records of other chains are readable without a Starknet. */
function networkIfAny(networks: Pick<Networks, 'starknet'>, environment: Environment): StarknetNetwork | undefined {
  try {
    return networks.starknet(environment);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'chain_not_configured') return undefined;
    throw error;
  }
}

/** A user's token sees records of its own wallets only. */
async function visibleTo(
  reads: Reads,
  caller: Caller,
  records: readonly TransactionRecord[],
): Promise<TransactionRecord[]> {
  const parties = records.flatMap(({ senderAddress, destinationAddress }) => [senderAddress, destinationAddress]);
  const addresses = [...new Set(parties)].flatMap((address) => {
    const parsed = parseStarknetAddress(address);
    return parsed.ok ? [parsed.value] : [];
  });
  const wallets = await walletsAt(reads, caller.environment, addresses);
  const own = new Set<string>(
    wallets
      .filter((wallet) => wallet.organizationId === caller.organizationId && mayActFor(caller, wallet.externalUserId))
      .map(({ address }) => address),
  );
  const visible =
    caller.proof === 'user token'
      ? records.filter((record) => own.has(record.senderAddress) || own.has(record.destinationAddress))
      : records;
  const side = ({ senderAddress }: TransactionRecord) => (own.has(senderAddress) ? 0 : 1);
  const kind = ({ type }: TransactionRecord) => (type === 'SKU_PURCHASE' ? 0 : 1);
  return visible.toSorted(
    (one, other) =>
      kind(one) - kind(other) ||
      side(one) - side(other) ||
      (one.callIndex ?? 0) - (other.callIndex ?? 0) ||
      (one.eventIndex ?? 0) - (other.eventIndex ?? 0),
  );
}

const ownerOf = ({ organizationId, environment }: Caller) => ({ organizationId, environment });

type Answer = AnswerOf<typeof endpoints.getTransactionStatus>;

interface StatusDeps {
  readonly reads: Reads;
  readonly networks: Pick<Networks, 'starknet'>;
}

/** Falls back to our own relay where the chain does not know the transaction. */
export async function chainStatus({ reads, networks }: StatusDeps, caller: Caller, text: string): Promise<Answer> {
  const hash = parseStarknetHash(text);
  if (!hash.ok) refuse('path.hash', hash.reason);
  const { chain } = networks.starknet(caller.environment);
  const onChain = await readChainStatus(chain, hash.value);
  if (onChain.status !== 'NOT_RECEIVED') return onChain;
  const relay = await findRelayByHash(reads, chain.chainId, hash.value);
  if (!relay) return onChain;
  const isReplaced = relay.hash !== undefined && relay.hash !== hash.value && relay.state !== 'VOIDED';
  if (!isReplaced) return statusOfRelay(relay, hash.value);
  const other = await readChainStatus(chain, relay.hash);
  return other.status === 'NOT_RECEIVED' ? statusOfRelay(relay, relay.hash) : other;
}

async function readChainStatus(chain: StarknetChain, hash: bigint): Promise<Answer> {
  // Before there is a receipt, only the status knows the transaction.
  const { status, revertReason, blockNumber } = (await chain.receipt(hash)) ?? {
    ...(await chain.transactionStatus(hash)),
    blockNumber: undefined,
  };
  return answer(hash, status, blockNumber, revertReason);
}

function statusOfRelay({ state, blockNumber, revertReason }: Relay, hash: bigint): Answer {
  if (state === 'VOIDED') return answer(hash, 'REJECTED', undefined, undefined);
  if (state === 'SUCCEEDED') return answer(hash, 'ACCEPTED_ON_L2', blockNumber, undefined);
  if (state === 'REVERTED') return answer(hash, 'REVERTED', blockNumber, revertReason ?? '');
  return answer(hash, 'RECEIVED', undefined, undefined);
}

function answer(
  hash: bigint,
  status: Answer['status'],
  blockNumber: number | undefined,
  revertReason: string | undefined,
): Answer {
  return {
    transactionHash: toHex(hash),
    status,
    ...(blockNumber !== undefined && { blockNumber }),
    ...(revertReason !== undefined && { revertReason }),
  };
}

type DetailsAnswer = AnswerOf<typeof endpoints.getTransactionDetails>;

interface DetailsDeps {
  readonly reads: Reads;
  readonly networks: Pick<Networks, 'starknet' | 'tokens'>;
}

/** A transaction of many transfers, such as a batch of payments, has several hundred. */
const MAX_EVENTS = 500;
const MAX_CALLS = 500;

export async function transactionDetails(deps: DetailsDeps, caller: Caller, hashOrId: string): Promise<DetailsAnswer> {
  const [first] = await findRecords(deps, caller, hashOrId);
  const { relayId, transactionHash = '', chain } = first;
  const others = (await findRecords(deps, caller, transactionHash)).filter(({ id }) => id !== first.id);
  const relay = relayId === undefined ? undefined : await findRelay(deps.reads, relayId);
  const onChain = chain === 'STARKNET' ? await readChain(deps, caller.environment, BigInt(transactionHash)) : undefined;
  const calls = await callsOfTransaction(deps.reads, relay, onChain?.invoke);
  const names = await namesOf(
    deps.reads,
    caller.organizationId,
    calls.map((call) => call.selector),
  );
  const tokens = chain === 'STARKNET' ? tokensByAddress(deps, caller.environment) : new Map();
  const { receipt } = onChain ?? {};
  const events = receipt?.events ?? [];
  return {
    transaction: toTransaction(first),
    records: [first, ...others].map(toTransaction),
    status: receipt?.status ?? onChain?.status ?? null,
    blockNumber: receipt?.blockNumber ?? first.blockNumber ?? null,
    revertReason: receipt?.revertReason ?? first.revertReason ?? relay?.revertReason ?? null,
    fee: receipt ? receipt.fee.toString() : null,
    feePayer: payerOf(relay, onChain?.invoke),
    calls: calls.slice(0, MAX_CALLS).map((call) => describeCall(call, names.get(call.selector), tokens)),
    events: events.slice(0, MAX_EVENTS).map((event, index) => describeEvent(event, index, tokens)),
    hasAllEvents: events.length <= MAX_EVENTS,
    relay: relay ? await describeRelay(deps.reads, relay) : null,
  };
}

interface OnChain {
  readonly receipt: Receipt | undefined;
  readonly status: Receipt['status'];
  readonly invoke: RawInvoke | undefined;
}

/** Undefined where no node answers: what is stored is shown without it. */
async function readChain(
  { networks }: DetailsDeps,
  environment: Environment,
  hash: bigint,
): Promise<OnChain | undefined> {
  const chain = networkIfAny(networks, environment)?.chain;
  if (!chain) return undefined;
  try {
    const [receipt, invoke] = await Promise.all([chain.receipt(hash), chain.invoke(hash)]);
    const status = receipt?.status ?? (await chain.transactionStatus(hash)).status;
    return { receipt, status, invoke: invoke?.transaction };
  } catch (error) {
    if (error instanceof ChainUnavailableError) return undefined;
    throw error;
  }
}

async function callsOfTransaction(
  reads: Reads,
  relay: Relay | undefined,
  invoke: RawInvoke | undefined,
): Promise<CallOf[]> {
  if (invoke) return flattenCalls(BigInt(invoke.sender_address), decodeCalls(invoke.calldata.map(BigInt)) ?? []);
  // A paymaster's relay stores its request, not calls.
  if (!relay || relay.account === undefined) return [];
  const calls: readonly Call[] = await callsOf(reads, relay.id);
  return flattenCalls(relay.account, calls);
}

function payerOf(relay: Relay | undefined, invoke: RawInvoke | undefined): string | null {
  const payer = invoke ? BigInt(invoke.sender_address) : relay?.account;
  return payer === undefined ? null : padAddress(payer);
}

type Tokens = ReadonlyMap<string, Token>;

function tokensByAddress({ networks }: DetailsDeps, environment: Environment): Tokens {
  if (!networkIfAny(networks, environment)) return new Map();
  const tokens = networks.tokens(environment).filter(({ chain }) => chain === 'STARKNET');
  return new Map(tokens.map((token) => [token.address ?? '', token]));
}

function contractOf(address: bigint, tokens: Tokens) {
  const contractAddress = padAddress(address);
  const known = tokens.get(contractAddress);
  return { contractAddress, token: known?.token ?? null, decimals: known?.decimals ?? null };
}

function describeCall(call: CallOf, name: string | undefined, tokens: Tokens): DetailsAnswer['calls'][number] {
  return {
    caller: padAddress(call.caller),
    ...contractOf(call.to, tokens),
    functionName: name ?? null,
    functionSelector: toHex(call.selector),
    calldata: call.calldata.map(toHex),
    arguments: decodeArguments(name, call.calldata) ?? null,
  };
}

function describeEvent(event: ChainEvent, index: number, tokens: Tokens): DetailsAnswer['events'][number] {
  return {
    index,
    ...contractOf(event.from, tokens),
    name: nameOfEvent(event) ?? null,
    keys: event.keys.map(toHex),
    data: event.data.map(toHex),
    values: decodeEvent(event) ?? null,
  };
}

async function describeRelay(reads: Reads, relay: Relay): Promise<DetailsAnswer['relay']> {
  const attempts = await readAttempts(reads, relay.id);
  return {
    id: relay.id,
    state: relay.state,
    account: relay.account === undefined ? null : padAddress(relay.account),
    nonce: relay.nonce === undefined ? null : relay.nonce.toString(),
    attempts: attempts.map((attempt) => ({
      transactionHash: attempt.hash,
      kind: attempt.kind,
      state: stateOf(relay, attempt),
      maxFee: attempt.transaction ? maxFeeOf(attempt.transaction).toString() : null,
      signedAt: attempt.createdAt.toISOString(),
      sentAt: attempt.takenAt?.toISOString() ?? null,
    })),
  };
}

function stateOf({ state, hash }: Relay, attempt: StoredAttempt): AttemptState {
  if (state === 'STORED' || state === 'SENT') return attempt.takenAt === null ? 'STORED' : 'SENT';
  const isExecuted = hash === BigInt(attempt.hash) && state !== 'VOIDED';
  return isExecuted ? state : 'REPLACED';
}

function maxFeeOf({ resource_bounds: bounds }: RawInvoke): bigint {
  return [bounds.l1_gas, bounds.l1_data_gas, bounds.l2_gas].reduce(
    (sum, { max_amount, max_price_per_unit }) => sum + BigInt(max_amount) * BigInt(max_price_per_unit),
    0n,
  );
}
