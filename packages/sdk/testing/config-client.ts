import { type Client, createClient, defaultRuntime } from '../src/client/client.ts';
import type { Config } from '../src/client/config.ts';

export const USDC = '0x033068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fb';

const config: Config = {
  network: 'sepolia',
  chainId: '0x534e5f5345504f4c4941',
  rpcUrl: 'http://127.0.0.1:1/rpc',
  paymentAddress: '0x9a9',
  tokens: [
    { chain: 'BASE', token: 'USDC', address: '0x1234', decimals: 6 },
    { chain: 'STARKNET', token: 'USDC', address: USDC, decimals: 6 },
    { chain: 'STARKNET', token: 'WLD', address: null, decimals: 18 },
  ],
  walletClasses: [
    { walletType: 'SVC', classHash: '0xc1a55', current: true },
    { walletType: 'SVC', classHash: '0x01d', current: false },
  ],
};

export interface ConfigClient extends Client {
  /** The paths that were asked for, in order. */
  readonly asked: readonly string[];
}

/** A client whose service answers GET /config, and nothing else. */
export function configClient(changes: Partial<Config> = {}, publicKey = 'pk_dev_test', nowMs = 0): ConfigClient {
  const asked: string[] = [];
  const fetch = async (url: string) => {
    asked.push(new URL(url).pathname);
    if (url.endsWith('/v1/config')) return Response.json({ ...config, ...changes });
    return Response.json({ error: 'not_found', message: 'There is nothing here.' }, { status: 404 });
  };
  const options = { baseUrl: 'http://127.0.0.1:1/v1', publicKey, secretKey: 'sk_dev_test', fetch };
  return { ...createClient(options, { ...defaultRuntime, now: () => nowMs }), asked };
}
