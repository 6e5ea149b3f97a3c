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
  toHex,
  verify,
} from '@svc/starknet';
import type { Database } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { type SandboxServer, startSandbox } from '../../sandbox/testing/sandbox-server.ts';
import { type Invocation, invoke, payment } from '../../sandbox/testing/test-node.ts';
import { chainTime, Networks } from '../src/chains/networks.ts';
import { padAddress, rawInvoke, type SignedInvoke, type StarknetChain } from '../src/chains/starknet/chain.ts';
import { findToken } from '../src/chains/tokens.ts';
import type { Crypto, SignedFields, SigningKey, SignRequest } from '../src/crypto/crypto.ts';
import type { AccountDeployment, Sponsor, Sponsorship } from '../src/relayer/relay.ts';
import { reopenRelays } from '../src/relayer/relay-store.ts';
import { serverDatabase } from './database.ts';

export { relayer, transfer } from '../../sandbox/testing/test-node.ts';
export { startSandbox };

/** The account that pays out in the sandbox. */
export const manager = predeployed.manager;

/** Signed by an account that exists from the start. */
export function signed(calls: readonly Call[], options: Invocation): SignedInvoke {
  const tx = invoke(calls, options);
  return { hash: tx.hash, transaction: rawInvoke(tx, tx.signature) };
}

/** Moves 1 FRI. */
export function signedPayment(nonce: bigint, from?: Invocation['from'], to = 0xb0bn): SignedInvoke {
  const tx = payment(nonce, to, from ? { from } : {});
  return { hash: tx.hash, transaction: rawInvoke(tx, tx.signature) };
}

async function signedBy(key: SigningKey, request: SignRequest): Promise<SignedFields> {
  const { r, s } = typeof key === 'bigint' ? sign(request.hash, key) : await key.sign(request);
  return { hash: request.hash, signature: [r, s] };
}

/** In this thread: threads take longer to start than tests to sign. */
export const testCrypto: Crypto = {
  async signInvoke(fields, key) {
    const hash = invokeHash(fields);
    return signedBy(key, { kind: 'transaction', hash, transaction: fields });
  },
  async checkExecution({ execution, account, chainId, keys, signature }) {
    const hash = outsideExecutionHash(2, execution, account, chainId);
    return { hash, signer: keys.find((key) => verify(hash, key, signature.r, signature.s)) };
  },
  executionHash: async (execution, account, chainId) => outsideExecutionHash(2, execution, account, chainId),
  async signExecution(execution, account, chainId, key) {
    const hash = outsideExecutionHash(2, execution, account, chainId);
    return signedBy(key, { kind: 'execution', hash, execution, account, chainId });
  },
  contractAddress: async (deployment) => contractAddress(deployment),
  accountAddresses: async (classHashes, publicKey) => classHashes.map((hash) => accountAddress(hash, publicKey)),
  stop: async () => {},
};

export class SandboxControls {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  get rpcUrl(): string {
    return `${this.url}/starknet/rpc`;
  }

  fault(fault: object): Promise<unknown> {
    return this.post('/starknet/faults', fault);
  }

  clearFaults(): Promise<unknown> {
    return this.#send('DELETE', '/starknet/faults');
  }

  /** From now on blocks are closed by `mine` alone. */
  holdBlocks(): Promise<unknown> {
    return this.post('/starknet/block-time', { seconds: 3_600 });
  }

  mine(blocks = 1): Promise<unknown> {
    return this.post('/starknet/mine', { blocks });
  }

  travel(seconds: number): Promise<unknown> {
    return this.post('/starknet/time', { increaseSeconds: seconds });
  }

  reorganise(blocks: number, transactions: 'drop' | 'requeue'): Promise<unknown> {
    return this.post('/starknet/reorg', { blocks, transactions });
  }

  /** Mints whole tokens; answers the hash. */
  async faucet(address: string, token: ChainToken, amount: string): Promise<string> {
    return ((await this.post('/faucet', { address, token, amount })) as { transactionHash: string }).transactionHash;
  }

  /** 1,000 units of USDC. */
  async fund(address: bigint): Promise<void> {
    await this.faucet(padAddress(address), 'USDC', '0.001');
  }

  async reset(): Promise<void> {
    await this.clearFaults();
    await this.post('/starknet/block-time', { seconds: 0 });
    await this.post('/starknet/time', { offsetSeconds: 0 });
  }

  post(path: string, body: unknown): Promise<unknown> {
    return this.#send('POST', path, body);
  }

  async #send(method: string, path: string, body?: unknown): Promise<unknown> {
    const init = body === undefined ? {} : { headers: JSON_HEADERS, body: JSON.stringify(body) };
    const answer = await fetch(`${this.url}${path}`, { method, ...init });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return answer.json();
  }
}

const JSON_HEADERS = { 'content-type': 'application/json' };

/** The present time, and what a test has added to it. */
export class TestClock {
  #aheadMs = 0;
  #frozenAtMs: number | undefined;

  readonly now = (): number => (this.#frozenAtMs ?? Date.now()) + this.#aheadMs;

  /** From now on `advance` alone moves it. */
  freeze(): void {
    this.#frozenAtMs = Date.now();
  }

  advance(ms: number): void {
    this.#aheadMs += ms;
  }

  reset(): void {
    this.#aheadMs = 0;
  }
}

export const PAYMENT_ADDRESS = 0x99n;
/** After so many blocks the sandbox counts a block as accepted on L1. */
const L1_AFTER_BLOCKS = 100;

export interface OpenChain {
  readonly database: TestDatabase;
  readonly server: SandboxServer;
}

export async function openChain(): Promise<OpenChain> {
  const database = await serverDatabase();
  return { database, server: await startSandbox({ databaseUrl: database.url }) };
}

export type ChainChanges = Partial<StarknetChain>;

/** A database, a sandbox and a clock that tests move; base of the fixtures that need a chain. */
export class ChainFixture {
  readonly db: Database;
  readonly sandbox: SandboxControls;
  readonly networks: Networks;
  readonly chain: StarknetChain;
  readonly clock = new TestClock();
  readonly #open: OpenChain;

  protected constructor(open: OpenChain) {
    this.#open = open;
    this.db = open.database.db;
    const { url } = open.server;
    this.sandbox = new SandboxControls(url);
    const place = { url, publicUrl: url, paymentAddress: PAYMENT_ADDRESS };
    this.networks = new Networks({ starknet: undefined, evmRpcUrls: {} }, place);
    this.chain = this.networks.starknet('development').chain;
  }

  /** The networks at the time of the clock, with changes to Starknet. */
  networksWith(changes: ChainChanges): Networks {
    const { networks } = this;
    const starknet: Networks['starknet'] = (environment) => {
      const network = networks.starknet(environment);
      // Never remembered: tests travel in time.
      return { ...network, time: chainTime(network.chain, this.clock.now), chain: wrapChain(network.chain, changes) };
    };
    return new Proxy(networks, {
      get: (target, name) => {
        if (name === 'starknet') return starknet;
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  /** Calls of an account that exists from the start. Answers the hash. */
  async sendFrom(from: Invocation['from'] & object, calls: readonly Call[]): Promise<string> {
    const nonce = (await this.chain.nonceAt(from.address, 'pre_confirmed')) ?? 0n;
    const transaction = signed(calls, { nonce, from });
    const { outcome } = await this.chain.send(transaction);
    if (outcome !== 'sent') throw new Error(`It was not sent: ${outcome}`);
    return toHex(transaction.hash);
  }

  balance(owner: bigint): Promise<bigint> {
    return this.chain.balanceOf(tokenAddress('USDC'), owner, 'pre_confirmed');
  }

  async acceptOnL1(): Promise<void> {
    await this.sandbox.mine(L1_AFTER_BLOCKS);
  }

  /** The chain loses its last blocks, and the relays in them are open again. */
  async reorganise(blocks: number, transactions: 'drop' | 'requeue'): Promise<void> {
    const head = await this.chain.blockNumber();
    await this.sandbox.reorganise(blocks, transactions);
    await this.db.tx((tx) => reopenRelays(tx, this.chain.chainId, head - blocks));
  }

  async stop(): Promise<void> {
    await this.#open.server.stop();
    await this.#open.database.drop();
  }
}

/** Of class SVC. */
export interface TestWallet {
  readonly address: bigint;
  readonly deployment: AccountDeployment;
  sponsorshipOf(execution: OutsideExecution, options?: { deploy?: boolean; kind?: Sponsorship['kind'] }): Sponsorship;
  prepared(sponsor: Sponsor, calls?: readonly Call[], options?: { deploy?: boolean }): Promise<Sponsorship>;
}

/** On whose budget the wallets of these fixtures count. */
export const testUser = { organizationId: 'org_test', externalUserId: 'ana' };

let keys = 0x5eedn;

export function newWallet(): TestWallet {
  keys += 1n;
  const privateKey = keys;
  const publicKey = starkKey(privateKey);
  const deployment = { classHash: classes.svc, salt: publicKey, constructorCalldata: [publicKey] };
  const address = contractAddress({ ...deployment, deployer: 0n });
  const sponsorshipOf: TestWallet['sponsorshipOf'] = (
    execution,
    { deploy = false, kind = deploy ? 'wallet' : 'calls' } = {},
  ) => {
    const { r, s } = sign(outsideExecutionHash(2, execution, address, chainIds.SVC_SANDBOX), privateKey);
    return {
      environment: 'development',
      account: address,
      deployment: deploy ? deployment : undefined,
      execution,
      signature: [r, s],
      kind,
      user: testUser,
    };
  };
  const prepared: TestWallet['prepared'] = async (sponsor, calls = [], { deploy = false } = {}) => {
    const request = { account: address, deployment: deploy ? deployment : undefined, calls };
    return sponsorshipOf(await sponsor.prepare({ environment: 'development', ...request }), { deploy });
  };
  return { address, deployment, sponsorshipOf, prepared };
}

export function tokenAddress(token: ChainToken): bigint {
  return BigInt(findToken('sandbox', 'STARKNET', token)?.address ?? 0);
}

export function transferCall(token: ChainToken, to: bigint, amount: bigint): Call {
  return { to: tokenAddress(token), selector: selector('transfer'), calldata: [to, amount, 0n] };
}

export function wrapChain(chain: StarknetChain, changes: Partial<StarknetChain>): StarknetChain {
  return new Proxy(chain, {
    get: (target, name) => {
      const value: unknown = Reflect.get(changes, name) ?? Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

export function recordingChain(chain: StarknetChain, calls: string[]): StarknetChain {
  return new Proxy(chain, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        calls.push(String(name));
        return value.apply(target, given) as unknown;
      };
    },
  });
}

/** Event pages of `limit` events; `afterPage` runs after each. */
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
