import { ANY_CALLER, type Call, chainIds, classes, outsideExecutionTypedData, selector, toHex } from '@svc/starknet';
import { createClient, defaultRuntime, type SvcOptions } from '../src/client/client.ts';
import type { Config } from '../src/client/config.ts';
import { PAYMENT_ADDRESS, sku } from './fake-payment-service.ts';
import type { Json } from './mutations.ts';

export const USDC = 0x33068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fbn;
export const ETH = 0x49d36570d4e46f48e99674bd3fcc84644ddd6b96f7c741b1562b82f9e004dc7n;
const NOW_SECONDS = 1_793_642_400n;

const config: Config = {
  network: 'mainnet',
  chainId: toHex(chainIds.SN_MAIN),
  rpcUrl: 'http://127.0.0.1:1/rpc',
  paymentAddress: toHex(PAYMENT_ADDRESS),
  tokens: [
    { chain: 'STARKNET', token: 'USDC', address: toHex(USDC), decimals: 6 },
    { chain: 'STARKNET', token: 'ETH', address: toHex(ETH), decimals: 18 },
  ],
  privateBalance: null,
  walletClasses: [
    { walletType: 'SVC', classHash: toHex(classes.svc), current: true },
    { walletType: 'SVC', classHash: toHex(classes.svcSessions), current: false },
    { walletType: 'READY', classHash: toHex(classes.ready), current: true },
  ],
};

interface WireCall {
  readonly contractAddress: string;
  readonly entrypoint: string;
  readonly calldata: readonly string[];
}

/** Of all requests; each has its own fields. */
interface RequestBody {
  readonly publicKey: string;
  readonly calls: readonly WireCall[];
  readonly classHash?: string;
  readonly walletAddress: string;
  readonly targetClassHash: string;
}

const typedData = (calls: readonly Call[]) =>
  outsideExecutionTypedData(
    {
      caller: ANY_CALLER,
      nonce: 0x1000n,
      executeAfter: NOW_SECONDS - 60n,
      executeBefore: NOW_SECONDS + 3_540n,
      calls,
    },
    chainIds.SN_MAIN,
  );

/** Prepares every request, as a lying service would. */
const answers: Readonly<Record<string, (body: RequestBody, stated: Config) => unknown>> = {
  '/config': () => config,
  '/skus/luz': () => ({ ...sku, currency: 'USD' }),
  '/exchanges/usd-amount': () => 2.5,
  '/svc-wallets/token-balance': () => ({ balance: '9000000000000000000', decimals: 6 }),
  '/transactions/prepare-typed-data': ({ calls }) => ({
    walletType: 'SVC',
    typedData: typedData(
      calls.map(({ contractAddress, entrypoint, calldata }) => ({
        to: BigInt(contractAddress),
        selector: selector(entrypoint),
        calldata: calldata.map(BigInt),
      })),
    ),
  }),
  '/svc-wallets/prepare-creation': ({ classHash }, { walletClasses }) => ({
    typedData: typedData([]),
    accountClassHash: classHash ?? walletClasses[0]?.classHash ?? null,
  }),
  '/svc-wallets/prepare-upgrade': ({ walletAddress, targetClassHash }) => ({
    typedData: typedData([
      { to: BigInt(walletAddress), selector: selector('upgrade'), calldata: [BigInt(targetClassHash)] },
    ]),
    targetClassHash,
    currentClassHash: toHex(classes.svcSessions),
    currentWalletType: 'SVC',
  }),
  '/transactions/execute-sponsored-transaction': () => ({ transactionHash: '0xabc' }),
  '/svc-wallets': ({ publicKey }) => ({ publicKey, txHash: '0xabc' }),
  '/svc-wallets/upgrade': () => ({ transactionHash: '0xabc' }),
};

export type Alter = (path: string, answer: Json) => Json | undefined;

/** A client with a production key whose service is on mainnet, and every body that it sent. */
export function mainnetClient(alter: Alter = (_, answer) => answer, options: Partial<SvcOptions> = {}) {
  const sent: Record<string, unknown>[] = [];
  let stated = config;
  const fetch = async (url: string, init: RequestInit = {}) => {
    const path = new URL(url).pathname.replace(/^\/v1/, '');
    const body = typeof init.body === 'string' ? JSON.parse(init.body) : {};
    sent.push(body);
    const answer = answers[path];
    if (!answer) throw new Error(`${path} was not expected.`);
    const altered = alter(path, answer(body, stated) as Json) ?? null;
    if (path === '/config') stated = altered as unknown as Config;
    return Response.json(altered);
  };
  const keys = { publicKey: `pk_prod_${'p'.repeat(32)}`, secretKey: `sk_prod_${'s'.repeat(32)}` };
  const runtime = { ...defaultRuntime, now: () => Number(NOW_SECONDS) * 1_000 };
  const client = createClient(
    { baseUrl: 'https://svc.example/v1', ...keys, bearerToken: 'token', fetch, maxRetries: 0, ...options },
    runtime,
  );
  return { client, sent };
}
