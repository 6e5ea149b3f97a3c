import { readFileSync } from 'node:fs';
import path from 'node:path';
import {
  ApiError,
  type Chain,
  type ChainToken,
  type Environment,
  NetworkFile,
  type Parsed,
  parseEvmAddress,
  parseSolanaAddress,
  parseStarknetAddress,
  type SolanaAddress,
  type StarknetAddress,
  unparsed,
} from '@svc/protocol';
import {
  ADDRESS_BOUND,
  chainIds,
  isFelt,
  shortString,
  toHex,
  type WalletClass,
  walletClass,
  walletClasses,
} from '@svc/starknet';
import { findFault } from '../http/validation.ts';
import { type EvmChain, ViemEvmChain } from './evm-chain.ts';
import { ChainUnavailableError } from './node-fetch.ts';
import type { NodeHealth } from './nodes.ts';
import {
  livePool,
  mainnetPool,
  type PoolPlace,
  type PoolSettings,
  type PrivatePool,
  sandboxPool,
} from './private-pool.ts';
import type { StarknetChain } from './starknet/chain.ts';
import { RpcStarknetChain } from './starknet/rpc-chain.ts';
import {
  type EvmChainName,
  evmChainIds,
  evmChainNames,
  type StarknetNetworkName,
  type Token,
  tokensOf,
} from './tokens.ts';

export interface BridgePlaces {
  readonly tokenMessenger: bigint;
  readonly messageTransmitter: bigint;
  readonly usdcMint: SolanaAddress;
}

/** A Starknet that the operator describes in a file. */
export interface CustomNetwork {
  readonly name: string;
  readonly chainId: bigint;
  readonly tokens: readonly Token[];
  readonly svcClassHash: bigint;
  /** False: no wallets of type `READY`. */
  readonly hasReady: boolean;
  /** Of a transaction, with `{hash}` in it. */
  readonly explorer: string | undefined;
  readonly bridge: (BridgePlaces & { readonly url: string }) | undefined;
  readonly pool?: PoolPlace | undefined;
}

export type LiveNetwork = 'mainnet' | 'sepolia' | CustomNetwork;

export interface ChainSettings {
  readonly starknet: LiveStarknet | undefined;
  readonly evmRpcUrls: Readonly<Partial<Record<EvmChainName, readonly string[]>>>;
}

export interface LiveStarknet {
  readonly network: LiveNetwork;
  readonly rpcUrls: readonly string[];
  /** For clients; without the operator's API key. */
  readonly publicRpcUrl: string;
  readonly svcClassHash: bigint;
  readonly paymentAddress: StarknetAddress;
  /** Undefined: no private balances. */
  readonly pool?: PoolSettings | undefined;
}

export interface SandboxPlace {
  readonly url: string;
  readonly publicUrl: string;
  /** The node's own port, which bypasses our HTTP server. */
  readonly nodeUrl?: string | undefined;
  readonly paymentAddress: bigint;
}

export interface StarknetNetwork {
  /** `mainnet`, `sepolia`, `sandbox`, or the name in the operator's file. */
  readonly name: string;
  readonly chain: StarknetChain;
  readonly tokens: readonly Token[];
  /** Where they are not those that are known for the name. */
  readonly bridge?: BridgePlaces | undefined;
  readonly rpcUrl: string;
  readonly paymentAddress: StarknetAddress;
  readonly walletClasses: readonly WalletClass[];
  readonly pool?: PrivatePool | undefined;
  /** Block time as contracts see it. */
  time(): Promise<Date>;
}

export interface ChainsHealth {
  readonly nodes: readonly NodeHealth[];
  readonly unasked: readonly ChainToken[];
}

const liveChainIds = { mainnet: chainIds.SN_MAIN, sepolia: chainIds.SN_SEPOLIA };

/** Sepolia has none that is known. */
export function poolOf(network: LiveNetwork): PoolPlace | undefined {
  if (typeof network !== 'string') return network.pool;
  return network === 'mainnet' ? mainnetPool : undefined;
}

export const nameOfNetwork = (network: LiveNetwork): string => (typeof network === 'string' ? network : network.name);

/** Production uses the live chains, development the sandbox, never the other way round: a missing one is `chain_not_configured`. */
export class Networks {
  readonly #live: StarknetNetwork | undefined;
  readonly #liveEvm: ReadonlyMap<EvmChainName, EvmChain>;
  readonly #development: StarknetNetwork | undefined;
  readonly #developmentEvm: ReadonlyMap<EvmChainName, EvmChain>;

  constructor(settings: ChainSettings, sandbox: SandboxPlace | undefined) {
    this.#live = settings.starknet && liveNetwork(settings.starknet);
    this.#liveEvm = new Map(
      evmChainNames.flatMap((chain) => {
        const urls = settings.evmRpcUrls[chain];
        return urls ? [[chain, evmChain(chain, urls)] as const] : [];
      }),
    );
    this.#development = sandbox && sandboxNetwork(sandbox);
    this.#developmentEvm = new Map(
      sandbox &&
        evmChainNames.map((chain) => [chain, evmChain(chain, [`${sandbox.url}/evm/${chain.toLowerCase()}/rpc`])]),
    );
  }

  environments(): readonly Environment[] {
    return [...(this.#live ? ['production' as const] : []), ...(this.#development ? ['development' as const] : [])];
  }

  starknet(environment: Environment): StarknetNetwork {
    const network = environment === 'production' ? this.#live : this.#development;
    return network ?? notConfigured(environment, 'STARKNET');
  }

  evm(environment: Environment, chain: EvmChainName): EvmChain {
    const found = (environment === 'production' ? this.#liveEvm : this.#developmentEvm).get(chain);
    return found ?? notConfigured(environment, chain);
  }

  token(environment: Environment, chain: Chain, token: ChainToken): Token | undefined {
    if (chain !== 'STARKNET') this.evm(environment, chain);
    return this.#tokensOn(environment, chain).find((known) => known.token === token);
  }

  tokens(environment: Environment): Token[] {
    const evm = environment === 'production' ? [...this.#liveEvm.keys()] : evmChainNames;
    return (['STARKNET', ...evm] as const).flatMap((chain) => this.#tokensOn(environment, chain));
  }

  #tokensOn(environment: Environment, chain: Chain): readonly Token[] {
    return chain === 'STARKNET' ? this.starknet(environment).tokens : tokensOf('mainnet', chain);
  }

  async check(): Promise<ChainsHealth> {
    const live = this.#live;
    const chains = await Promise.all([
      ...(live ? [checkChain(live.chain, live.tokens, starknetDecimals(live.chain))] : []),
      ...[...this.#liveEvm].map(([name, chain]) =>
        checkChain(chain, tokensOf('mainnet', name), (token) => evmDecimals(chain, token)),
      ),
    ]);
    return { nodes: chains.flatMap(({ nodes }) => nodes), unasked: chains.flatMap(({ unasked }) => unasked) };
  }
}

function liveNetwork(live: LiveStarknet): StarknetNetwork {
  const { network, rpcUrls: urls } = live;
  const custom = typeof network === 'string' ? undefined : network;
  const chainId = typeof network === 'string' ? liveChainIds[network] : network.chainId;
  const chain = new RpcStarknetChain({ chainId, urls });
  const classes = classesWith(live.svcClassHash);
  const tokens = typeof network === 'string' ? tokensOf(network, 'STARKNET') : network.tokens;
  return {
    name: nameOfNetwork(network),
    chain,
    tokens,
    pool: live.pool && livePool(live.pool, tokens, live.paymentAddress),
    bridge: custom?.bridge,
    time: chainTime(chain),
    rpcUrl: live.publicRpcUrl,
    paymentAddress: live.paymentAddress,
    walletClasses: custom?.hasReady === false ? classes.filter(({ walletType }) => walletType === 'SVC') : classes,
  };
}

function sandboxNetwork({ url, publicUrl, nodeUrl, paymentAddress }: SandboxPlace): StarknetNetwork {
  const address = parseStarknetAddress(toHex(paymentAddress));
  if (!address.ok) throw new Error(`The sandbox's payment address ${address.reason}.`);
  // Our own HTTP server waits for a node that restarts.
  const urls = [...(nodeUrl === undefined ? [] : [nodeUrl]), `${url}/starknet/rpc`];
  const chain = new RpcStarknetChain({ chainId: chainIds.SVC_SANDBOX, urls });
  const tokens = tokensOf('sandbox', 'STARKNET');
  return {
    name: 'sandbox' satisfies StarknetNetworkName,
    chain,
    tokens,
    pool: sandboxPool(chain, tokens),
    time: chainTime(chain),
    rpcUrl: `${publicUrl}/starknet/rpc`,
    paymentAddress: address.value,
    walletClasses,
  };
}

/** Without a reachable node, asking for tokens would only time out again. */
async function checkChain(
  chain: { checkChain(): Promise<readonly NodeHealth[]> },
  tokens: readonly Token[],
  decimalsOf: (token: string) => Promise<number | undefined>,
): Promise<ChainsHealth> {
  const nodes = await chain.checkChain();
  const reachable = nodes.some(({ trouble }) => trouble === undefined);
  if (reachable) return { nodes, unasked: await checkTokens(tokens, decimalsOf) };
  return { nodes, unasked: tokens.filter(({ address }) => address !== null).map(({ token }) => token) };
}

function starknetDecimals(chain: StarknetChain): (token: string) => Promise<number | undefined> {
  return async (token) => {
    const answer = await chain.call({ to: BigInt(token), entrypoint: 'decimals' });
    return answer.ok ? Number(answer.felts[0]) : undefined;
  };
}

async function evmDecimals(chain: EvmChain, token: string): Promise<number | undefined> {
  const address = parseEvmAddress(token);
  return address.ok ? chain.decimalsOf(address.value) : undefined;
}

function evmChain(name: EvmChainName, urls: readonly string[]): EvmChain {
  return new ViemEvmChain({ name, chainId: evmChainIds[name], urls });
}

function notConfigured(environment: Environment, chain: Chain): never {
  if (environment === 'production') {
    throw new ApiError('chain_not_configured', `${chain} is not configured for production on this deployment.`);
  }
  throw new ApiError('chain_not_configured', 'Development keys use the sandbox, which is off on this deployment.');
}

/** Windows are minutes wide, so a second does not matter. */
const KEPT_MS = 1_000;

/** Our clock, or the latest block's time where that is ahead: the sandbox can travel in time. */
export function chainTime(chain: Pick<StarknetChain, 'block'>, now: () => number = Date.now): () => Promise<Date> {
  let asked = Number.NEGATIVE_INFINITY;
  let aheadMs: Promise<number> = Promise.resolve(0);
  return async () => {
    if (now() - asked >= KEPT_MS) {
      asked = now();
      aheadMs = aheadOf(chain, now);
      aheadMs.catch(() => {
        asked = Number.NEGATIVE_INFINITY;
      });
    }
    return new Date(now() + (await aheadMs));
  };
}

async function aheadOf(chain: Pick<StarknetChain, 'block'>, now: () => number): Promise<number> {
  const block = await chain.block('latest');
  return Math.max(0, (block?.timestamp.getTime() ?? 0) - now());
}

export function classesWith(svcClassHash: bigint): readonly WalletClass[] {
  const [shipped, ...others] = walletClasses;
  if (!shipped) throw new Error('The table of wallet classes is empty.');
  const known = walletClass(svcClassHash);
  const current: WalletClass = { ...(known ?? shipped), classHash: svcClassHash, walletType: 'SVC', current: true };
  return [current, ...others.filter(({ classHash }) => classHash !== svcClassHash)];
}

/** The token table and the contract disagree on decimals. */
export class WrongTokenError extends Error {
  override readonly name = 'WrongTokenError';
}

export async function checkTokens(
  tokens: readonly Token[],
  decimalsOf: (address: string) => Promise<number | undefined>,
): Promise<readonly ChainToken[]> {
  const unasked = await Promise.all(
    tokens.map(async ({ chain, token, address, decimals }) => {
      if (address === null) return [];
      const found = await decimalsOf(address).catch((error: unknown) => {
        if (error instanceof ChainUnavailableError) return undefined;
        throw error;
      });
      if (found === undefined) return [token];
      if (found === decimals) return [];
      throw new WrongTokenError(
        `${token} on ${chain} has ${found} decimals, but svc takes it to have ${decimals}. Nothing was started.`,
      );
    }),
  );
  return unasked.flat();
}

const MAX_FILE_BYTES = 1024 * 1024;
/** Credits are USDC in its smallest unit, fees STRK in FRI. */
const neededDecimals = { USDC: 6, STRK: 18 } as const;
const reserved = ['mainnet', 'sepolia', 'sandbox'];

/** `mainnet`, `sepolia`, or the path of a file. */
export function parseLiveNetwork(text: string): Parsed<LiveNetwork> {
  if (text === 'mainnet' || text === 'sepolia') return { ok: true, value: text };
  if (!/[/\\]|\.json$/.test(text)) return unparsed('must be mainnet, sepolia or the path of a network file');
  const file = path.resolve(text);
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch {
    return unparsed(`is the path of a network file that cannot be read: ${file}`);
  }
  const network = parseNetworkFile(content);
  return network.ok ? network : unparsed(`names the network file ${file}, which is not usable: ${network.reason}`);
}

export function parseNetworkFile(content: string): Parsed<CustomNetwork> {
  if (content.length > MAX_FILE_BYTES) return unparsed(`it is larger than ${MAX_FILE_BYTES} bytes`);
  let file: NetworkFile;
  try {
    file = JSON.parse(content) as NetworkFile;
  } catch {
    return unparsed('it is not valid JSON');
  }
  const unknown = Object.keys(file ?? {}).find((field) => !Object.hasOwn(NetworkFile.properties, field));
  if (unknown !== undefined) return unparsed(`${unknown} is no field of a network file`);
  const fault = findFault('body', NetworkFile, file)?.replaceAll(/\bbody\.?/g, '');
  if (fault !== undefined) return unparsed(fault);
  const chainId = file.chainId.startsWith('0x') ? BigInt(file.chainId) : shortString(file.chainId);
  const problem = problemOf(file, chainId);
  if (problem !== undefined) return unparsed(problem);
  const bridge = readBridge(file.bridge);
  if (!bridge.ok) return bridge;
  const pool = readPool(file);
  if (!pool.ok) return pool;
  return {
    ok: true,
    value: {
      name: file.name,
      chainId,
      tokens: file.tokens.map(({ token, address, decimals }) => {
        return { chain: 'STARKNET', token, address: normal(address) ?? address, decimals };
      }),
      svcClassHash: BigInt(file.classes.svc),
      hasReady: file.classes.ready !== undefined,
      explorer: file.explorer,
      bridge: bridge.value,
      pool: pool.value,
    },
  };
}

function problemOf({ name, tokens, classes }: NetworkFile, chainId: bigint): string | undefined {
  if (reserved.includes(name)) return `name must not be ${reserved.join(', ')}`;
  if (chainId === 0n || !isFelt(chainId)) return 'chainId is no field element';
  return problemOfTokens(tokens) ?? problemOfClasses(classes);
}

function problemOfTokens(tokens: NetworkFile['tokens']): string | undefined {
  const addresses = tokens.map(({ address }) => normal(address));
  const wrong = tokens.find((_, index) => addresses[index] === undefined);
  if (wrong) return `the address of ${wrong.token} is no contract address`;
  if (tokens.some(({ token }) => token === 'OTHER')) return 'OTHER is no token of the table';
  const twice = tokens.find(
    ({ token }, index) =>
      tokens.findIndex((each) => each.token === token) !== index || addresses.indexOf(addresses[index]) !== index,
  );
  if (twice) return `${twice.token} or its address stands twice in tokens`;
  for (const [name, decimals] of Object.entries(neededDecimals)) {
    const found = tokens.find(({ token }) => token === name);
    if (found?.decimals !== decimals) return `tokens must have ${name} with ${decimals} decimals`;
  }
  return undefined;
}

/** A class hash names code: the class of `READY` has the same one on every network. */
function problemOfClasses({ svc, ready }: NetworkFile['classes']): string | undefined {
  const isClass = (text: string) => BigInt(text) > 0n && BigInt(text) < ADDRESS_BOUND;
  if (!isClass(svc)) return 'classes.svc is no class hash';
  if (walletClass(BigInt(svc))?.walletType === 'READY') return 'classes.svc is the class of READY';
  if (ready !== undefined && walletClass(BigInt(ready))?.walletType !== 'READY') {
    return 'classes.ready is not the class of READY that svc knows; leave it out where it is not declared';
  }
  return undefined;
}

function readBridge(bridge: NetworkFile['bridge']): Parsed<CustomNetwork['bridge']> {
  if (!bridge) return { ok: true, value: undefined };
  const usdcMint = parseSolanaAddress(bridge.usdcMint);
  if (!usdcMint.ok) return unparsed(`bridge.usdcMint ${usdcMint.reason}`);
  const [tokenMessenger, messageTransmitter] = [normal(bridge.tokenMessenger), normal(bridge.messageTransmitter)];
  if (!tokenMessenger || !messageTransmitter) return unparsed('an address of bridge is no contract address');
  return {
    ok: true,
    value: {
      url: bridge.url,
      tokenMessenger: BigInt(tokenMessenger),
      messageTransmitter: BigInt(messageTransmitter),
      usdcMint: usdcMint.value,
    },
  };
}

function readPool({ pool, tokens }: NetworkFile): Parsed<PoolPlace | undefined> {
  if (!pool) return { ok: true, value: undefined };
  const address = parseStarknetAddress(pool.address);
  if (!address.ok) return unparsed('pool.address is no contract address');
  if (!tokens.some(({ token }) => token === pool.token)) return unparsed(`pool.token ${pool.token} is not in tokens`);
  return { ok: true, value: { address: address.value, token: pool.token } };
}

function normal(text: string): string | undefined {
  const address = parseStarknetAddress(text);
  return address.ok ? address.value : undefined;
}
