import type { Engine } from './engine.ts';
import { selectors } from './erc20.ts';
import { FAUCET, GENESIS_TIME } from './genesis.ts';
import type { Deed, Entry, Grant } from './log.ts';
import { SEND } from './methods.ts';
import type { Answer } from './rpc-error.ts';
import { type EvmChain, evmChains } from './tokens.ts';

/** Enough for a transfer to a contract that does something when it is paid. */
const GRANT_GAS = 200_000;
/** The faucet pays whatever the block asks. */
const GRANT_MAX_FEE = 10n ** 15n;

/** An engine, and how far in the log of its chain it has come. The same entries lead to the same blocks, hash for hash. */
export class Replica {
  readonly #chain: EvmChain;
  readonly #engine: Engine;
  #height = 0;
  #time = GENESIS_TIME;

  constructor(chain: EvmChain, engine: Engine) {
    this.#chain = chain;
    this.#engine = engine;
  }

  /** The number of the newest block. */
  get height(): number {
    return this.#height;
  }

  /** The earliest time that the next block may have, in seconds. */
  get time(): number {
    return this.#time;
  }

  read(method: string, params: readonly unknown[]): Promise<Answer> {
    return this.#engine.request(method, params);
  }

  /** Takes an entry that others have accepted before. */
  async replay(entry: Entry): Promise<void> {
    if (entry.position !== this.#height + 1) {
      throw new Error(`The log of ${this.#chain} has no entry ${this.#height + 1}.`);
    }
    const answer = await this.apply(entry.deed, entry.time);
    if ('error' in answer) {
      throw new Error(`Entry ${entry.position} of the log of ${this.#chain} was refused: ${answer.error.message}`);
    }
  }

  /** Makes the next block of a deed and answers the transaction's hash, or why the engine refused it. */
  async apply(deed: Deed, time: number): Promise<Answer> {
    const dated = await this.#engine.request('evm_setNextBlockTimestamp', [time]);
    if ('error' in dated) throw new Error(`The engine refused the time ${time}: ${dated.error.message}`);
    const answer = await ('raw' in deed
      ? this.#engine.request(SEND, [deed.raw])
      : this.#engine.request('eth_sendTransaction', [grantTransaction(this.#chain, deed.grant)]));
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
  const data = selectors.mint + word(BigInt(address)) + word(amount);
  return { ...common, to: contract.address, data };
}

const hex = (value: number | bigint) => `0x${value.toString(16)}`;
const word = (value: bigint) => value.toString(16).padStart(64, '0');
