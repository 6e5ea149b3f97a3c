import type { ChainToken } from '@svc/protocol';
import {
  type Call,
  chainIds,
  encodeCalls,
  invokeHash,
  selector,
  sign,
  TRANSACTION_VERSION,
  toHex,
} from '@svc/starknet';
import { TestDatabase } from '@svc/store/testing';
import { showTransaction } from '../src/chain/transaction.ts';
import { type PredeployedAccount, predeployed } from '../src/contracts/predeployed.ts';
import { gasPrices } from '../src/execution/fees.ts';
import type { InvokeTransaction } from '../src/execution/types.ts';
import { sandbox } from '../src/index.ts';
import { type NodeOptions, type StarknetNode, startNode } from '../src/node.ts';
import type { SpecVersion } from '../src/rpc/context.ts';
import { starknetToken } from '../src/tokens.ts';
import { useThreadEngine } from './engine.ts';

export interface RpcFailure {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface TestNode {
  readonly database: TestDatabase;
  readonly node: StarknetNode;
  /** Errors reported by the node. */
  readonly complaints: unknown[];
  /** Throws if the answer is an error. */
  call<T = unknown>(method: string, params?: unknown, spec?: SpecVersion): Promise<T>;
  /** Throws unless the answer is an error. */
  fail(method: string, params?: unknown): Promise<RpcFailure>;
  send(tx: InvokeTransaction): Promise<string>;
  balance(token: ChainToken, owner: bigint, blockId?: unknown): Promise<bigint>;
  stop(): Promise<void>;
}

/** A node in this thread, on its own database or a given one. */
export async function startTestNode(
  options: Partial<NodeOptions> & { database?: TestDatabase } = {},
): Promise<TestNode> {
  useThreadEngine();
  const database = options.database ?? (await TestDatabase.create([sandbox.migrations]));
  const complaints: unknown[] = [];
  const report = (error: unknown) => complaints.push(error);
  const node = await startNode({ report, ...options, url: database.url });
  const ask = async (method: string, params: unknown = [], spec: SpecVersion = '0.10.0') => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: `starknet_${method}`, params });
    return JSON.parse((await node.rpc(body, spec)).body) as { result?: unknown; error?: RpcFailure };
  };
  const call = async <T>(method: string, params?: unknown, spec?: SpecVersion) => {
    const { result, error } = await ask(method, params, spec);
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result as T;
  };
  return {
    database,
    node,
    complaints,
    call,
    fail: async (method, params) => {
      const { result, error } = await ask(method, params);
      if (!error) throw new Error(`${method} should fail, but answered ${JSON.stringify(result)}`);
      return error;
    },
    send: async (tx) => {
      const params = { invoke_transaction: showTransaction(tx) };
      return (await call<{ transaction_hash: string }>('addInvokeTransaction', params)).transaction_hash;
    },
    balance: async (token, owner, blockId = 'latest') => {
      const request = {
        contract_address: toHex(starknetToken(token).address),
        entry_point_selector: toHex(selector('balance_of')),
        calldata: [toHex(owner)],
      };
      const [low = '0x0', high = '0x0'] = await call<string[]>('call', { request, block_id: blockId });
      return BigInt(low) + (BigInt(high) << 128n);
    },
    stop: async () => {
      await node.close();
      if (!options.database) await database.drop();
    },
  };
}

export interface Invocation {
  readonly nonce: bigint;
  readonly from?: PredeployedAccount;
  readonly tip?: bigint;
  readonly price?: bigint;
}

/** A signed transaction of a predeployed account; relayer 1 by default. */
export function invoke(calls: readonly Call[], { nonce, from, tip = 0n, price }: Invocation): InvokeTransaction {
  const sender = from ?? relayer(1);
  const { l1Gas, l2Gas, l1DataGas } = gasPrices();
  const fields = {
    version: TRANSACTION_VERSION,
    chainId: chainIds.SVC_SANDBOX,
    sender: sender.address,
    calldata: encodeCalls(calls),
    nonce,
    tip,
    resourceBounds: {
      l1Gas: { maxAmount: 0n, maxPricePerUnit: l1Gas.fri },
      l2Gas: { maxAmount: 200_000_000n, maxPricePerUnit: price ?? l2Gas.fri },
      l1DataGas: { maxAmount: 20_000n, maxPricePerUnit: l1DataGas.fri },
    },
    paymasterData: [],
    accountDeploymentData: [],
    nonceDataAvailabilityMode: 0,
    feeDataAvailabilityMode: 0,
  } as const;
  const hash = invokeHash(fields);
  const { r, s } = sign(hash, sender.privateKey);
  return { type: 'INVOKE', ...fields, hash, signature: [r, s] };
}

export function relayer(number: number): PredeployedAccount {
  const account = predeployed.relayers[number - 1];
  if (!account) throw new Error(`There is no relayer ${number}.`);
  return account;
}

/** Amount in the smallest unit. */
export function transfer(token: ChainToken, to: bigint, amount: bigint): Call {
  return { to: starknetToken(token).address, selector: selector('transfer'), calldata: [to, amount, 0n] };
}

/** Moves 1 FRI of the first relayer. */
export function payment(nonce: bigint, to = 0xb0bn, options: Omit<Invocation, 'nonce'> = {}): InvokeTransaction {
  return invoke([transfer('STRK', to, 1n)], { nonce, ...options });
}
