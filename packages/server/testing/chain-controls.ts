import { padAddress } from '../src/chains/starknet/chain.ts';

/** The sandbox's switches. */
export class Controls {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  fault(fault: object): Promise<void> {
    return this.#send('POST', '/starknet/faults', fault);
  }

  /** Blocks by hand from now on. */
  holdBlocks(): Promise<void> {
    return this.#send('POST', '/starknet/block-time', { seconds: 3_600 });
  }

  mine(blocks = 1): Promise<void> {
    return this.#send('POST', '/starknet/mine', { blocks });
  }

  travel(seconds: number): Promise<void> {
    return this.#send('POST', '/starknet/time', { increaseSeconds: seconds });
  }

  reorganise(blocks: number, transactions: 'drop' | 'requeue'): Promise<void> {
    return this.#send('POST', '/starknet/reorg', { blocks, transactions });
  }

  /** 1,000 units of USDC. */
  fund(address: bigint): Promise<void> {
    return this.#send('POST', '/faucet', { address: padAddress(address), token: 'USDC', amount: '0.001' });
  }

  async reset(): Promise<void> {
    await this.#send('DELETE', '/starknet/faults');
    await this.#send('POST', '/starknet/block-time', { seconds: 0 });
    await this.#send('POST', '/starknet/time', { offsetSeconds: 0 });
  }

  async #send(method: string, path: string, body?: object): Promise<void> {
    const init = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const answer = await fetch(`${this.#url}${path}`, { method, ...init });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  }
}
