import {
  type Call,
  chainIds,
  contractAddress,
  deployAccountHash,
  encodeCalls,
  invokeHash,
  selector,
  shortString,
  sign,
  starkKey,
  toHex,
} from '@svc/starknet';
import { u256 } from '../src/contracts/codec.ts';
import { genesis } from '../src/contracts/genesis.ts';
import { predeployed } from '../src/contracts/predeployed.ts';
import { callContract, executeTransaction } from '../src/execution/execute.ts';
import type {
  BlockContext,
  CallOutcome,
  DeployAccountTransaction,
  Executed,
  ExecutionOptions,
  InvokeTransaction,
  Refused,
  StateDiff,
  StateReader,
} from '../src/execution/types.ts';
import { starknetToken } from '../src/tokens.ts';

export interface Signer {
  readonly address: bigint;
  readonly privateKey: bigint;
}

/** More than any test needs. */
export const bounds = {
  l1Gas: { maxAmount: 0n, maxPricePerUnit: 10n ** 15n },
  l1DataGas: { maxAmount: 1_000_000n, maxPricePerUnit: 50_000n },
  l2Gas: { maxAmount: 1_000_000_000n, maxPricePerUnit: 10_000_000_000n },
};

export type Overrides = Partial<Omit<InvokeTransaction, 'type' | 'sender' | 'calldata'>>;

export function call(to: bigint, name: string, calldata: readonly bigint[] = []): Call {
  return { to, selector: selector(name), calldata };
}

export function transfer(token: bigint, to: bigint, amount: bigint): Call {
  return call(token, 'transfer', [to, ...u256.write(amount)]);
}

/** How a call answers a panic with these words. */
export function panicOf(words: string): string {
  return JSON.stringify([toHex(shortString(words))]);
}

/** A chain in memory that starts with the genesis state. */
export class TestChain implements StateReader {
  readonly #state = genesis();
  block: BlockContext = {
    number: 1n,
    timestamp: 1_000_000n,
    sequencer: predeployed.sequencer.address,
    chainId: chainIds.SVC_SANDBOX,
  };

  storageAt = async (address: bigint, key: bigint) => this.#state.storage.get(address)?.get(key) ?? 0n;
  classHashAt = async (address: bigint) => this.#state.classHashes.get(address) ?? 0n;
  nonceAt = async (address: bigint) => this.#state.nonces.get(address) ?? 0n;
  isDeclared = async (classHash: bigint) => this.#state.declared.has(classHash);

  apply(diff: StateDiff): void {
    for (const [address, cells] of diff.storage) {
      const known = this.#state.storage.get(address) ?? new Map<bigint, bigint>();
      for (const [key, value] of cells) known.set(key, value);
      this.#state.storage.set(address, known);
    }
    for (const [address, nonce] of diff.nonces) this.#state.nonces.set(address, nonce);
    for (const [address, classHash] of diff.classHashes) this.#state.classHashes.set(address, classHash);
    for (const classHash of diff.declared) this.#state.declared.add(classHash);
  }

  pass(seconds: bigint): void {
    this.block = { ...this.block, number: this.block.number + 1n, timestamp: this.block.timestamp + seconds };
  }

  ask(to: bigint, name: string, calldata: readonly bigint[] = []): Promise<CallOutcome> {
    return callContract(this, this.block, call(to, name, calldata));
  }

  /** Throws if the call fails. */
  async read(to: bigint, name: string, calldata: readonly bigint[] = []): Promise<bigint[]> {
    const outcome = await this.ask(to, name, calldata);
    if (!outcome.ok) throw new Error(`${name} failed: ${JSON.stringify(outcome.error)}`);
    return outcome.result;
  }

  async balance(token: bigint, account: bigint): Promise<bigint> {
    const [low = 0n, high = 0n] = await this.read(token, 'balance_of', [account]);
    return low | (high << 128n);
  }

  /** Signed by the sender's key unless a signature is given. */
  async invocation(sender: Signer, calls: readonly Call[], overrides: Overrides = {}): Promise<InvokeTransaction> {
    const fields = {
      version: 3n,
      chainId: this.block.chainId,
      nonce: await this.nonceAt(sender.address),
      tip: 0n,
      resourceBounds: bounds,
      paymasterData: [],
      nonceDataAvailabilityMode: 0,
      feeDataAvailabilityMode: 0,
      sender: sender.address,
      calldata: encodeCalls(calls),
      accountDeploymentData: [],
      ...overrides,
    } as const;
    const hash = overrides.hash ?? invokeHash(fields);
    return { type: 'INVOKE', ...fields, hash, signature: overrides.signature ?? signature(hash, sender.privateKey) };
  }

  async run(tx: InvokeTransaction | DeployAccountTransaction, options: ExecutionOptions = {}) {
    const outcome = await executeTransaction(this, this.block, tx, options);
    if ('status' in outcome) this.apply(outcome.diff);
    return outcome;
  }

  async send(sender: Signer, calls: readonly Call[], overrides: Overrides = {}): Promise<Executed | Refused> {
    return this.run(await this.invocation(sender, calls, overrides));
  }

  /** Throws unless the transaction succeeds. */
  async must(sender: Signer, calls: readonly Call[], overrides: Overrides = {}): Promise<Executed> {
    const outcome = await this.send(sender, calls, overrides);
    if (!('status' in outcome)) throw new Error(`refused: ${outcome.reason}`);
    if (outcome.status === 'REVERTED') throw new Error(`reverted: ${outcome.revertReason}`);
    return outcome;
  }

  /** Without signature, nonce and fee. */
  async simulate(sender: bigint, calls: readonly Call[]): Promise<Executed> {
    const tx = await this.invocation({ address: sender, privateKey: 1n }, calls, { hash: 1n, signature: [] });
    const outcome = await this.run(tx, { skipValidate: true, skipFee: true });
    if (!('status' in outcome)) throw new Error(`refused: ${outcome.reason}`);
    return outcome;
  }

  deployment(privateKey: bigint, classHash: bigint, constructorCalldata: readonly bigint[]): DeployAccountTransaction {
    const salt = starkKey(privateKey);
    const fields = {
      version: 3n,
      chainId: this.block.chainId,
      nonce: 0n,
      tip: 0n,
      resourceBounds: bounds,
      paymasterData: [],
      nonceDataAvailabilityMode: 0,
      feeDataAvailabilityMode: 0,
      address: contractAddress({ salt, classHash, constructorCalldata, deployer: 0n }),
      classHash,
      salt,
      constructorCalldata,
    } as const;
    const hash = deployAccountHash(fields);
    return { type: 'DEPLOY_ACCOUNT', ...fields, hash, signature: signature(hash, privateKey) };
  }

  async mint(token: bigint, to: bigint, amount: bigint): Promise<void> {
    const { status, revertReason } = await this.simulate(predeployed.faucet.address, [
      call(token, 'mint', [to, ...u256.write(amount)]),
    ]);
    if (status !== 'SUCCEEDED') throw new Error(revertReason);
  }

  /** Deploys an account with some STRK for fees. */
  async account(privateKey: bigint, classHash: bigint, calldata?: readonly bigint[]): Promise<Signer> {
    const tx = this.deployment(privateKey, classHash, calldata ?? [starkKey(privateKey)]);
    await this.mint(STRK, tx.address, 100n * 10n ** 18n);
    const outcome = await this.run(tx, { skipValidate: true, skipFee: true });
    if (!('status' in outcome)) throw new Error(`refused: ${outcome.reason}`);
    return { address: tx.address, privateKey };
  }
}

export function signature(hash: bigint, privateKey: bigint): bigint[] {
  const { r, s } = sign(hash, privateKey);
  return [r, s];
}

export const STRK = starknetToken('STRK').address;
export const USDC = starknetToken('USDC').address;
