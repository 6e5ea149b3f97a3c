import type { AnswerOf, AttemptState, Environment, endpoints } from '@svc/protocol';
import { type Call, decodeCalls, toHex } from '@svc/starknet';
import type { Reads } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { ChainUnavailableError } from '../chains/node-fetch.ts';
import { type ChainEvent, padAddress, type RawInvoke, type Receipt } from '../chains/starknet/chain.ts';
import type { Token } from '../chains/tokens.ts';
import type { Caller } from '../http/call.ts';
import type { Relay } from '../relayer/relay.ts';
import { callsOf, findRelay, readAttempts, type StoredAttempt } from '../relayer/relay-store.ts';
import { type CallOf, decodeArguments, decodeEvent, flattenCalls, nameOfEvent } from './decode.ts';
import { namesOf } from './function-names.ts';
import { findRecords, networkIfAny } from './get-transaction.ts';
import { toTransaction } from './record.ts';

type Answer = AnswerOf<typeof endpoints.getTransactionDetails>;

export interface DetailsDeps {
  readonly reads: Reads;
  readonly networks: Pick<Networks, 'starknet' | 'tokens'>;
}

/** A transaction of many transfers, such as a batch of payments, has several hundred. */
const MAX_EVENTS = 500;
const MAX_CALLS = 500;

export async function transactionDetails(deps: DetailsDeps, caller: Caller, hashOrId: string): Promise<Answer> {
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

function describeCall(call: CallOf, name: string | undefined, tokens: Tokens): Answer['calls'][number] {
  return {
    caller: padAddress(call.caller),
    ...contractOf(call.to, tokens),
    functionName: name ?? null,
    functionSelector: toHex(call.selector),
    calldata: call.calldata.map(toHex),
    arguments: decodeArguments(name, call.calldata) ?? null,
  };
}

function describeEvent(event: ChainEvent, index: number, tokens: Tokens): Answer['events'][number] {
  return {
    index,
    ...contractOf(event.from, tokens),
    name: nameOfEvent(event) ?? null,
    keys: event.keys.map(toHex),
    data: event.data.map(toHex),
    values: decodeEvent(event) ?? null,
  };
}

async function describeRelay(reads: Reads, relay: Relay): Promise<Answer['relay']> {
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
