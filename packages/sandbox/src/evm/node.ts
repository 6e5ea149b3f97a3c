import type { Db } from '@svc/store';
import type { StartEngine } from './engine.ts';
import { serve } from './json-rpc.ts';
import { append, type Deed, type Entry, entriesAfter, type Grant, lockLog, PAGE } from './log.ts';
import { isOpen, overLimit, SEND } from './methods.ts';
import { Replica } from './replica.ts';
import { type Answer, failure, LIMIT_EXCEEDED, METHOD_NOT_FOUND } from './rpc-error.ts';
import type { EvmChain } from './tokens.ts';
import { TooManyWaiting, type Turns } from './turns.ts';

export interface EvmNodeParts {
  readonly chain: EvmChain;
  readonly db: Db;
  readonly start: StartEngine;
  readonly turns: Turns;
  /** In milliseconds. */
  readonly now: () => number;
}

/**
 * One EVM chain as JSON-RPC. Its history is the log in the database, its state an engine in memory that takes the log's
 * entries as they come, from this process or another; the engine starts with the first request.
 */
export class EvmNode {
  readonly #parts: EvmNodeParts;
  /** Absent while the engine may be elsewhere than the log: unless that ends well, the next request starts another one. */
  #replica: Replica | undefined;

  constructor(parts: EvmNodeParts) {
    this.#parts = parts;
  }

  /** Takes a parsed body, a request or a batch; answers what to send back, undefined for nothing. */
  handle(body: unknown): Promise<unknown> {
    return serve(body, (method, params) => this.#execute(method, params));
  }

  /** Sends from the faucet. The transaction is in a block when this answers; a contract may have refused what it brought. */
  grant(grant: Grant): Promise<{ hash: string; paid: boolean }> {
    return this.#parts.turns.take(async () => {
      const sent = await this.#write({ grant });
      if ('error' in sent) throw new Error(`The faucet of ${this.#parts.chain} was refused: ${sent.error.message}`);
      const receipt = await this.#answer('eth_getTransactionReceipt', [sent.result]);
      const paid = 'result' in receipt && (receipt.result as { status: string } | null)?.status === '0x1';
      return { hash: String(sent.result), paid };
    });
  }

  async #execute(method: string, params: readonly unknown[]): Promise<Answer> {
    if (!isOpen(method)) return failure(METHOD_NOT_FOUND, `The method ${method.slice(0, 64)} is not available.`);
    try {
      return await this.#parts.turns.take(() => this.#answer(method, params));
    } catch (error) {
      if (error instanceof TooManyWaiting) return failure(LIMIT_EXCEEDED, error.message);
      throw error;
    }
  }

  async #answer(method: string, params: readonly unknown[]): Promise<Answer> {
    if (method === SEND) return overLimit(method, params, 0) ?? this.#write({ raw: String(params[0]) });
    const replica = await this.#caughtUp(this.#parts.db);
    return overLimit(method, params, replica.height) ?? replica.read(method, params);
  }

  /** A block is in the log before anybody hears of it, and in no engine if it could not be stored. */
  async #write(deed: Deed): Promise<Answer> {
    const { chain, db, now } = this.#parts;
    // Most of the way is gone outside of the transaction: while that is open, no other process can write.
    await this.#caughtUp(db);
    const { answer, replica } = await db.tx(async (tx) => {
      await lockLog(tx, chain);
      const replica = await this.#caughtUp(tx);
      const time = Math.max(Math.floor(now() / 1_000), replica.time);
      this.#replica = undefined;
      const answer = await replica.apply(deed, time);
      if ('result' in answer) await append(tx, chain, { position: replica.height, time, deed });
      return { answer, replica };
    });
    this.#replica = replica;
    return answer;
  }

  async #caughtUp(db: Db): Promise<Replica> {
    const { chain, start } = this.#parts;
    const replica = this.#replica ?? new Replica(chain, await start(chain));
    let entries: readonly Entry[];
    do {
      entries = await entriesAfter(db, chain, replica.height);
      if (entries.length > 0) this.#replica = undefined;
      for (const entry of entries) await replica.replay(entry);
      this.#replica = replica;
    } while (entries.length === PAGE);
    return replica;
  }
}
