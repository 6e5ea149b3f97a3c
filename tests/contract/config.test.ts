import { endpoints } from '@svc/protocol';
import { walletClasses } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TONGO_USDC } from '../../packages/server/src/chains/private-pool.ts';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { send } from '../support/client.ts';
import { TestService } from '../support/service.ts';

interface ConfigBody {
  readonly tokens: { chain: string; token: string; address: string | null; decimals: number }[];
  readonly walletClasses: { walletType: string; classHash: string; current: boolean }[];
  readonly rpcUrl: string;
  readonly paymentAddress: string;
  readonly privateBalance: object | null;
}

const RELAYER_KEY = '0xc0ffee5ec2e7';

let service: TestService;
let production: string;

beforeAll(async () => {
  service = await TestService.hosted();
  production = (await service.keys('production')).keys.publicKey;
});
afterAll(() => service.stop());

const read = (origin: string, publicKey: string) =>
  send(`${origin}/v1/config`, { headers: { 'x-api-key': publicKey } });
const bodyOf = async (reply: ReturnType<typeof read>) => (await reply).body as ConfigBody;

describe('the configuration for clients', () => {
  it('names the sandbox with a development key', async () => {
    const { origin, credentials } = service.server;
    const reply = await read(origin, credentials.publicKey);
    expectAnswer(reply, endpoints.getConfig);
    expect(reply.body).toMatchObject({
      network: 'sandbox',
      chainId: '0x5356435f53414e44424f58',
      rpcUrl: credentials.rpcUrl,
      paymentAddress: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
  });

  it('names an account of the sandbox as payment address', async () => {
    const { origin, credentials } = service.server;
    const { paymentAddress } = await bodyOf(read(origin, credentials.publicKey));
    const { accounts } = (await send(`${origin}/sandbox/starknet`)).body as {
      accounts: { label: string; address: string }[];
    };
    const manager = accounts.find(({ label }) => label === 'manager');
    expect(BigInt(paymentAddress)).toBe(BigInt(manager?.address ?? 0));
  });

  it('lists tokens of every chain and the wallet classes, one of each type current', async () => {
    const { origin, credentials } = service.server;
    const body = await bodyOf(read(origin, credentials.publicKey));
    expect(body.tokens).toContainEqual({
      chain: 'STARKNET',
      token: 'USDC',
      address: '0x033068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fb',
      decimals: 6,
    });
    expect(body.tokens).toContainEqual({ chain: 'SCROLL', token: 'ETH', address: null, decimals: 18 });
    expect(body.walletClasses).toHaveLength(walletClasses.length);
    expect(body.walletClasses.filter(({ current }) => current).map(({ walletType }) => walletType)).toEqual([
      'SVC',
      'READY',
    ]);
  });

  it('names the private pool of the sandbox with the terms of its contract, open at first', async () => {
    const { origin, credentials } = service.server;
    const open = await bodyOf(read(origin, credentials.publicKey));
    const usdc = open.tokens.find(({ chain, token }) => chain === 'STARKNET' && token === 'USDC');
    expect(open.privateBalance).toEqual({
      pool: TONGO_USDC,
      token: 'USDC',
      tokenAddress: usdc?.address,
      fee: '0',
      feePayment: { entrypoint: 'approve', to: TONGO_USDC },
      shieldPaused: false,
      lagBlocks: 0,
    });
    const terms = { fee: '4', shieldPaused: true, lagBlocks: 12 };
    await send(`${origin}/sandbox/starknet/pool`, { method: 'POST', body: terms });
    const changed = await bodyOf(read(origin, credentials.publicKey));
    expect(changed.privateBalance).toMatchObject({ fee: '4000000000000000000', shieldPaused: true, lagBlocks: 12 });
    await send(`${origin}/sandbox/starknet/pool`, { method: 'POST', body: {} });
  });

  it('is refused with a production key while no live chain is configured', async () => {
    expectError(await read(service.server.origin, production), 400, 'chain_not_configured');
  });

  it('names the live chain with a production key, and none of the operator’s own nodes', async () => {
    const live = await service.anotherHosted({
      SANDBOX: 'on',
      STARKNET_NETWORK: 'mainnet',
      // Nothing listens there, which is no reason not to start.
      STARKNET_RPC_URLS: 'http://127.0.0.1:2/private-key',
      STARKNET_PUBLIC_RPC_URL: 'https://node.example/rpc',
      SVC_CLASS_HASH: '0x5e1f',
      PAYMENT_ADDRESS: '0x77',
      BASE_RPC_URLS: 'http://127.0.0.1:2/private-key',
      RELAYER_ACCOUNTS: `0x5e1a:${RELAYER_KEY}`,
    });
    const reply = await read(live.origin, production);
    expectAnswer(reply, endpoints.getConfig);
    expect(reply.body).toMatchObject({
      network: 'mainnet',
      chainId: '0x534e5f4d41494e',
      rpcUrl: 'https://node.example/rpc',
      paymentAddress: `0x${'77'.padStart(64, '0')}`,
    });
    for (const secret of ['private-key', RELAYER_KEY]) {
      expect(reply.text).not.toContain(secret);
      expect(live.output()).not.toContain(secret);
    }
    expect((reply.body as ConfigBody).privateBalance).toMatchObject({
      pool: TONGO_USDC,
      fee: '4000000000000000000',
      feePayment: null,
      shieldPaused: true,
      lagBlocks: 12,
    });
    const { tokens, walletClasses: classes } = reply.body as ConfigBody;
    expect([...new Set(tokens.map(({ chain }) => chain))]).toEqual(['STARKNET', 'BASE']);
    expect(classes[0]).toEqual({ walletType: 'SVC', classHash: '0x5e1f', current: true });
    const development = await read(live.origin, live.credentials.publicKey);
    expect(development.body).toMatchObject({ network: 'sandbox' });
  });

  it('is refused with a development key where the sandbox is off', async () => {
    const bare = await service.anotherHosted({ SANDBOX: 'off' });
    expectError(await read(bare.origin, service.server.credentials.publicKey), 400, 'chain_not_configured');
  });
});
