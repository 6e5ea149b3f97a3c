import { classes, contractAddress } from '@svc/starknet';
import type { Call, OutsideExecutionOptions, SignerInterface } from 'starknet';
import * as ten from 'starknet';
import * as nine from 'starknet-9';
import type { Sandbox } from './sandbox.ts';

export type Library = typeof ten;
export type Account = InstanceType<Library['Account']>;
export type RpcProvider = InstanceType<Library['RpcProvider']>;

// The parts that the tests use differ in their declared types alone.
export const libraries: readonly (readonly [string, Library])[] = [
  ['starknet.js 9.4', nine as unknown as Library],
  ['starknet.js 10.8', ten],
];

// The libraries warn at every call that a young chain has too few transactions to estimate a tip.
for (const [, library] of libraries) library.logger.setLogLevel('ERROR');

export const USDC = '0x33068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fb';
export const UDC = '0x2ceed65a4bd731034c01113685c831b01c15d7d432f71afb1cf1634b53a2125';
export const STRK = '0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d';

/** Blocks are instant; the library polls every five seconds. */
export const WAIT = { retryInterval: 10 };

/** Ample bounds replace the library's estimate, which refuses what reverts. */
export const AMPLE = {
  tip: 0n,
  resourceBounds: {
    l1_gas: { max_amount: 0n, max_price_per_unit: 10n ** 15n },
    l1_data_gas: { max_amount: 20_000n, max_price_per_unit: 50_000n },
    l2_gas: { max_amount: 200_000_000n, max_price_per_unit: 10_000_000_000n },
  },
};

/** In whole tokens. */
const STARTING_STRK = '1000';
const STARTING_USDC = '1000';

export const kinds = ['SVC', 'SVC with policies', 'SVC with sessions', 'READY', 'plain'] as const;
export type Kind = (typeof kinds)[number];

const classHashes: Record<Exclude<Kind, 'plain'>, bigint> = {
  SVC: classes.svc,
  'SVC with policies': classes.svcPolicies,
  'SVC with sessions': classes.svcSessions,
  READY: classes.ready,
};

export interface Deployment {
  readonly classHash: string;
  readonly constructorCalldata: string[];
  readonly addressSalt: string;
  readonly contractAddress: string;
}

export interface Wallet {
  readonly account: Account;
  readonly address: string;
  readonly privateKey: string;
  readonly publicKey: string;
  readonly deployment: Deployment;
}

/** The fields that the tests read; the library's own type is a union. */
export interface Receipt {
  readonly type: string;
  readonly transaction_hash: string;
  readonly execution_status: 'SUCCEEDED' | 'REVERTED';
  readonly finality_status: string;
  readonly revert_reason?: string;
  readonly contract_address?: string;
  readonly block_number?: number;
  readonly block_hash?: string;
  readonly actual_fee: { readonly amount: string; readonly unit: string };
  readonly events: readonly { readonly from_address: string; readonly keys: string[]; readonly data: string[] }[];
}

export class Client {
  readonly library: Library;
  readonly sandbox: Sandbox;
  readonly provider: RpcProvider;

  /** The default block of reads. */
  constructor(library: Library, sandbox: Sandbox, blockIdentifier: 'latest' | 'pre_confirmed' = 'latest') {
    this.library = library;
    this.sandbox = sandbox;
    this.provider = new library.RpcProvider({ nodeUrl: sandbox.rpcUrl, blockIdentifier });
  }

  account(address: string, signer: string | SignerInterface): Account {
    return new this.library.Account({ provider: this.provider, address, signer });
  }

  async funded(label: string): Promise<Account> {
    const { address, privateKey } = await this.sandbox.account(label);
    return this.account(address, privateKey);
  }

  async classHashOf(kind: Kind): Promise<string> {
    if (kind !== 'plain') return this.library.num.toHex(classHashes[kind]);
    return this.provider.getClassHashAt((await this.sandbox.account('relayer 1')).address);
  }

  /** Keys and the address of an account; nothing is sent. */
  async newWallet(kind: Kind): Promise<Wallet> {
    const { ec, num, stark } = this.library;
    const privateKey = stark.randomAddress();
    const publicKey = num.toHex(ec.starkCurve.getStarkKey(privateKey));
    const classHash = await this.classHashOf(kind);
    const constructorCalldata = kind === 'READY' ? ['0x0', publicKey, '0x1'] : [publicKey];
    const address = num.toHex(
      contractAddress({
        salt: BigInt(publicKey),
        classHash: BigInt(classHash),
        constructorCalldata: constructorCalldata.map(BigInt),
        deployer: 0n,
      }),
    );
    const deployment = { classHash, constructorCalldata, addressSalt: publicKey, contractAddress: address };
    return { account: this.account(address, privateKey), address, privateKey, publicKey, deployment };
  }

  async fund({ address }: Wallet): Promise<void> {
    await this.sandbox.faucet(address, 'STRK', STARTING_STRK);
    await this.sandbox.faucet(address, 'USDC', STARTING_USDC);
  }

  async openWallet(kind: Kind): Promise<Wallet> {
    const wallet = await this.newWallet(kind);
    await this.fund(wallet);
    await this.receipt((await wallet.account.deployAccount(wallet.deployment, AMPLE)).transaction_hash);
    return wallet;
  }

  async balance(token: string, owner: string): Promise<bigint> {
    const [low = '0x0', high = '0x0'] = await this.provider.callContract(call(token, 'balance_of', [owner]));
    return BigInt(low) + (BigInt(high) << 128n);
  }

  async receipt(transactionHash: string): Promise<Receipt> {
    return (await this.provider.getTransactionReceipt(transactionHash)).value as unknown as Receipt;
  }

  /** Without an estimate, so that it may revert. */
  async send(account: Account, calls: Call | Call[]): Promise<Receipt> {
    const nonce = await this.provider.getNonceForAddress(account.address, 'pre_confirmed');
    return this.receipt((await account.execute(calls, { ...AMPLE, nonce })).transaction_hash);
  }

  async sendFor(
    sender: Account,
    signer: Account,
    calls: Call | Call[],
    options: Partial<OutsideExecutionOptions> = {},
  ) {
    const signed = await signer.getOutsideTransaction({ ...(await this.window()), ...options }, calls);
    const nonce = await this.provider.getNonceForAddress(sender.address, 'pre_confirmed');
    return this.receipt((await sender.executeFromOutside(signed, { ...AMPLE, nonce })).transaction_hash);
  }

  async window(): Promise<OutsideExecutionOptions> {
    const now = await this.sandbox.clock();
    return { caller: 'ANY_CALLER', execute_after: now - 3_600, execute_before: now + 3_600 };
  }
}

export function call(contractAddress: string, entrypoint: string, calldata: (string | number | bigint)[] = []): Call {
  return { contractAddress, entrypoint, calldata: calldata.map(String) };
}

export function transfer(token: string, to: string, amount: number | bigint): Call {
  return call(token, 'transfer', [to, amount, 0]);
}

/** Through the universal deployer, at an address that does not depend on the sender. */
export function deploy({ classHash, addressSalt, constructorCalldata }: Deployment): Call {
  return call(UDC, 'deploy_contract', [classHash, addressSalt, 0, constructorCalldata.length, ...constructorCalldata]);
}

export interface SessionChanges {
  readonly validUntil?: number;
  readonly maxCalls?: number;
  readonly entrypoints?: readonly string[];
}

export interface PolicyChanges {
  readonly token?: string;
  readonly maxPerCall?: bigint;
  readonly maxPerWindow?: bigint;
  readonly windowSeconds?: number;
}

/** Beyond any window of the tests. */
const SESSION_SECONDS = 1_000_000;

/** A session signature has four felts. */
function sessionSigner(library: Library, privateKey: string, validUntil: number) {
  class SessionSigner extends library.Signer {
    protected override async signRaw(hash: string): Promise<string[]> {
      const { r, s } = library.ec.starkCurve.sign(hash, privateKey);
      return [await this.getPubKey(), library.num.toHex(r), library.num.toHex(s), library.num.toHex(validUntil)];
    }
  }
  return new SessionSigner(privateKey);
}

/** A wallet, a session key and a relayer. The clock stands still. */
export class SessionWallet {
  readonly client: Client;
  readonly wallet: Wallet;
  readonly relayer: Account;
  readonly sessionPrivateKey: string;
  readonly sessionKey: string;

  private constructor(client: Client, wallet: Wallet, relayer: Account) {
    this.client = client;
    this.wallet = wallet;
    this.relayer = relayer;
    this.sessionPrivateKey = client.library.stark.randomAddress();
    this.sessionKey = client.library.ec.starkCurve.getStarkKey(this.sessionPrivateKey);
  }

  static async open(library: Library, sandbox: Sandbox, kind: Kind): Promise<SessionWallet> {
    await sandbox.freeze();
    const client = new Client(library, sandbox, 'pre_confirmed');
    return new SessionWallet(client, await client.openWallet(kind), await client.funded('relayer 1'));
  }

  get address(): string {
    return this.wallet.address;
  }

  as(validUntil: number, privateKey = this.sessionPrivateKey): Account {
    return this.client.account(this.address, sessionSigner(this.client.library, privateKey, validUntil));
  }

  own(entrypoint: string, calldata: (string | number | bigint)[]): Promise<Receipt> {
    return this.client.send(this.wallet.account, call(this.address, entrypoint, calldata));
  }

  async addSession({ validUntil, maxCalls = 100, entrypoints = [] }: SessionChanges = {}): Promise<number> {
    const until = validUntil ?? (await this.client.sandbox.clock()) + SESSION_SECONDS;
    const selectors = entrypoints.map((name) => this.client.library.hash.getSelectorFromName(name));
    const { revert_reason } = await this.own('add_or_update_session_key', [
      this.sessionKey,
      until,
      maxCalls,
      selectors.length,
      ...selectors,
    ]);
    if (revert_reason) throw new Error(revert_reason);
    return until;
  }

  async setPolicy(changes: PolicyChanges = {}): Promise<void> {
    const { token = USDC, maxPerCall = 50n, maxPerWindow = 80n, windowSeconds = 100 } = changes;
    const limits = [...halves(maxPerCall), ...halves(maxPerWindow), windowSeconds];
    const { revert_reason } = await this.own('set_spending_policy', [this.sessionKey, token, ...limits]);
    if (revert_reason) throw new Error(revert_reason);
  }

  relayed(calls: Call | Call[], validUntil: number, privateKey?: string): Promise<Receipt> {
    return this.client.sendFor(this.relayer, this.as(validUntil, privateKey), calls);
  }

  /** As a transaction of the account, which pays. */
  direct(calls: Call | Call[], validUntil: number, privateKey?: string): Promise<Receipt> {
    return this.client.send(this.as(validUntil, privateKey), calls);
  }

  private async read(entrypoint: string, calldata: string[]): Promise<bigint[]> {
    const request = { contractAddress: this.address, entrypoint, calldata };
    return (await this.client.provider.callContract(request)).map(BigInt);
  }

  async session() {
    const [validUntil, maxCalls, callsUsed, entrypoints] = await this.read('get_session_data', [this.sessionKey]);
    return { validUntil, maxCalls, callsUsed, entrypoints };
  }

  async policy(token = USDC) {
    const felts = await this.read('get_spending_policy', [this.sessionKey, token]);
    return { spentInWindow: felts[5], windowStart: felts[7] };
  }

  balance(token: string, owner: string): Promise<bigint> {
    return this.client.balance(token, owner);
  }
}

export function halves(amount: bigint): [bigint, bigint] {
  return [amount & (2n ** 128n - 1n), amount >> 128n];
}
