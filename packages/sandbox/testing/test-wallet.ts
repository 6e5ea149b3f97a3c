import {
  ANY_CALLER,
  type Call,
  classes,
  encodeAddOrUpdateSessionKey,
  encodeOutsideExecution,
  encodeSetSpendingPolicy,
  type OutsideExecution,
  outsideExecutionHash,
  type SessionKey,
  type SpendingPolicy,
  starkKey,
} from '@svc/starknet';
import { Reader, tuple, u32, u64, u256, type ValuesOf } from '../src/contracts/codec.ts';
import { predeployed } from '../src/contracts/predeployed.ts';
import type { Executed } from '../src/execution/types.ts';
import { call, type Signer, signature, TestChain, USDC } from './test-chain.ts';

export const OWNER_KEY = 0x04e4n;
export const SESSION_KEY = 0x5e55n;
export const SESSION = starkKey(SESSION_KEY);
export const BOB = 0xb0bn;

const sessionData = { valid_until: u64, max_calls: u32, calls_used: u32, allowed_entrypoints_len: u32 };
const policyData = {
  max_per_call: u256,
  max_per_window: u256,
  window_seconds: u64,
  spent_in_window: u256,
  window_start: u64,
};

/** A wallet with 1,000,000 units of USDC and a session key. */
export class TestWallet {
  readonly chain: TestChain;
  readonly owner: Signer;

  private constructor(chain: TestChain, owner: Signer) {
    this.chain = chain;
    this.owner = owner;
  }

  static async open(classHash: bigint = classes.svc, calldata?: readonly bigint[]): Promise<TestWallet> {
    const chain = new TestChain();
    const owner = await chain.account(OWNER_KEY, classHash, calldata);
    await chain.mint(USDC, owner.address, 1_000_000n);
    return new TestWallet(chain, owner);
  }

  get address(): bigint {
    return this.owner.address;
  }

  get now(): bigint {
    return this.chain.block.timestamp;
  }

  async asOwner(calls: readonly Call[], changes: Partial<OutsideExecution> = {}): Promise<Executed> {
    const execution = outside(this.chain, calls, changes);
    return relay(this.chain, this.address, execution, ownerSignature(this.chain, this.owner, execution));
  }

  async mustAsOwner(calls: readonly Call[]): Promise<Executed> {
    const executed = await this.asOwner(calls);
    if (executed.status === 'REVERTED') throw new Error(executed.revertReason);
    return executed;
  }

  /** A call of the account to itself, by its owner. */
  own(name: string, calldata: readonly bigint[]): Promise<Executed> {
    return this.asOwner([call(this.address, name, calldata)]);
  }

  async addSession(changes: Partial<SessionKey> = {}): Promise<bigint> {
    const session = {
      sessionKey: SESSION,
      validUntil: this.now + 1_000n,
      maxCalls: 100n,
      allowedEntrypoints: [],
      ...changes,
    };
    await this.mustAsOwner([call(this.address, 'add_or_update_session_key', encodeAddOrUpdateSessionKey(session))]);
    return session.validUntil;
  }

  async setPolicy(changes: Partial<SpendingPolicy> = {}): Promise<void> {
    const limits = { maxPerCall: 50n, maxPerWindow: 80n, windowSeconds: 100n };
    const policy = { sessionKey: SESSION, token: USDC, ...limits, ...changes };
    await this.mustAsOwner([call(this.address, 'set_spending_policy', encodeSetSpendingPolicy(policy))]);
  }

  /** Relayed, as the service does it. */
  async asSession(
    calls: readonly Call[],
    { validUntil, key = SESSION_KEY, ...changes }: { validUntil: bigint; key?: bigint } & Partial<OutsideExecution>,
  ): Promise<Executed> {
    const execution = outside(this.chain, calls, changes);
    const hash = outsideExecutionHash(2, execution, this.address, this.chain.block.chainId);
    return relay(this.chain, this.address, execution, sessionSignature(hash, validUntil, key));
  }

  /** As a transaction of the account, which then pays the fee. */
  async directlyAsSession(calls: readonly Call[], validUntil: bigint, key = SESSION_KEY) {
    const tx = await this.chain.invocation(this.owner, calls);
    return this.chain.run({ ...tx, signature: sessionSignature(tx.hash, validUntil, key) });
  }

  async session(key = SESSION): Promise<ValuesOf<typeof sessionData>> {
    return tuple(sessionData).read(new Reader(await this.chain.read(this.address, 'get_session_data', [key])));
  }

  async policy(token = USDC, key = SESSION): Promise<ValuesOf<typeof policyData>> {
    return tuple(policyData).read(new Reader(await this.chain.read(this.address, 'get_spending_policy', [key, token])));
  }
}

export function sessionSignature(hash: bigint, validUntil: bigint, key = SESSION_KEY): bigint[] {
  return [starkKey(key), ...signature(hash, key), validUntil];
}

export const [relayer, otherRelayer] = predeployed.relayers;

let lastNonce = 0n;

/** Valid now, for any caller, with a fresh nonce. */
export function outside(chain: TestChain, calls: readonly Call[], changes: Partial<OutsideExecution> = {}) {
  lastNonce += 1n;
  const { timestamp } = chain.block;
  const window = { executeAfter: timestamp - 10n, executeBefore: timestamp + 3_600n };
  return { caller: ANY_CALLER, nonce: lastNonce, ...window, calls, ...changes } satisfies OutsideExecution;
}

export function ownerSignature(chain: TestChain, owner: Signer, execution: OutsideExecution, version: 1 | 2 = 2) {
  return signature(outsideExecutionHash(version, execution, owner.address, chain.block.chainId), owner.privateKey);
}

const ENTRYPOINTS = { 1: 'execute_from_outside', 2: 'execute_from_outside_v2' } as const;

/** Sent by relayer 1. */
export async function relay(
  chain: TestChain,
  account: bigint,
  execution: OutsideExecution,
  signed: readonly bigint[],
  version: 1 | 2 = 2,
): Promise<Executed> {
  const calldata = encodeOutsideExecution(execution, signed);
  return chain.simulate(relayer.address, [call(account, ENTRYPOINTS[version], calldata)]);
}
