import type { RunningServer } from './server.ts';
import { startService, type TestService } from './service.ts';

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

/** The clock may tick between reading and setting it, hardly twice in a row. */
const CLOCK_TRIES = 5;
/** No block ends by itself while a test runs. */
const FROZEN_SECONDS = 3_600;

/** One process's sandbox as its users see it. */
export class Sandbox {
  readonly url: string;
  readonly rpcUrl: string;

  constructor({ origin }: RunningServer) {
    this.url = `${origin}/sandbox`;
    this.rpcUrl = `${this.url}/starknet/rpc`;
  }

  async ask<T>(path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST'): Promise<T> {
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
    return this.ask('/starknet/faults', fault);
  }

  async rpc(method: string, params: unknown = []): Promise<RpcAnswer> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: `starknet_${method}`, params });
    return (await (await fetch(this.rpcUrl, { method: 'POST', body })).json()) as RpcAnswer;
  }

  /** Stops the chain's clock: from now on every transaction sees the same second, until `setClock`. */
  async freeze(): Promise<number> {
    await this.ask('/starknet/block-time', { seconds: FROZEN_SECONDS });
    return this.clock();
  }

  /** Lets the clock run again: every transaction gets a block of its own at once. */
  async thaw(): Promise<void> {
    await this.ask('/starknet/block-time', { seconds: 0 });
  }

  /** The second that the open block's transactions see. */
  async clock(): Promise<number> {
    const { result } = await this.rpc('getBlockWithTxHashes', ['pre_confirmed']);
    return (result as { timestamp: number }).timestamp;
  }

  /** Moves a stopped clock to exactly this second. */
  async setClock(timestamp: number): Promise<void> {
    for (let tries = 0; tries < CLOCK_TRIES; tries++) {
      const offsetSeconds = timestamp - Math.floor(Date.now() / 1_000);
      await this.ask('/starknet/time', { offsetSeconds });
      if ((await this.clock()) === timestamp) return;
    }
    throw new Error(`The clock could not be set to ${timestamp}.`);
  }
}

/** The service on a database of its own, and its sandbox. */
export async function startSandbox(): Promise<{ service: TestService; sandbox: Sandbox; stop(): Promise<void> }> {
  const service = await startService();
  return { service, sandbox: new Sandbox(service.server), stop: () => service.stop() };
}
