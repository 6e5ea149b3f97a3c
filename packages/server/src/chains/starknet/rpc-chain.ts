import { selector, toHex } from '@svc/starknet';
import { failureIn, isStarknetAnswer, RpcClient } from '../node-fetch.ts';
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
  fieldsOf,
  isCode,
  isRefusal,
  listOf,
  NOT_RECEIVED,
  readBlock,
  readEntrypoints,
  readEstimate,
  readEventPage,
  readFelt,
  readHead,
  readInvokes,
  readNumber,
  readReceipt,
  readTransactionStatus,
  toRefusal,
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
  readonly #nodes: Nodes<RpcClient>;
  readonly #entrypoints = new Map<bigint, ReadonlySet<bigint>>();

  constructor({ chainId, urls, timeoutMs, ...options }: RpcChainOptions) {
    this.chainId = chainId;
    const connect = (url: string) => new RpcClient(url, isStarknetAnswer, timeoutMs);
    this.#nodes = new Nodes({ chain: 'STARKNET', urls, connect, chainId, chainIdOf, isAnswer: isRefusal, ...options });
  }

  checkChain(): Promise<readonly NodeHealth[]> {
    return this.#nodes.check();
  }

  blockNumber(): Promise<number> {
    return this.#read('starknet_blockNumber', [], readNumber);
  }

  head(): Promise<Head> {
    return this.#read('starknet_blockHashAndNumber', [], readHead);
  }

  block(at: number | 'latest' | 'l1_accepted'): Promise<Block | undefined> {
    const params = { block_id: rpcBlockId(at) };
    return this.#find(code.blockNotFound, 'starknet_getBlockWithTxHashes', params, readBlock);
  }

  call({ to, entrypoint, calldata = [] }: ViewCall, at: BlockId = 'latest'): Promise<CallOutcome> {
    const request = {
      contract_address: toHex(to),
      entry_point_selector: toHex(selector(entrypoint)),
      calldata: calldata.map(toHex),
    };
    const read = (felts: unknown) => ({ ok: true, felts: listOf(felts).map(readFelt) }) as const;
    return this.#read<CallOutcome>('starknet_call', { request, block_id: rpcBlockId(at) }, read).catch(toRefusal);
  }

  classHashAt(address: bigint, at: BlockId = 'latest'): Promise<bigint | undefined> {
    const params = { block_id: rpcBlockId(at), contract_address: toHex(address) };
    return this.#find(code.contractNotFound, 'starknet_getClassHashAt', params, readFelt);
  }

  nonceAt(address: bigint, at: BlockId = 'latest'): Promise<bigint | undefined> {
    const params = { block_id: rpcBlockId(at), contract_address: toHex(address) };
    return this.#find(code.contractNotFound, 'starknet_getNonce', params, readFelt);
  }

  async classEntrypoints(classHash: bigint): Promise<ReadonlySet<bigint> | undefined> {
    const known = this.#entrypoints.get(classHash);
    if (known) return known;
    const params = { block_id: 'latest', class_hash: toHex(classHash) };
    const found = await this.#find(code.classHashNotFound, 'starknet_getClass', params, readEntrypoints);
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
    return this.#findTransaction('starknet_getTransactionReceipt', hash, readReceipt);
  }

  invokesIn(block: number, sender: bigint): Promise<readonly SignedInvoke[]> {
    return this.#read('starknet_getBlockWithTxs', { block_id: rpcBlockId(block) }, (answer) =>
      readInvokes(listOf(fieldsOf(answer).transactions), sender),
    );
  }

  invoke(hash: bigint): Promise<SignedInvoke | undefined> {
    return this.#findTransaction('starknet_getTransactionByHash', hash, (answer) => readInvokes([answer])[0]);
  }

  async transactionStatus(hash: bigint): Promise<TransactionStatus> {
    const found = await this.#findTransaction('starknet_getTransactionStatus', hash, readTransactionStatus);
    return found ?? NOT_RECEIVED;
  }

  estimate(transaction: RawInvoke, at: BlockId = 'pre_confirmed'): Promise<Estimate | Refusal> {
    const params = { request: [transaction], simulation_flags: ['SKIP_VALIDATE'], block_id: rpcBlockId(at) };
    return this.#nodes
      .read<Estimate | Refusal>(async ({ client }) =>
        readEstimate(listOf(await client.ask('starknet_estimateFee', params))[0]),
      )
      .catch(toRefusal);
  }

  send(signed: SignedInvoke): Promise<SendOutcome> {
    return sendOnce(this.#nodes, signed);
  }

  events({ continuation, ...filter }: EventFilter): Promise<EventPage> {
    const { index, token } = readContinuation(continuation);
    const params = {
      filter: {
        from_block: rpcBlockId(filter.fromBlock),
        to_block: rpcBlockId(filter.toBlock),
        ...(filter.address !== undefined && { address: toHex(filter.address) }),
        keys: (filter.keys ?? []).map((position) => position.map(toHex)),
        chunk_size: filter.limit,
        ...(token !== undefined && { continuation_token: token }),
      },
    };
    const ask = async (node: { index: number; client: RpcClient }): Promise<EventPage> => {
      const { events, next } = readEventPage(await node.client.ask('starknet_getEvents', params));
      return { events, continuation: next === undefined ? undefined : `${node.index}:${next}` };
    };
    return index === undefined ? this.#nodes.read(ask) : this.#nodes.readFrom(index, ask);
  }

  /** An answer that cannot be read is the node's failure. */
  #read<R>(method: string, params: object, read: (answer: unknown) => R): Promise<R> {
    return this.#nodes.read(async ({ client }) => read(await client.read(method, params)));
  }

  #find<R>(missing: number, method: string, params: object, read: (answer: unknown) => R): Promise<R | undefined> {
    return this.#read(method, params, read).catch((error: unknown) => {
      if (isCode(error, missing)) return undefined;
      throw error;
    });
  }

  #findTransaction<R>(method: string, hash: bigint, read: (answer: unknown) => R): Promise<R | undefined> {
    return this.#find(code.transactionNotFound, method, { transaction_hash: toHex(hash) }, read);
  }
}

async function chainIdOf(client: RpcClient): Promise<bigint> {
  return readFelt(await client.ask('starknet_chainId', []));
}

function rpcBlockId(block: BlockId | 'l1_accepted') {
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
export async function sendOnce(nodes: Nodes<RpcClient>, signed: SignedInvoke): Promise<SendOutcome> {
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

const SEND = 'starknet_addInvokeTransaction';

type Attempt = Exclude<SendOutcome, { outcome: 'unknown' }> | Failed;
interface Failed {
  readonly outcome: 'failed';
  readonly unclear: boolean;
  readonly reason: string;
}

async function admissionFailure(nodes: Nodes<RpcClient>, node: Node<RpcClient>): Promise<Failed | undefined> {
  return nodes.admit(node).then(
    () => undefined,
    (error: unknown) => ({ outcome: 'failed', unclear: false, reason: nodeErrorText(error) }),
  );
}

async function attemptOn(node: Node<RpcClient>, { hash, transaction }: SignedInvoke): Promise<Attempt> {
  try {
    const params = { invoke_transaction: transaction };
    const answer = fieldsOf(await node.client.ask(SEND, params));
    if (readFelt(answer.transaction_hash) === hash) return { outcome: 'sent' };
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
