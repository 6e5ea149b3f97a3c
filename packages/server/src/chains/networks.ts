import {
  ApiError,
  type Chain,
  type ChainToken,
  type Environment,
  parseEvmAddress,
  parseStarknetAddress,
  type StarknetAddress,
} from '@svc/protocol';
import { chainIds, toHex, type WalletClass, walletClass, walletClasses } from '@svc/starknet';
import type { EvmChain } from './evm/chain.ts';
import { ViemEvmChain } from './evm/viem-chain.ts';
import { ChainUnavailableError } from './node-fetch.ts';
import type { NodeHealth } from './nodes.ts';
import type { StarknetChain } from './starknet/chain.ts';
import { RpcStarknetChain } from './starknet/rpc-chain.ts';
import {
  type EvmChainName,
  evmChainIds,
  evmChainNames,
  findToken,
  type StarknetNetworkName,
  type Token,
  tokensOf,
} from './tokens.ts';

export interface ChainSettings {
  readonly starknet: LiveStarknet | undefined;
  readonly evmRpcUrls: Readonly<Partial<Record<EvmChainName, readonly string[]>>>;
}

export interface LiveStarknet {
  readonly network: 'mainnet' | 'sepolia';
  readonly rpcUrls: readonly string[];
  /** For clients; without the operator's API key. */
  readonly publicRpcUrl: string;
  readonly svcClassHash: bigint;
  readonly paymentAddress: StarknetAddress;
}

export interface SandboxPlace {
  readonly url: string;
  readonly publicUrl: string;
  /** The node's own port, which bypasses our HTTP server. */
  readonly nodeUrl?: string | undefined;
  readonly paymentAddress: bigint;
}

export interface StarknetNetwork {
  readonly name: StarknetNetworkName;
  readonly chain: StarknetChain;
  readonly rpcUrl: string;
  readonly paymentAddress: StarknetAddress;
  readonly walletClasses: readonly WalletClass[];
  /** Block time as contracts see it. */
  time(): Promise<Date>;
}

export interface ChainsHealth {
  readonly nodes: readonly NodeHealth[];
  readonly unasked: readonly ChainToken[];
}

const liveChainIds = { mainnet: chainIds.SN_MAIN, sepolia: chainIds.SN_SEPOLIA };

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
    const network = chain === 'STARKNET' ? this.starknet(environment).name : 'mainnet';
    return findToken(network, chain, token);
  }

  tokens(environment: Environment): Token[] {
    const { name } = this.starknet(environment);
    const evm = environment === 'production' ? [...this.#liveEvm.keys()] : evmChainNames;
    return (['STARKNET', ...evm] as const).flatMap((chain) => tokensOf(name, chain));
  }

  async check(): Promise<ChainsHealth> {
    const live = this.#live;
    const chains = await Promise.all([
      ...(live ? [checkChain(live.chain, tokensOf(live.name, 'STARKNET'), starknetDecimals(live.chain))] : []),
      ...[...this.#liveEvm].map(([name, chain]) =>
        checkChain(chain, tokensOf('mainnet', name), (token) => evmDecimals(chain, token)),
      ),
    ]);
    return { nodes: chains.flatMap(({ nodes }) => nodes), unasked: chains.flatMap(({ unasked }) => unasked) };
  }
}

function liveNetwork(live: LiveStarknet): StarknetNetwork {
  const chain = new RpcStarknetChain({ chainId: liveChainIds[live.network], urls: live.rpcUrls });
  return {
    name: live.network,
    chain,
    time: chainTime(chain),
    rpcUrl: live.publicRpcUrl,
    paymentAddress: live.paymentAddress,
    walletClasses: classesWith(live.svcClassHash),
  };
}

function sandboxNetwork({ url, publicUrl, nodeUrl, paymentAddress }: SandboxPlace): StarknetNetwork {
  const address = parseStarknetAddress(toHex(paymentAddress));
  if (!address.ok) throw new Error(`The sandbox's payment address ${address.reason}.`);
  // Our own HTTP server waits for a node that restarts.
  const urls = [...(nodeUrl === undefined ? [] : [nodeUrl]), `${url}/starknet/rpc`];
  const chain = new RpcStarknetChain({ chainId: chainIds.SVC_SANDBOX, urls });
  return {
    name: 'sandbox',
    chain,
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
export function chainTime(
  chain: Pick<StarknetChain, 'blockNumber' | 'block'>,
  now: () => number = Date.now,
): () => Promise<Date> {
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

async function aheadOf(chain: Pick<StarknetChain, 'blockNumber' | 'block'>, now: () => number): Promise<number> {
  const block = await chain.block(await chain.blockNumber());
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
