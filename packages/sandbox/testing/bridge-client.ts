import { Account, logger, RpcProvider } from 'starknet';
import { byteArray } from '../src/contracts/codec.ts';
import { HOOK, TOKEN_ACCOUNT_HALVES } from './bridge-fixtures.ts';
import type { SandboxServer } from './sandbox-server.ts';

const USDC = '0x033068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fb';
const MESSENGER = '0x07d421b9ca8aa32df259965cda8acb93f7599f69209a41872ae84638b2a20f2a';
const TRANSMITTER = '0x02ebb5777b6dd8b26ea11d68fdf1d2c85cd2099335328be845a28c77a8aef183';

/** Fixed, so that the library sends no estimate. */
const AMPLE = {
  tip: 0n,
  resourceBounds: {
    l1_gas: { max_amount: 0n, max_price_per_unit: 10n ** 15n },
    l1_data_gas: { max_amount: 20_000n, max_price_per_unit: 50_000n },
    l2_gas: { max_amount: 200_000_000n, max_price_per_unit: 10_000_000_000n },
  },
};

export interface BurnOptions {
  readonly amount?: bigint;
  readonly maxFee?: bigint;
  readonly threshold?: number;
  /** Null: no hook. */
  readonly hook?: Uint8Array | null;
  readonly recipient?: readonly [bigint, bigint];
  readonly times?: number;
}

export interface ShownMessage {
  readonly message: string;
  readonly eventNonce: string;
  readonly attestation: string;
  readonly status: string;
  readonly delayReason: string | null;
  readonly forwardState: string | null;
  readonly forwardTxHash: string | null;
  readonly decodedMessage: {
    readonly destinationDomain: string;
    readonly decodedMessageBody: Readonly<Record<string, string>>;
  } | null;
}

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

/** Burns USDC with starknet.js and queries the sandbox's bridge. */
export class BridgeClient {
  readonly url: string;
  readonly #account: Account;

  private constructor(url: string, account: Account) {
    this.url = url;
    this.#account = account;
  }

  static async at(server: Pick<SandboxServer, 'url' | 'rpcUrl'>): Promise<BridgeClient> {
    // Silences the library's warning that a new chain has too few transactions to estimate a tip.
    logger.setLogLevel('ERROR');
    const shown = await (await fetch(`${server.url}/starknet`)).json();
    const { accounts } = shown as { accounts: { label: string; address: string; privateKey: string }[] };
    const manager = accounts.find(({ label }) => label === 'manager');
    if (!manager) throw new Error('The sandbox shows no manager.');
    const provider = new RpcProvider({ nodeUrl: server.rpcUrl });
    return new BridgeClient(
      server.url,
      new Account({ provider, address: manager.address, signer: manager.privateKey }),
    );
  }

  /** The same account against another process. */
  asking(url: string): BridgeClient {
    return new BridgeClient(url, this.#account);
  }

  async burn(options: BurnOptions = {}): Promise<string> {
    const { amount = 1_000_000n, maxFee = 500n, threshold = 1_000, hook = HOOK, times = 1 } = options;
    const [low, high] = options.recipient ?? TOKEN_ACCOUNT_HALVES;
    const approve = { contractAddress: USDC, entrypoint: 'approve', calldata: [MESSENGER, amount * BigInt(times), 0n] };
    const deposit = {
      contractAddress: MESSENGER,
      entrypoint: hook ? 'deposit_for_burn_with_hook' : 'deposit_for_burn',
      calldata: [amount, 0, 5, low, high, USDC, 0, 0, maxFee, 0, threshold, ...(hook ? byteArray.write(hook) : [])],
    };
    return this.#send([approve, ...new Array<typeof deposit>(times).fill(deposit)]);
  }

  /** A message without a burn. */
  sendMessage(body: Uint8Array): Promise<string> {
    const calldata = [5, 1, 0, 0, 0, 1_000, ...byteArray.write(body)];
    return this.#send([{ contractAddress: TRANSMITTER, entrypoint: 'send_message', calldata }]);
  }

  async #send(calls: { contractAddress: string; entrypoint: string; calldata: (bigint | number | string)[] }[]) {
    const nonce = await this.#account.getNonce('pre_confirmed');
    const { transaction_hash } = await this.#account.execute(calls, { ...AMPLE, nonce });
    return transaction_hash;
  }

  async ask<T>(path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST'): Promise<Answer<T>> {
    const response = await fetch(this.url + path, {
      method,
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as T };
  }

  messages(hash: string): Promise<Answer<{ messages: ShownMessage[] }>> {
    return this.ask(`/bridge/v2/messages/25?transactionHash=${hash}`);
  }

  async message(hash: string): Promise<ShownMessage> {
    const { status, body } = await this.messages(hash);
    const [message, ...others] = body.messages ?? [];
    if (!message || others.length > 0) throw new Error(`${hash}: ${status} ${JSON.stringify(body)}`);
    return message;
  }

  async balance(address: string): Promise<bigint> {
    return BigInt((await this.ask<{ balance: string }>(`/bridge/solana/accounts/${address}`)).body.balance);
  }

  /** Removes all delays. */
  instantly(): Promise<unknown> {
    const none = { indexedSeconds: 0, fastSeconds: 0, standardSeconds: 0, forwardSeconds: 0 };
    return this.ask('/bridge/settings', { ...none, requestsPerSecond: 1_000_000 });
  }

  async passTime(seconds: number): Promise<void> {
    await this.ask('/starknet/time', { increaseSeconds: seconds });
  }
}
