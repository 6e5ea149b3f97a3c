import type { EdrContext, Provider, ProviderConfig } from '@nomicfoundation/edr';
import { ApiError } from '@svc/protocol';
import { type Answer, asLiveNode, failure, INVALID_PARAMS, LIMIT_EXCEEDED, type RpcError } from './json-rpc.ts';
import { bytes, type EvmChain, evmChains, FAUCET, GENESIS_TIME, genesisAccounts } from './tokens.ts';

type Edr = typeof import('@nomicfoundation/edr');

/** The engine keeps a trace of about 0.8 kB per unit of gas in the worst case (measured). A transfer takes 50,000. */
export const MAX_GAS = 2_000_000n;
/** 0.01 gwei; falls while blocks are nearly empty. */
const FIRST_BASE_FEE = 10_000_000n;
/** The bytes of SVC_SANDBOX_FEES. No known key: fees are out of circulation. */
const COINBASE = '0x000000005356435f53414e44424f585f46454553';
/** JSON of this size takes the thread about 20 ms. */
export const MAX_ANSWER_CHARS = 2 * 1024 * 1024;

export interface Engine {
  request(method: string, params: readonly unknown[]): Promise<Answer>;
}

export type StartEngine = (chain: EvmChain) => Promise<Engine>;
type LoadEdr = () => Promise<Edr>;

export function engineStarter(load: LoadEdr = () => import('@nomicfoundation/edr')): StartEngine {
  return async (chain) => {
    const { edr, context } = await loadEngine(load);
    const provider = await context.createProvider(
      edr.L1_CHAIN_TYPE,
      configuration(edr, chain),
      { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => {} },
      { subscriptionCallback: () => {} },
      new edr.ContractDecoder(),
    );
    await command(provider, 'hardhat_impersonateAccount', [FAUCET]);
    return { request: (method, params) => request(provider, method, params) };
  };
}

export const startEngine: StartEngine = engineStarter();

async function loadEngine(load: LoadEdr): Promise<{ edr: Edr; context: EdrContext }> {
  try {
    const edr = await load();
    return { edr, context: await sharedContext(edr) };
  } catch (error) {
    const where = `${process.platform} on ${process.arch}`;
    const cause = new Error(`The EVM engine @nomicfoundation/edr could not be loaded for ${where}.`, { cause: error });
    throw new ApiError('internal_error', undefined, { cause });
  }
}

/** The engine allows one context per process. */
let context: Promise<EdrContext> | undefined;

function sharedContext(edr: Edr): Promise<EdrContext> {
  context ??= (async () => {
    const fresh = new edr.EdrContext();
    await fresh.registerProviderFactory(edr.L1_CHAIN_TYPE, edr.l1ProviderFactory());
    return fresh;
  })();
  return context;
}

function configuration(edr: Edr, chain: EvmChain): ProviderConfig {
  const id = BigInt(evmChains[chain].id);
  return {
    chainId: id,
    networkId: id,
    hardfork: edr.PRAGUE,
    genesisState: genesisAccounts(chain),
    initialBaseFeePerGas: FIRST_BASE_FEE,
    initialParentBeaconBlockRoot: new Uint8Array(32),
    minGasPrice: 0n,
    coinbase: bytes(COINBASE),
    defaultTransactionGasLimit: MAX_GAS,
    transactionGasCap: MAX_GAS,
    mining: { autoMine: true, blockGasLimit: MAX_GAS, memPool: { order: edr.MineOrdering.Fifo } },
    network: { genesisBlockGasLimit: MAX_GAS, genesisBlockTime: BigInt(GENESIS_TIME) },
    allowBlocksWithSameTimestamp: true,
    allowUnlimitedContractSize: false,
    // As on a live node: a failed call is an error, a failed transaction has a receipt.
    bailOnCallFailure: true,
    bailOnTransactionFailure: false,
    observability: {},
    ownedAccounts: [],
    precompileOverrides: [],
  };
}

async function command(provider: Provider, method: string, params: readonly unknown[]): Promise<void> {
  const answer = await request(provider, method, params);
  if ('error' in answer) throw new Error(`The EVM engine refused ${method}: ${answer.error.message}`);
}

async function request(provider: Provider, method: string, params: readonly unknown[]): Promise<Answer> {
  const text = requestText(method, params);
  if (text === undefined) return failure(INVALID_PARAMS, 'The parameters are nested too deeply.');
  const { data } = await provider.handleRequest(text);
  if (typeof data !== 'string' || data.length > MAX_ANSWER_CHARS) {
    return failure(LIMIT_EXCEEDED, 'The answer is too large. Ask for less at once.');
  }
  const answer = JSON.parse(data) as { result?: unknown; error?: RpcError };
  return answer.error ? { error: asLiveNode(answer.error) } : { result: answer.result };
}

function requestText(method: string, params: readonly unknown[]): string | undefined {
  try {
    return JSON.stringify({ method, params });
  } catch {
    return undefined;
  }
}
