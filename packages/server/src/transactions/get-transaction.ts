import {
  type AnswerOf,
  ApiError,
  type Chain,
  type Environment,
  type endpoints,
  parseStarknetAddress,
  type Transaction,
} from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Reads } from '@svc/store';
import type { Networks, StarknetNetwork } from '../chains/networks.ts';
import type { StarknetChain } from '../chains/starknet/chain.ts';
import { evmChainNames } from '../chains/tokens.ts';
import type { Caller } from '../http/call.ts';
import { refuse } from '../http/validation.ts';
import type { Relay } from '../relayer/relay.ts';
import { findRelayByHash } from '../relayer/relay-store.ts';
import { mayActFor, walletsAt } from '../wallets/wallet.ts';
import { parseEvmHash, parseStarknetHash } from './chain-transaction.ts';
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
export async function findRecords(
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
export function networkIfAny(
  networks: Pick<Networks, 'starknet'>,
  environment: Environment,
): StarknetNetwork | undefined {
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

export interface StatusDeps {
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
