import { ApiError, type ErrorCode, parseStarknetAddress } from '@svc/protocol';
import { chainIds, classes, walletClasses } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { behave, startFaultyNode } from '../../testing/faulty-node.ts';
import { type ChainSettings, Networks, WrongTokenError } from './networks.ts';
import { WrongChainError } from './node-fetch.ts';

const payment = parseStarknetAddress('0x77');
if (!payment.ok) throw new Error(payment.reason);
const starknet: ChainSettings['starknet'] = {
  network: 'sepolia',
  rpcUrls: ['http://127.0.0.1:9/key'],
  publicRpcUrl: 'https://node.example/rpc',
  svcClassHash: 0x5e1fn,
  paymentAddress: payment.value,
};
const nothing: ChainSettings = { starknet: undefined, evmRpcUrls: {} };
const place = { url: 'http://127.0.0.1:8080/sandbox', publicUrl: 'https://pay.example/sandbox', paymentAddress: 0x99n };

function codeOf(work: () => unknown): ErrorCode | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

describe('the networks of a deployment', () => {
  it('never give production the sandbox', () => {
    const networks = new Networks(nothing, place);
    expect(codeOf(() => networks.starknet('production'))).toBe('chain_not_configured');
    expect(codeOf(() => networks.evm('production', 'BASE'))).toBe('chain_not_configured');
    expect(codeOf(() => networks.tokens('production'))).toBe('chain_not_configured');
    expect(codeOf(() => networks.token('production', 'BASE', 'USDC'))).toBe('chain_not_configured');
    expect(codeOf(() => networks.token('production', 'STARKNET', 'USDC'))).toBe('chain_not_configured');
  });

  it('never give development a live chain, also where the sandbox is off', () => {
    const networks = new Networks({ starknet, evmRpcUrls: { BASE: ['http://127.0.0.1:9'] } }, undefined);
    expect(codeOf(() => networks.starknet('development'))).toBe('chain_not_configured');
    expect(codeOf(() => networks.evm('development', 'BASE'))).toBe('chain_not_configured');
    expect(networks.starknet('production').chain.chainId).toBe(chainIds.SN_SEPOLIA);
  });

  it('are the sandbox in development, at its address', () => {
    const networks = new Networks(nothing, place);
    const network = networks.starknet('development');
    expect(network).toMatchObject({
      name: 'sandbox',
      rpcUrl: 'https://pay.example/sandbox/starknet/rpc',
      paymentAddress: `0x${'99'.padStart(64, '0')}`,
      walletClasses,
    });
    expect(network.chain.chainId).toBe(chainIds.SVC_SANDBOX);
    expect(networks.starknet('development')).toBe(network);
    expect(networks.evm('development', 'SCROLL')).toBe(networks.evm('development', 'SCROLL'));
    expect(networks.evm('development', 'SCROLL').chainId).toBe(534_352);
  });

  it('have in production the class that the operator declared, as the current one', () => {
    const classesOf = (svcClassHash: bigint) =>
      new Networks({ starknet: { ...starknet, svcClassHash }, evmRpcUrls: {} }, undefined)
        .starknet('production')
        .walletClasses.map(({ classHash, current }) => [classHash, current]);
    const earlier = [classes.svcPolicies, classes.svcSessions];
    expect(classesOf(0x5e1fn)).toEqual([
      [0x5e1fn, true],
      [earlier[0], false],
      [earlier[1], false],
      [classes.ready, true],
    ]);
    expect(classesOf(classes.svcPolicies)).toEqual([
      [earlier[0], true],
      [earlier[1], false],
      [classes.ready, true],
    ]);
  });

  it('have the tokens of the chains that are configured, and no others', () => {
    const networks = new Networks({ starknet, evmRpcUrls: { ARBITRUM: ['http://127.0.0.1:9'] } }, place);
    const chainsOf = (environment: 'production' | 'development') => [
      ...new Set(networks.tokens(environment).map(({ chain }) => chain)),
    ];
    expect(chainsOf('production')).toEqual(['STARKNET', 'ARBITRUM']);
    expect(chainsOf('development')).toHaveLength(7);
    expect(networks.token('production', 'ARBITRUM', 'MXNB')).toMatchObject({ decimals: 6 });
    expect(networks.token('production', 'STARKNET', 'BROTHER')).toBeUndefined();
    expect(networks.token('development', 'STARKNET', 'BROTHER')).toBeDefined();
  });

  it('are checked at the start: a node of a wrong chain is an error, a silent one is told', async () => {
    const node = await startFaultyNode(behave.hang, { chainId: '0x534e5f4d41494e' });
    const wrong = new Networks({ starknet: { ...starknet, rpcUrls: [node.url] }, evmRpcUrls: {} }, place);
    await expect(wrong.check()).rejects.toThrow(WrongChainError);
    await node.stop();
    const { nodes, unasked } = await wrong.check();
    expect(nodes).toMatchObject([{ host: new URL(node.url).host, trouble: expect.any(String) }]);
    expect(unasked).toContain('USDC');
    expect(await new Networks(nothing, place).check()).toEqual({ nodes: [], unasked: [] });
  });

  it('have tokens with the decimals that their contracts tell, or the start is refused', async () => {
    const decimals = (found: string) => startFaultyNode(behave.result(found), { chainId: '0x2105' });
    const [same, other] = [await decimals(`0x${'6'.padStart(64, '0')}`), await decimals(`0x${'9'.padStart(64, '0')}`)];
    const onBase = (url: string) => new Networks({ starknet: undefined, evmRpcUrls: { BASE: [url] } }, place);
    // Six is right for some of them only.
    await expect(onBase(same.url).check()).rejects.toThrow(/DAI on BASE has 6|WBTC on BASE has 6/);
    await expect(onBase(other.url).check()).rejects.toThrow(WrongTokenError);
    await Promise.all([same.stop(), other.stop()]);
    expect((await onBase(same.url).check()).unasked).toEqual(['USDC', 'USDC_E', 'USDT', 'DAI', 'WBTC']);
  });
});
