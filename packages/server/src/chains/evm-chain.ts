import { type EvmAddress, parseEvmAddress } from '@svc/protocol';
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  createPublicClient,
  erc20Abi,
  type Hash,
  http,
  type Log,
  type PublicClient,
  parseEventLogs,
  RpcRequestError,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
} from 'viem';
import { failureIn, isEvmAnswer, NodeFailure, nodeFetch } from './node-fetch.ts';
import { type Node, type NodeHealth, Nodes } from './nodes.ts';
import type { EvmChainName } from './tokens.ts';

interface EvmTransfer {
  readonly token: EvmAddress | null;
  readonly from: EvmAddress;
  readonly to: EvmAddress;
  readonly amount: bigint;
  /** Index in the receipt: the index in the block changes with a reorganisation. Null for the native coin. */
  readonly logIndex: number | null;
}

interface EvmReceipt {
  readonly transactionHash: string;
  readonly succeeded: boolean;
  readonly blockNumber: number;
  readonly blockHash: string;
  readonly timestamp: Date;
  /** Empty when the transaction failed. */
  readonly transfers: readonly EvmTransfer[];
}

/** Every read throws a `ChainUnavailableError` when no node answers. */
export interface EvmChain {
  readonly chainId: number;
  checkChain(): Promise<readonly NodeHealth[]>;
  blockNumber(): Promise<number>;
  /** null: the native coin. In the smallest unit. */
  balanceOf(token: EvmAddress | null, owner: EvmAddress): Promise<bigint>;
  decimalsOf(token: EvmAddress): Promise<number | undefined>;
  receipt(hash: string): Promise<EvmReceipt | undefined>;
}

interface ViemChainOptions {
  readonly name: EvmChainName;
  readonly chainId: number;
  readonly urls: readonly string[];
  readonly timeoutMs?: number | undefined;
  readonly now?: () => number;
}

type Question<R> = (client: PublicClient) => Promise<R>;

interface Connection {
  ask<R>(question: Question<R>): Promise<R>;
}

export class ViemEvmChain implements EvmChain {
  readonly chainId: number;
  readonly #nodes: Nodes<Connection>;

  constructor({ name, chainId, urls, timeoutMs, ...options }: ViemChainOptions) {
    this.chainId = chainId;
    // viem's own retries would bypass the order of the nodes.
    const http_ = { fetchFn: nodeFetch(timeoutMs, isEvmAnswer), timeout: 0, retryCount: 0 };
    const connect = (url: string): Connection => {
      const client = createPublicClient({ transport: http(url, http_), cacheTime: 0 });
      const { host } = new URL(url);
      const asError = (error: unknown) => Promise.reject(plainError(host, error));
      return { ask: (question) => question(client).catch(asError) };
    };
    this.#nodes = new Nodes({
      chain: name,
      urls,
      connect,
      chainId: BigInt(chainId),
      chainIdOf: async ({ ask }) => BigInt(await ask((client) => client.getChainId())),
      isAnswer: (error) => error instanceof NodeRefusal,
      ...options,
    });
  }

  checkChain(): Promise<readonly NodeHealth[]> {
    return this.#nodes.check();
  }

  blockNumber(): Promise<number> {
    return this.#read(async (client) => Number(await client.getBlockNumber()));
  }

  balanceOf(token: EvmAddress | null, owner: EvmAddress): Promise<bigint> {
    return this.#read((client) => {
      const address = owner as string as Address;
      if (token === null) return client.getBalance({ address });
      const call = { address: token as string as Address, abi: erc20Abi, functionName: 'balanceOf' } as const;
      return client.readContract({ ...call, args: [address] });
    });
  }

  decimalsOf(token: EvmAddress): Promise<number | undefined> {
    const call = { address: token as string as Address, abi: erc20Abi, functionName: 'decimals' } as const;
    return this.#read((client) => client.readContract(call).catch(undefinedIfNoToken));
  }

  receipt(hash: string): Promise<EvmReceipt | undefined> {
    return this.#read((client) => readReceipt(client, hash as Hash).catch(undefinedIfUnknown));
  }

  #read<R>(question: Question<R>): Promise<R> {
    return this.#nodes.read(({ client }: Node<Connection>) => client.ask(question));
  }
}

/** From one node, so that block, transaction and receipt agree. */
async function readReceipt(client: PublicClient, hash: Hash): Promise<EvmReceipt> {
  const receipt = await client.getTransactionReceipt({ hash });
  const [transaction, block] = await Promise.all([
    client.getTransaction({ hash }),
    client.getBlock({ blockHash: receipt.blockHash }),
  ]);
  return {
    transactionHash: receipt.transactionHash,
    succeeded: receipt.status === 'success',
    blockNumber: Number(receipt.blockNumber),
    blockHash: receipt.blockHash,
    timestamp: new Date(Number(block.timestamp) * 1_000),
    transfers: transfersOf(transaction, receipt),
  };
}

function undefinedIfUnknown(error: unknown): undefined {
  if (error instanceof TransactionReceiptNotFoundError || error instanceof TransactionNotFoundError) return undefined;
  throw error;
}

function undefinedIfNoToken(error: unknown): undefined {
  const isSilent = (cause: unknown) =>
    cause instanceof ContractFunctionZeroDataError || cause instanceof ContractFunctionRevertedError;
  if (error instanceof BaseError && error.walk(isSilent) !== null) return undefined;
  throw error;
}

/** Every other node of the chain would refuse it too. */
class NodeRefusal extends Error {
  override readonly name = 'NodeRefusal';
}

/** viem's errors quote the node's URL, which may hold an API key. The replacement names the host and carries no cause. */
function plainError(host: string, error: unknown): Error {
  const refusal = error instanceof BaseError ? error.walk((cause) => cause instanceof RpcRequestError) : null;
  if (refusal instanceof RpcRequestError) {
    return new NodeRefusal(`${host} answered error ${refusal.code}: ${refusal.details}`);
  }
  const kind = error instanceof Error ? error.name : 'unknown';
  return failureIn(error) ?? new NodeFailure(`the answer of ${host} could not be read (${kind})`, { unclear: true });
}

interface Moved {
  readonly from: Address;
  readonly to: Address | null;
  readonly value: bigint;
}

interface Outcome {
  readonly status: 'success' | 'reverted';
  readonly logs: Log<bigint, number, false>[];
}

export function transfersOf(transaction: Moved, receipt: Outcome): EvmTransfer[] {
  if (receipt.status !== 'success') return [];
  const { from, to, value } = transaction;
  const coin = to && value > 0n ? [transfer(null, from, to, value, null)] : [];
  const logs = parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs: receipt.logs, strict: true });
  const places = new Map(receipt.logs.map(({ logIndex }, place) => [logIndex, place]));
  return [
    ...coin,
    ...logs.map(({ address, args, logIndex }) =>
      transfer(address, args.from, args.to, args.value, places.get(logIndex) ?? logIndex),
    ),
  ].filter((found) => found !== undefined);
}

function transfer(
  token: Address | null,
  from: Address,
  to: Address,
  amount: bigint,
  logIndex: number | null,
): EvmTransfer | undefined {
  const parties = [from, to].map(normal);
  const [sender, recipient] = parties;
  const contract = token === null ? null : normal(token);
  if (!sender || !recipient || contract === undefined) return undefined;
  return { token: contract, from: sender, to: recipient, amount, logIndex };
}

function normal(address: Address): EvmAddress | undefined {
  const parsed = parseEvmAddress(address);
  return parsed.ok ? parsed.value : undefined;
}
