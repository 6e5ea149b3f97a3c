import { toHex } from '@svc/starknet';
import { RpcProvider } from 'starknet';
import { failureIn, isStarknetAnswer, nodeFetch } from '../node-fetch.ts';
import { type Node, type NodeHealth, Nodes, nodeErrorText } from '../nodes.ts';
import type {
  Block,
  BlockId,
  CallOutcome,
  Estimate,
  EventFilter,
  EventPage,
  Head,
  RawInvoke,
  Receipt,
  Refusal,
  SendOutcome,
  SignedInvoke,
  StarknetChain,
  TransactionStatus,
  ViewCall,
} from './chain.ts';
import {
  code,
  isCode,
  isRefusal,
  NOT_RECEIVED,
  type RpcBlock,
  type RpcClass,
  type RpcEmittedEvent,
  type RpcEstimate,
  type RpcReceipt,
  type RpcTransaction,
  readBlock,
  readEmittedEvent,
  readEntrypoints,
  readEstimate,
  readInvokes,
  readReceipt,
  toRefusal,
  toStatus,
} from './rpc-answers.ts';

/** A class is 1 to 2 MB and never changes. Bounded against a flood of unknown classes. */
const MAX_KNOWN_CLASSES = 100;

export interface RpcChainOptions {
  readonly chainId: bigint;
  readonly urls: readonly string[];
  readonly timeoutMs?: number | undefined;
  readonly now?: () => number;
}

export class RpcStarknetChain implements StarknetChain {
  readonly chainId: bigint;
  readonly #nodes: Nodes<RpcProvider>;
  readonly #entrypoints = new Map<bigint, ReadonlySet<bigint>>();

  constructor({ chainId, urls, timeoutMs, ...options }: RpcChainOptions) {
    this.chainId = chainId;
    const baseFetch = nodeFetch(timeoutMs, isStarknetAnswer);
    const connect = (nodeUrl: string) => new RpcProvider({ nodeUrl, baseFetch });
    this.#nodes = new Nodes({ chain: 'STARKNET', urls, connect, chainId, chainIdOf, isAnswer: isRefusal, ...options });
  }

  checkChain(): Promise<readonly NodeHealth[]> {
    return this.#nodes.check();
  }

  blockNumber(): Promise<number> {
    return this.#read((provider) => provider.getBlockNumber());
  }

  head(): Promise<Head> {
    return this.#read(async (provider) => {
      const { block_number, block_hash } = await provider.getBlockLatestAccepted();
      return { number: block_number, hash: BigInt(block_hash) };
    });
  }

  block(at: number | 'latest' | 'l1_accepted'): Promise<Block | undefined> {
    return this.#find(code.blockNotFound, async (provider) => {
      return readBlock((await provider.getBlockWithTxHashes(at)) as RpcBlock);
    });
  }

  call({ to, entrypoint, calldata = [] }: ViewCall, at: BlockId = 'latest'): Promise<CallOutcome> {
    return this.#read<CallOutcome>(async (provider) => {
      const call = { contractAddress: toHex(to), entrypoint, calldata: calldata.map(toHex) };
      const felts = (await provider.callContract(call, at)).map(BigInt);
      return { ok: true, felts };
    }).catch(toRefusal);
  }

  classHashAt(address: bigint, at: BlockId = 'latest'): Promise<bigint | undefined> {
    return this.#find(code.contractNotFound, async (provider) => BigInt(await provider.getClassHashAt(address, at)));
  }

  nonceAt(address: bigint, at: BlockId = 'latest'): Promise<bigint | undefined> {
    return this.#find(code.contractNotFound, async (provider) =>
      BigInt(await provider.getNonceForAddress(address, at)),
    );
  }

  async classEntrypoints(classHash: bigint): Promise<ReadonlySet<bigint> | undefined> {
    const known = this.#entrypoints.get(classHash);
    if (known) return known;
    const found = await this.#find(code.classHashNotFound, async (provider) => {
      return readEntrypoints((await provider.getClassByHash(toHex(classHash))) as RpcClass);
    });
    if (!found) return undefined;
    if (this.#entrypoints.size >= MAX_KNOWN_CLASSES) this.#entrypoints.clear();
    this.#entrypoints.set(classHash, found);
    return found;
  }

  /** Every token has `balanceOf`; some lack `balance_of`. */
  async balanceOf(token: bigint, owner: bigint, at?: BlockId): Promise<bigint> {
    const outcome = await this.call({ to: token, entrypoint: 'balanceOf', calldata: [owner] }, at);
    if (!outcome.ok) throw new Error(`${toHex(token)} does not tell balances: ${outcome.reason}`);
    const [low, high] = outcome.felts;
    if (low === undefined || high === undefined) throw new Error(`${toHex(token)} did not answer with a balance`);
    return low + (high << 128n);
  }

  receipt(hash: bigint): Promise<Receipt | undefined> {
    return this.#find(code.transactionNotFound, async (provider) => {
      return readReceipt((await provider.channel.getTransactionReceipt(toHex(hash))) as unknown as RpcReceipt);
    });
  }

  async invokesIn(block: number, sender: bigint): Promise<readonly SignedInvoke[]> {
    const { transactions } = await this.#read((provider) => provider.getBlockWithTxs(block));
    return readInvokes(transactions as unknown as readonly RpcTransaction[], sender);
  }

  async invoke(hash: bigint): Promise<SignedInvoke | undefined> {
    const found = await this.#find(code.transactionNotFound, async (provider) => {
      const transaction = await provider.channel.getTransactionByHash(toHex(hash));
      return transaction as unknown as RpcTransaction;
    });
    return found && readInvokes([found])[0];
  }

  async transactionStatus(hash: bigint): Promise<TransactionStatus> {
    const found = await this.#find(code.transactionNotFound, async (provider) => {
      const answer = await provider.getTransactionStatus(toHex(hash));
      const { finality_status, execution_status, failure_reason } = answer as Record<string, string | undefined>;
      return toStatus(finality_status ?? '', execution_status, failure_reason);
    });
    return found ?? NOT_RECEIVED;
  }

  estimate(transaction: RawInvoke, at: BlockId = 'pre_confirmed'): Promise<Estimate | Refusal> {
    const options = { blockIdentifier: at, skipValidate: true };
    return this.#read<Estimate | Refusal>(async (provider) => {
      const [estimate] = await provider.channel.getEstimateFee([toInvocation(transaction)], options);
      return readEstimate(estimate as unknown as RpcEstimate);
    }).catch(toRefusal);
  }

  send(signed: SignedInvoke): Promise<SendOutcome> {
    return sendOnce(this.#nodes, signed);
  }

  events({ continuation, ...filter }: EventFilter): Promise<EventPage> {
    const { index, token } = readContinuation(continuation);
    const ask = async (node: { index: number; client: RpcProvider }): Promise<EventPage> => {
      const page = await node.client.getEvents({
        from_block: rpcBlockId(filter.fromBlock),
        to_block: rpcBlockId(filter.toBlock),
        ...(filter.address !== undefined && { address: toHex(filter.address) }),
        keys: (filter.keys ?? []).map((position) => position.map(toHex)),
        chunk_size: filter.limit,
        ...(token !== undefined && { continuation_token: token }),
      });
      const next = page.continuation_token;
      return {
        events: (page.events as readonly RpcEmittedEvent[]).map(readEmittedEvent),
        continuation: next === undefined ? undefined : `${node.index}:${next}`,
      };
    };
    return index === undefined ? this.#nodes.read(ask) : this.#nodes.readFrom(index, ask);
  }

  #read<R>(ask: (provider: RpcProvider) => Promise<R>): Promise<R> {
    return this.#nodes.read(({ client }) => ask(client));
  }

  async #find<R>(missing: number, ask: (provider: RpcProvider) => Promise<R>): Promise<R | undefined> {
    return this.#read(ask).catch((error: unknown) => {
      if (isCode(error, missing)) return undefined;
      throw error;
    });
  }
}

/** `getChainId` caches its first answer. */
async function chainIdOf(provider: RpcProvider): Promise<bigint> {
  const response = (await provider.channel.fetch('starknet_chainId')) as Response;
  return BigInt(((await response.json()) as { result: string }).result);
}

function rpcBlockId(block: BlockId) {
  return typeof block === 'number' ? { block_number: block } : block;
}

function readContinuation(text: string | undefined): { index?: number; token?: string } {
  if (text === undefined) return {};
  const colon = text.indexOf(':');
  const index = text.slice(0, colon);
  if (!/^\d+$/.test(index)) throw new RangeError('This continuation is not one of ours.');
  return { index: Number(index), token: text.slice(colon + 1) };
}

/** Safe to repeat: the same bytes, the same hash. After an unknown outcome a refusal proves nothing: it may be about this very transaction. */
export async function sendOnce(nodes: Nodes<RpcProvider>, signed: SignedInvoke): Promise<SendOutcome> {
  const failures: string[] = [];
  let perhapsTaken = false;
  for (const node of nodes.inOrder()) {
    const attempt = (await admissionFailure(nodes, node)) ?? (await attemptOn(node, signed));
    if (attempt.outcome === 'sent') return attempt;
    if (attempt.outcome === 'refused') {
      if (!perhapsTaken) return attempt;
      failures.push(`${node.host} refused it (${attempt.code})`);
      break;
    }
    nodes.rest(node);
    perhapsTaken ||= attempt.unclear;
    failures.push(attempt.reason);
  }
  return { outcome: 'unknown', reason: failures.join('; ') };
}

type Attempt = Exclude<SendOutcome, { outcome: 'unknown' }> | Failed;
interface Failed {
  readonly outcome: 'failed';
  readonly unclear: boolean;
  readonly reason: string;
}

async function admissionFailure(nodes: Nodes<RpcProvider>, node: Node<RpcProvider>): Promise<Failed | undefined> {
  return nodes.admit(node).then(
    () => undefined,
    (error: unknown) => ({ outcome: 'failed', unclear: false, reason: nodeErrorText(error) }),
  );
}

async function attemptOn(node: Node<RpcProvider>, { hash, transaction }: SignedInvoke): Promise<Attempt> {
  try {
    const answer = (await node.client.invokeSignedTx(transaction)) as { transaction_hash: string };
    if (BigInt(answer.transaction_hash) === hash) return { outcome: 'sent' };
    return { outcome: 'failed', unclear: true, reason: `${node.host} answered with another hash` };
  } catch (error) {
    if (isCode(error, code.duplicateTransaction)) return { outcome: 'sent' };
    if (isRefusal(error)) {
      const { code, reason } = toRefusal(error);
      return { outcome: 'refused', code, reason };
    }
    return { outcome: 'failed', unclear: failureIn(error)?.unclear ?? true, reason: nodeErrorText(error) };
  }
}

export function toInvocation(raw: RawInvoke) {
  const { l1_gas, l1_data_gas, l2_gas } = raw.resource_bounds;
  const bounds = ({ max_amount, max_price_per_unit }: typeof l1_gas) => ({
    max_amount: BigInt(max_amount),
    max_price_per_unit: BigInt(max_price_per_unit),
  });
  return {
    type: 'INVOKE' as const,
    contractAddress: raw.sender_address,
    calldata: raw.calldata,
    signature: raw.signature,
    version: raw.version,
    nonce: raw.nonce,
    tip: raw.tip,
    paymasterData: raw.paymaster_data,
    accountDeploymentData: raw.account_deployment_data,
    nonceDataAvailabilityMode: raw.nonce_data_availability_mode,
    feeDataAvailabilityMode: raw.fee_data_availability_mode,
    resourceBounds: { l1_gas: bounds(l1_gas), l1_data_gas: bounds(l1_data_gas), l2_gas: bounds(l2_gas) },
  };
}
