import type { ChainToken } from '@svc/protocol';
import { predeployed } from '@svc/sandbox';
import {
  accountAddress,
  type Call,
  chainIds,
  classes,
  contractAddress,
  invokeHash,
  type OutsideExecution,
  outsideExecutionHash,
  selector,
  sign,
  starkKey,
  verify,
} from '@svc/starknet';
import { type Invocation, invoke, payment } from '../../sandbox/testing/test-node.ts';
import { padAddress, rawInvoke, type SignedInvoke, type StarknetChain } from '../src/chains/starknet/chain.ts';
import { findToken } from '../src/chains/tokens.ts';
import type { Crypto } from '../src/crypto/crypto.ts';
import type { AccountDeployment, Sponsor, Sponsorship } from '../src/relayer/relay.ts';

export { startSandbox } from '../../sandbox/testing/sandbox-server.ts';
export { relayer, transfer } from '../../sandbox/testing/test-node.ts';

/** The account that pays out in the sandbox. */
export const manager = predeployed.manager;

/** A transaction of one of the accounts that exist from the start, ready to be sent. */
export function signed(calls: readonly Call[], options: Invocation): SignedInvoke {
  const tx = invoke(calls, options);
  return { hash: tx.hash, transaction: rawInvoke(tx, tx.signature) };
}

/** Moves 1 FRI. */
export function signedPayment(nonce: bigint, from?: Invocation['from'], to = 0xb0bn): SignedInvoke {
  const tx = payment(nonce, to, from ? { from } : {});
  return { hash: tx.hash, transaction: rawInvoke(tx, tx.signature) };
}

/** In this thread: tests sign a handful of things, and threads take a while to start. */
export const testCrypto: Crypto = {
  async signInvoke(fields, privateKey) {
    const hash = invokeHash(fields);
    const { r, s } = sign(hash, privateKey);
    return { hash, signature: [r, s] };
  },
  async checkExecution({ execution, account, chainId, keys, signature }) {
    const hash = outsideExecutionHash(2, execution, account, chainId);
    return { hash, signer: keys.find((key) => verify(hash, key, signature.r, signature.s)) };
  },
  executionHash: async (execution, account, chainId) => outsideExecutionHash(2, execution, account, chainId),
  contractAddress: async (deployment) => contractAddress(deployment),
  accountAddresses: async (classHashes, publicKey) => classHashes.map((hash) => accountAddress(hash, publicKey)),
  stop: async () => {},
};

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

/** A wallet of class SVC and its owner. */
export interface TestWallet {
  readonly address: bigint;
  readonly deployment: AccountDeployment;
  /** What the service is asked to pay for. */
  asks(execution: OutsideExecution, options?: { deploy?: boolean; kind?: Sponsorship['kind'] }): Sponsorship;
  prepared(sponsor: Sponsor, calls?: readonly Call[], options?: { deploy?: boolean }): Promise<Sponsorship>;
}

let keys = 0x5eedn;

export function newWallet(): TestWallet {
  keys += 1n;
  const privateKey = keys;
  const publicKey = starkKey(privateKey);
  const deployment = { classHash: classes.svc, salt: publicKey, constructorCalldata: [publicKey] };
  const address = contractAddress({ ...deployment, deployer: 0n });
  const asks: TestWallet['asks'] = (execution, { deploy = false, kind = deploy ? 'wallet' : 'calls' } = {}) => {
    const { r, s } = sign(outsideExecutionHash(2, execution, address, chainIds.SVC_SANDBOX), privateKey);
    return {
      environment: 'development',
      account: address,
      deployment: deploy ? deployment : undefined,
      execution,
      signature: [r, s],
      kind,
    };
  };
  const prepared: TestWallet['prepared'] = async (sponsor, calls = [], { deploy = false } = {}) => {
    const request = { account: address, deployment: deploy ? deployment : undefined, calls };
    return asks(await sponsor.prepare({ environment: 'development', ...request }), { deploy });
  };
  return { address, deployment, asks, prepared };
}

export function tokenAddress(token: ChainToken): bigint {
  return BigInt(findToken('sandbox', 'STARKNET', token)?.address ?? 0);
}

export function transferCall(token: ChainToken, to: bigint, amount: bigint): Call {
  return { to: tokenAddress(token), selector: selector('transfer'), calldata: [to, amount, 0n] };
}

/** A chain that answers as another one does, but for some methods. */
export function wrapChain(chain: StarknetChain, changes: Partial<StarknetChain>): StarknetChain {
  return new Proxy(chain, {
    get: (target, name) => {
      const value: unknown = Reflect.get(changes, name) ?? Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** A chain that notes what it is asked. */
export function notedChain(chain: StarknetChain, asked: string[]): StarknetChain {
  return new Proxy(chain, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        asked.push(String(name));
        return value.apply(target, given) as unknown;
      };
    },
  });
}

/** Pages of a few events each, and something that happens after a page. */
export function smallPages(
  chain: StarknetChain,
  limit: number,
  afterPage: (page: number) => void | Promise<void> = () => {},
): StarknetChain {
  let pages = 0;
  return wrapChain(chain, {
    events: async (filter) => {
      const page = await chain.events({ ...filter, limit });
      pages += 1;
      await afterPage(pages);
      return page;
    },
  });
}
