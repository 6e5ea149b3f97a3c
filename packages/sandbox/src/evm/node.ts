import { type ChainToken, type EvmAddress, hex64 } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import type { Engine, StartEngine } from './engine.ts';
import { selectors } from './erc20.ts';
import {
  type Answer,
  failure,
  isPublic,
  LIMIT_EXCEEDED,
  METHOD_NOT_FOUND,
  overLimit,
  SEND,
  serve,
} from './json-rpc.ts';
import { type EvmChain, evmChains, FAUCET, GENESIS_TIME, type NativeCoin } from './tokens.ts';

export interface EvmNodeDeps {
  readonly chain: EvmChain;
  readonly db: Db;
  readonly start: StartEngine;
  readonly queue: SerialQueue;
  readonly now: () => number;
}

/** One EVM chain. Its history is a log in the database, which an engine in memory replays, started on first use. */
export class EvmNode {
  readonly #deps: EvmNodeDeps;
  /** Undefined while the engine may differ from the log; after a failure the next request starts a new one. */
  #replica: Replica | undefined;

  constructor(deps: EvmNodeDeps) {
    this.#deps = deps;
  }

  handle(body: unknown): Promise<unknown> {
    return serve(body, (method, params) => this.#execute(method, params));
  }

  /** Included in a block on return. `paid` is false if a contract refused the payment. */
  grant(grant: Grant): Promise<{ hash: string; paid: boolean }> {
    return this.#deps.queue.run(async () => {
      const sent = await this.#write({ grant });
      if ('error' in sent) throw new Error(`The faucet of ${this.#deps.chain} was refused: ${sent.error.message}`);
      const receipt = await this.#answer('eth_getTransactionReceipt', [sent.result]);
      const paid = 'result' in receipt && (receipt.result as { status: string } | null)?.status === '0x1';
      return { hash: String(sent.result), paid };
    });
  }

  async #execute(method: string, params: readonly unknown[]): Promise<Answer> {
    if (!isPublic(method)) return failure(METHOD_NOT_FOUND, `The method ${method.slice(0, 64)} is not available.`);
    try {
      return await this.#deps.queue.run(() => this.#answer(method, params));
    } catch (error) {
      if (error instanceof QueueFullError) return failure(LIMIT_EXCEEDED, error.message);
      throw error;
    }
  }

  async #answer(method: string, params: readonly unknown[]): Promise<Answer> {
    if (method === SEND) return overLimit(method, params, 0) ?? this.#write({ raw: String(params[0]) });
    const replica = await this.#syncedReplica(this.#deps.db);
    return overLimit(method, params, replica.height) ?? replica.read(method, params);
  }

  /** A block is stored before it is visible. If storing fails, the engine is discarded. */
  async #write(input: BlockInput): Promise<Answer> {
    const { chain, db, now } = this.#deps;
    // Most replaying happens before the lock, which blocks writers of other processes.
    await this.#syncedReplica(db);
    const { answer, replica } = await db.tx(async (tx) => {
      await lockLog(tx, chain);
      const replica = await this.#syncedReplica(tx);
      const time = Math.max(Math.floor(now() / 1_000), replica.time);
      this.#replica = undefined;
      const answer = await replica.apply(input, time);
      if ('result' in answer) await append(tx, chain, { position: replica.height, time, input });
      return { answer, replica };
    });
    this.#replica = replica;
    return answer;
  }

  async #syncedReplica(db: Db): Promise<Replica> {
    const { chain, start } = this.#deps;
    const replica = this.#replica ?? new Replica(chain, await start(chain));
    let entries: readonly LogEntry[];
    do {
      entries = await entriesAfter(db, chain, replica.height);
      if (entries.length > 0) this.#replica = undefined;
      for (const entry of entries) await replica.replay(entry);
      this.#replica = replica;
    } while (entries.length === PAGE);
    return replica;
  }
}

/** Enough for a recipient contract with a payment hook. */
const GRANT_GAS = 200_000;
/** Above any base fee. */
const GRANT_MAX_FEE = 10n ** 15n;

/** An engine and its position in the log. Replaying is deterministic down to the block hashes. */
export class Replica {
  readonly #chain: EvmChain;
  readonly #engine: Engine;
  #height = 0;
  #time = GENESIS_TIME;

  constructor(chain: EvmChain, engine: Engine) {
    this.#chain = chain;
    this.#engine = engine;
  }

  get height(): number {
    return this.#height;
  }

  /** Earliest timestamp of the next block, Unix seconds. */
  get time(): number {
    return this.#time;
  }

  read(method: string, params: readonly unknown[]): Promise<Answer> {
    return this.#engine.request(method, params);
  }

  async replay(entry: LogEntry): Promise<void> {
    if (entry.position !== this.#height + 1) {
      throw new Error(`The log of ${this.#chain} has no entry ${this.#height + 1}.`);
    }
    const answer = await this.apply(entry.input, entry.time);
    if ('error' in answer) {
      throw new Error(`Entry ${entry.position} of the log of ${this.#chain} was refused: ${answer.error.message}`);
    }
  }

  async apply(input: BlockInput, time: number): Promise<Answer> {
    const dated = await this.#engine.request('evm_setNextBlockTimestamp', [time]);
    if ('error' in dated) throw new Error(`The engine refused the time ${time}: ${dated.error.message}`);
    const answer = await ('raw' in input
      ? this.#engine.request(SEND, [input.raw])
      : this.#engine.request('eth_sendTransaction', [grantTransaction(this.#chain, input.grant)]));
    if ('error' in answer) return answer;
    this.#height += 1;
    this.#time = time;
    await this.#expectBlock();
    return answer;
  }

  async #expectBlock(): Promise<void> {
    const answer = await this.#engine.request('eth_blockNumber', []);
    if ('result' in answer && Number(answer.result) === this.#height) return;
    throw new Error(`${this.#chain} has not come to block ${this.#height} with its transaction.`);
  }
}

function grantTransaction(chain: EvmChain, { address, token, amount }: Grant): object {
  const seed = evmChains[chain];
  const common = { from: FAUCET, gas: hex(GRANT_GAS), maxFeePerGas: hex(GRANT_MAX_FEE), maxPriorityFeePerGas: '0x0' };
  if (token === seed.native) return { ...common, to: address, value: hex(amount) };
  const contract = seed.tokens.find((item) => item.token === token);
  if (!contract) throw new Error(`${chain} has no token ${token}.`);
  const data = selectors.mint + hex64(BigInt(address)) + hex64(amount);
  return { ...common, to: contract.address, data };
}

const hex = (value: number | bigint) => `0x${value.toString(16)}`;

/** Bounds the rows in memory. */
export const PAGE = 500;

export interface Grant {
  readonly address: EvmAddress;
  readonly token: ChainToken | NativeCoin;
  /** Smallest unit of the token. */
  readonly amount: bigint;
}

export type BlockInput = { readonly raw: string } | { readonly grant: Grant };

export interface LogEntry {
  readonly position: number;
  /** Timestamp of its block, Unix seconds. */
  readonly time: number;
  readonly input: BlockInput;
}

interface Row {
  readonly position: bigint;
  readonly block_time: bigint;
  readonly raw_transaction: Buffer | null;
  readonly grant_address: EvmAddress;
  readonly grant_token: Grant['token'];
  readonly grant_amount: string;
}

export async function lockLog(tx: Db, chain: EvmChain): Promise<void> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended('svc:sandbox-evm:' || ${chain}::text, 0))`);
}

export async function entriesAfter(db: Db, chain: EvmChain, position: number): Promise<LogEntry[]> {
  const rows = await db.rows<Row>(sql`
    select position, block_time, raw_transaction, grant_address, grant_token, grant_amount
    from sandbox.evm_log where chain = ${chain} and position > ${position} order by position limit ${PAGE}`);
  return rows.map((row) => ({ position: Number(row.position), time: Number(row.block_time), input: inputOf(row) }));
}

export async function append(tx: Db, chain: EvmChain, { position, time, input }: LogEntry): Promise<void> {
  const raw = 'raw' in input ? Buffer.from(input.raw.slice(2), 'hex') : null;
  const grant = 'grant' in input ? input.grant : undefined;
  await tx.run(sql`
    insert into sandbox.evm_log (chain, position, block_time, raw_transaction, grant_address, grant_token, grant_amount)
    values (${chain}, ${position}, ${time}, ${raw}, ${grant?.address}, ${grant?.token}, ${grant?.amount})`);
}

function inputOf(row: Row): BlockInput {
  if (row.raw_transaction) return { raw: `0x${row.raw_transaction.toString('hex')}` };
  const { grant_address: address, grant_token: token, grant_amount: amount } = row;
  return { grant: { address, token, amount: BigInt(amount) } };
}

export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

export class SerialQueue {
  readonly #limit: number;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(limit: number) {
    this.#limit = limit;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= this.#limit) throw new QueueFullError('Too many requests wait for their turn.');
    this.#waiting += 1;
    const mine = this.#last.then(work);
    this.#last = mine.then(
      () => {},
      () => {},
    );
    try {
      return await mine;
    } finally {
      this.#waiting -= 1;
    }
  }
}
