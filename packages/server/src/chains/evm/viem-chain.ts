import type { EvmAddress } from '@svc/protocol';
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  createPublicClient,
  erc20Abi,
  type Hash,
  http,
  type PublicClient,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
} from 'viem';
import { nodeFetch } from '../node-fetch.ts';
import { type Node, type NodeHealth, Nodes } from '../nodes.ts';
import { isEvmAnswer } from '../rpc-answers.ts';
import type { EvmChainName } from '../tokens.ts';
import type { EvmChain, EvmReceipt } from './chain.ts';
import { NodeRefusal, plainError } from './plain-error.ts';
import { transfersOf } from './transfers.ts';

export interface ViemChainOptions {
  readonly name: EvmChainName;
  readonly chainId: number;
  /** In the order in which they are asked. */
  readonly urls: readonly string[];
  readonly timeoutMs?: number | undefined;
  readonly now?: () => number;
}

type Question<R> = (client: PublicClient) => Promise<R>;

/** A node whose errors tell no more than they should. */
interface Connection {
  ask<R>(question: Question<R>): Promise<R>;
}

/** An EVM chain through the JSON-RPC of one or several nodes. */
export class ViemEvmChain implements EvmChain {
  readonly chainId: number;
  readonly #nodes: Nodes<Connection>;

  constructor({ name, chainId, urls, timeoutMs, ...options }: ViemChainOptions) {
    this.chainId = chainId;
    // Time and repetition are ours: the library would repeat by itself, behind the order of the nodes.
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

/** All from one node, so that the parts belong together. */
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
