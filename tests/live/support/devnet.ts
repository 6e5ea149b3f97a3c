import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { selector, starknetTokens, toHex } from '@svc/starknet';
import { Account, type CompiledSierra, hash, RpcProvider } from 'starknet';
import { gasPrices } from '../../../packages/sandbox/src/execution/fees.ts';
import { eventually } from '../../support/eventually.ts';
import type { RpcAnswer, ShownAccount } from '../../support/sandbox.ts';
import { AMPLE, transfer } from '../../support/starknet-client.ts';

export const DEVNET_VERSION = '0.10.1';
const INSTALL = `cargo install starknet-devnet --version ${DEVNET_VERSION} --locked`;
const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 30_000;
const COMPILED = path.resolve(import.meta.dirname, '../../../contracts/compiled');

/** Seconds between blocks, or a block for each transaction, which is devnet's default. */
export type BlockMode = 'transaction' | number;

export const blockModes: readonly (readonly [name: string, blocks: BlockMode])[] = [
  ['a block for each transaction', 'transaction'],
  ['a block every two seconds', 2],
];

export interface DevnetOptions {
  readonly blocks: BlockMode;
  /** The service takes it for mainnet; scenarios are signed for the sandbox. */
  readonly chainId: 'MAINNET' | 'SVC_SANDBOX';
}

/** Enough for every test together. */
const BANK_TOKENS = 10n ** 33n;
/** In whole tokens. */
const MANAGER_USDC = 100_000n;
const USDC_UNIT = 10n ** 6n;
/** As in the sandbox. */
const prices = gasPrices();
const PRICES = Object.entries({ gas: prices.l1Gas, 'data-gas': prices.l1DataGas, 'l2-gas': prices.l2Gas }).flatMap(
  ([resource, { fri, wei }]) => [`--${resource}-price-fri`, String(fri), `--${resource}-price`, String(wei)],
);
/** devnet's own ERC-20. */
const TOKEN_CLASS = '0x00b45dbc3714180381c5680e41931172d67194d77d504413465390e0bef194ec';
const LABELS = ['bank', 'manager', 'payment', 'relayer 1', 'relayer 2', 'relayer 3', 'stranger', 'spare'];
/** The service refuses requests after a minute without blocks. */
const HEARTBEAT_MS = 10_000;

/** starknet-devnet in a process of its own, with the tokens of mainnet and our classes declared. */
export class Devnet {
  readonly rpcUrl: string;
  readonly provider: RpcProvider;
  readonly accounts: readonly ShownAccount[];
  readonly declared: readonly Declared[];
  readonly #process: ChildProcess;
  readonly #heartbeat: NodeJS.Timeout | undefined;
  readonly #output: () => string;
  #paying: Promise<unknown> = Promise.resolve();

  static async start({ blocks, chainId }: DevnetOptions): Promise<Devnet> {
    const { url, child, output } = await startProcess([
      ...[
        '--port',
        '0',
        '--seed',
        '7',
        '--accounts',
        String(LABELS.length),
        '--initial-balance',
        '1000000000000000000000000',
      ],
      ...['--chain-id', chainId, '--predeclare-argent', '--state-archive-capacity', 'full', ...PRICES],
      ...['--block-generation-on', String(blocks)],
    ]);
    try {
      const ask = <T>(method: string, params?: object) => askNode<T>(url, method, params);
      const found = await ask<{ address: string; private_key: string }[]>('devnet_getPredeployedAccounts');
      const accounts = LABELS.map((label, index) => {
        const { address = '', private_key: privateKey = '' } = found[index] ?? {};
        return { label, address, privateKey };
      });
      await placeTokens(ask, accounts);
      const declared = await declareClasses(url, ask, accounts[0] as ShownAccount);
      return new Devnet({
        url,
        child,
        output,
        accounts,
        declared,
        beats: blocks === 'transaction' && chainId === 'MAINNET',
      });
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  }

  private constructor(parts: {
    readonly url: string;
    readonly child: ChildProcess;
    readonly output: () => string;
    readonly accounts: readonly ShownAccount[];
    readonly declared: readonly Declared[];
    readonly beats: boolean;
  }) {
    this.rpcUrl = parts.url;
    this.#process = parts.child;
    this.#output = parts.output;
    this.accounts = parts.accounts;
    this.declared = parts.declared;
    this.provider = new RpcProvider({ nodeUrl: parts.url, blockIdentifier: 'pre_confirmed' });
    if (parts.beats) this.#heartbeat = setInterval(() => this.mine().catch(() => {}), HEARTBEAT_MS);
  }

  account(label: string): ShownAccount {
    const found = this.accounts.find((each) => each.label === label);
    if (!found) throw new Error(`There is no account ${label}.`);
    return found;
  }

  async rpc(method: string, params: unknown = []): Promise<RpcAnswer> {
    return post(this.rpcUrl, `starknet_${method}`, params);
  }

  devnet<T>(method: string, params?: object): Promise<T> {
    return askNode<T>(this.rpcUrl, `devnet_${method}`, params);
  }

  async mine(): Promise<void> {
    await this.devnet('createBlock');
  }

  blockNumber(): Promise<number> {
    return askNode<number>(this.rpcUrl, 'starknet_blockNumber');
  }

  /** Removes this block and all later ones, with their transactions. */
  async abortFrom(block: number): Promise<void> {
    await this.devnet('abortBlocks', { starting_block_id: { block_number: block } });
  }

  /** Transfers of the bank, one after the other; answers once the block is there. */
  async faucet(address: string, token: string, amount: string): Promise<string> {
    const [, contract, decimals] = starknetTokens.mainnet.find(([name]) => name === token) ?? [];
    if (contract === undefined || decimals === undefined) throw new Error(`There is no token ${token}.`);
    const [whole = '0', part = ''] = amount.split('.');
    const raw = BigInt(whole + part.padEnd(decimals, '0'));
    const paid = this.#paying.then(async () => {
      const { address: from, privateKey } = this.account('bank');
      const bank = new Account({ provider: this.provider, address: from, signer: privateKey });
      const nonce = await this.provider.getNonceForAddress(from, 'pre_confirmed');
      return (await bank.execute(transfer(contract, address, raw), { ...AMPLE, nonce })).transaction_hash;
    });
    this.#paying = paid.catch(() => {});
    const transactionHash = await paid;
    const { result } = await eventually(
      () => this.rpc('getTransactionReceipt', [transactionHash]),
      (answer) => (answer.result as { block_hash?: string } | undefined)?.block_hash !== undefined,
    );
    const { execution_status, revert_reason } = result as { execution_status: string; revert_reason?: string };
    if (execution_status !== 'SUCCEEDED') throw new Error(`The bank could not pay: ${revert_reason}`);
    return transactionHash;
  }

  async stop(): Promise<void> {
    clearInterval(this.#heartbeat);
    if (this.#process.exitCode !== null) throw new Error(`devnet ended by itself:\n${this.#output()}`);
    const exited = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGINT');
    const late = setTimeout(() => this.#process.kill('SIGKILL'), STOP_LIMIT_MS);
    await exited;
    clearTimeout(late);
  }
}

type Ask = <T>(method: string, params?: object) => Promise<T>;

async function startProcess(args: readonly string[]): Promise<{ url: string; child: ChildProcess; output(): string }> {
  const child = spawn(process.env.DEVNET_BIN || 'starknet-devnet', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: string[] = [];
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(String(chunk)));
  const output = () => chunks.join('').slice(-20_000);
  const place = async () => {
    if (failure) throw new Error(`starknet-devnet does not start (${failure.message}). ${HOW_TO_INSTALL}`);
    if (child.exitCode !== null) throw new Error(`starknet-devnet ended:\n${output()}`);
    return /listening on ([\d.]+:\d+)/.exec(output())?.[1];
  };
  const found = await eventually(place, (address) => address !== undefined, START_LIMIT_MS);
  return { url: `http://${found}/rpc`, child, output };
}

export const HOW_TO_INSTALL = `Install it with "${INSTALL}", and set DEVNET_BIN if it is not on the PATH.`;

async function post(url: string, method: string, params: unknown): Promise<RpcAnswer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json' };
  return (await (await fetch(url, { method: 'POST', headers, body })).json()) as RpcAnswer;
}

async function askNode<T>(url: string, method: string, params: object = {}): Promise<T> {
  const { result, error } = await post(url, method, params);
  if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result as T;
}

/** STRK and ETH are there already. */
async function placeTokens(ask: Ask, accounts: readonly ShownAccount[]): Promise<void> {
  const missing = starknetTokens.mainnet.filter(([token]) => token !== 'STRK' && token !== 'ETH');
  const [bank, manager] = accounts;
  if (!bank || !manager) throw new Error('devnet has too few accounts.');
  const entry = (key: bigint, value: bigint) => ({ key: toHex(key), value: toHex(value) });
  const balance = (owner: string, value: bigint) =>
    entry(BigInt(hash.computePedersenHash(toHex(selector('ERC20_balances')), owner)), value);
  const storage_diffs = missing.map(([token, address, decimals]) => ({
    address,
    storage_entries: [
      entry(selector('ERC20_decimals'), BigInt(decimals)),
      entry(selector('ERC20_total_supply'), BANK_TOKENS + MANAGER_USDC * USDC_UNIT),
      balance(bank.address, BANK_TOKENS),
      ...(token === 'USDC' ? [balance(manager.address, MANAGER_USDC * USDC_UNIT)] : []),
    ],
  }));
  const deployed_contracts = missing.map(([, address]) => ({ address, class_hash: TOKEN_CLASS }));
  await ask('devnet_applyStateDiff', { state_diff: { deployed_contracts, storage_diffs } });
}

export interface Declared {
  readonly file: string;
  readonly classHash: bigint;
  readonly compiledClassHash: string;
  readonly l2Gas: number;
}

/** By transactions, as on a public network. devnet compiles them to CASM for their compiled class hashes first. */
async function declareClasses(url: string, ask: Ask, { address, privateKey }: ShownAccount): Promise<Declared[]> {
  const provider = new RpcProvider({ nodeUrl: url, blockIdentifier: 'pre_confirmed' });
  const account = new Account({ provider, address, signer: privateKey });
  const declared: Declared[] = [];
  for (const file of ['svc_account.json', 'svc_treasury.json']) {
    const contract = JSON.parse(readFileSync(path.join(COMPILED, file), 'utf8')) as CompiledSierra;
    const compiledClassHash = await compiledHash(ask, contract);
    const nonce = await provider.getNonceForAddress(address, 'pre_confirmed');
    const sent = await account.declare({ contract, compiledClassHash }, { ...DECLARE, nonce });
    const receipt = await ask<{ execution_resources: { l2_gas: number } }>('starknet_getTransactionReceipt', {
      transaction_hash: sent.transaction_hash,
    });
    const l2Gas = receipt.execution_resources.l2_gas;
    declared.push({ file, classHash: BigInt(sent.class_hash), compiledClassHash, l2Gas });
  }
  return declared;
}

const DECLARE = {
  ...AMPLE,
  resourceBounds: {
    ...AMPLE.resourceBounds,
    l2_gas: { max_amount: 2_000_000_000n, max_price_per_unit: 10_000_000_000n },
  },
};

async function compiledHash(
  ask: Ask,
  { sierra_program, contract_class_version, entry_points_by_type, abi }: CompiledSierra,
) {
  const contract_class = {
    sierra_program,
    contract_class_version,
    entry_points_by_type,
    abi: typeof abi === 'string' ? abi : JSON.stringify(abi),
  };
  const snapshot_id = await ask<string>('devnet_snapshot');
  const { classes } = await ask<{ classes: { compiled_class_hash: string }[] }>('devnet_applyStateDiff', {
    state_diff: {},
    classes: [{ contract_class }],
  });
  await ask('devnet_revert', { snapshot_id });
  return classes[0]?.compiled_class_hash ?? '';
}
