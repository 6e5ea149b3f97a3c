import {
  type Call,
  chainIds,
  encodeCalls,
  type InvokeFields,
  invokeHash,
  type StarkSignature,
  selector,
  sign,
  starkKey,
  TRANSACTION_VERSION,
  toHex,
} from '@svc/starknet';
import type { ServerAddress } from './server.ts';
import { STRK } from './starknet-client.ts';

export interface ShownAccount {
  readonly label: string;
  readonly address: string;
  readonly privateKey: string;
}

export interface Shown {
  readonly blockNumber: number;
  readonly timestamp: number;
  readonly offsetSeconds: number;
  readonly waitingTransactions: number;
  readonly accounts: readonly ShownAccount[];
}

export interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** The clock may tick between reading and setting it. */
const CLOCK_TRIES = 5;
/** Longer than any test. */
const FROZEN_SECONDS = 3_600;

/** Faults, clocks and blocks change the chain for everybody. */
const FOR_ALL =
  /^\/(starknet\/(faults|time|block-time|reorg|pool)|bridge\/(faults|settings)|provider\/(faults|settings))/;

export class Sandbox {
  readonly url: string;
  readonly rpcUrl: string;

  readonly #isShared: boolean;
  #hasFaults = false;

  constructor({ origin, isShared = false }: Pick<ServerAddress, 'origin' | 'isShared'>) {
    this.#isShared = isShared;
    this.url = `${origin}/sandbox`;
    this.rpcUrl = `${this.url}/starknet/rpc`;
  }

  async ask<T>(path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST'): Promise<T> {
    if (this.#isShared && method !== 'GET' && FOR_ALL.test(path)) {
      throw new Error(`${path} would meet the tests of other files: use TestService.hosted().`);
    }
    const response = await fetch(this.url + path, {
      method,
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  show(): Promise<Shown> {
    return this.ask('/starknet');
  }

  async account(label: string): Promise<ShownAccount> {
    const found = (await this.show()).accounts.find((account) => account.label === label);
    if (!found) throw new Error(`The sandbox shows no ${label}.`);
    return found;
  }

  async faucet(address: string, token: string, amount: string): Promise<string> {
    return (await this.ask<{ transactionHash: string }>('/faucet', { address, token, amount })).transactionHash;
  }

  orderFault(fault: Record<string, unknown>): Promise<unknown> {
    this.#hasFaults = true;
    return this.ask('/starknet/faults', fault);
  }

  /** Asks only where some were ordered here. */
  async clearFaults(): Promise<void> {
    if (!this.#hasFaults) return;
    await this.ask('/starknet/faults', undefined, 'DELETE');
    this.#hasFaults = false;
  }

  async rpc(method: string, params: unknown = []): Promise<RpcAnswer> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: `starknet_${method}`, params });
    return (await (await fetch(this.rpcUrl, { method: 'POST', body })).json()) as RpcAnswer;
  }

  /** Stops the chain's clock until `setClock` or `thaw`. */
  async freeze(): Promise<number> {
    await this.ask('/starknet/block-time', { seconds: FROZEN_SECONDS });
    return this.clock();
  }

  /** Every transaction gets a block of its own at once. */
  async thaw(): Promise<void> {
    await this.ask('/starknet/block-time', { seconds: 0 });
  }

  async clock(): Promise<number> {
    const { result } = await this.rpc('getBlockWithTxHashes', ['pre_confirmed']);
    return (result as { timestamp: number }).timestamp;
  }

  async setClock(timestamp: number): Promise<void> {
    for (let tries = 0; tries < CLOCK_TRIES; tries++) {
      const offsetSeconds = timestamp - Math.floor(Date.now() / 1_000);
      await this.ask('/starknet/time', { offsetSeconds });
      if ((await this.clock()) === timestamp) return;
    }
    throw new Error(`The clock could not be set to ${timestamp}.`);
  }
}

const MODE = 'L1';
const bounds = {
  l1Gas: { maxAmount: 0n, maxPricePerUnit: 10n ** 15n },
  l1DataGas: { maxAmount: 20_000n, maxPricePerUnit: 50_000n },
  l2Gas: { maxAmount: 200_000_000n, maxPricePerUnit: 10_000_000_000n },
};
const shown = ({ maxAmount, maxPricePerUnit }: { maxAmount: bigint; maxPricePerUnit: bigint }) => ({
  max_amount: toHex(maxAmount),
  max_price_per_unit: toHex(maxPricePerUnit),
});

export interface Sender {
  readonly address: string;
  readonly privateKey: string;
}

export interface Payment {
  readonly hash: string;
  readonly fields: InvokeFields;
  readonly publicKey: bigint;
  readonly signature: StarkSignature;
  /** Of the JSON-RPC request. */
  readonly body: string;
}

/** A signed transfer of STRK, made without starknet.js because a thousand are needed. */
export function payment(from: Sender, nonce: number, to: bigint, amount = 1n): Payment {
  return invocation(from, nonce, [{ to: BigInt(STRK), selector: selector('transfer'), calldata: [to, amount, 0n] }]);
}

export function invocation(from: Sender, nonce: number, calls: readonly Call[]): Payment {
  const fields = {
    version: TRANSACTION_VERSION,
    chainId: chainIds.SVC_SANDBOX,
    sender: BigInt(from.address),
    nonce: BigInt(nonce),
    tip: 0n,
    resourceBounds: bounds,
    paymasterData: [],
    accountDeploymentData: [],
    nonceDataAvailabilityMode: 0,
    feeDataAvailabilityMode: 0,
    calldata: encodeCalls(calls),
  } as const;
  const hash = invokeHash(fields);
  const privateKey = BigInt(from.privateKey);
  const signature = sign(hash, privateKey);
  const transaction = {
    type: 'INVOKE',
    version: toHex(fields.version),
    sender_address: from.address,
    calldata: fields.calldata.map(toHex),
    signature: [toHex(signature.r), toHex(signature.s)],
    nonce: toHex(fields.nonce),
    resource_bounds: { l1_gas: shown(bounds.l1Gas), l1_data_gas: shown(bounds.l1DataGas), l2_gas: shown(bounds.l2Gas) },
    tip: '0x0',
    paymaster_data: [],
    account_deployment_data: [],
    nonce_data_availability_mode: MODE,
    fee_data_availability_mode: MODE,
  };
  const request = { jsonrpc: '2.0', id: 1, method: 'starknet_addInvokeTransaction', params: [transaction] };
  const publicKey = starkKey(privateKey);
  return { hash: toHex(hash), fields, publicKey, signature, body: JSON.stringify(request) };
}

export async function pay(rpcUrl: string, { hash, body }: Payment): Promise<boolean> {
  const response = await fetch(rpcUrl, { method: 'POST', body }).catch(() => undefined);
  const answer = (await response?.json().catch(() => undefined)) as { result?: { transaction_hash: string } };
  return answer?.result?.transaction_hash === hash;
}
