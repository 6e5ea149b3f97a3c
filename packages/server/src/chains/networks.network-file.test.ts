import { readFileSync } from 'node:fs';
import path from 'node:path';
import { classes, shortString, toHex } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { Networks, parseLiveNetwork, parseNetworkFile } from './networks.ts';

const file = path.resolve(import.meta.dirname, '../../../../docs/network.example.json');
const example = JSON.parse(readFileSync(file, 'utf8'));
const read = (changes: object) => parseNetworkFile(JSON.stringify({ ...example, ...changes }));
const [usdc, strk] = example.tokens;

describe('a network file', () => {
  it('is read where STARKNET_NETWORK is its path', () => {
    const network = parseLiveNetwork(file);
    expect(network).toMatchObject({
      ok: true,
      value: {
        name: 'appchain',
        chainId: shortString('MY_APPCHAIN'),
        svcClassHash: classes.svc,
        hasReady: true,
        tokens: [{ chain: 'STARKNET', token: 'USDC', decimals: 6 }, { token: 'STRK' }, { token: 'ETH' }],
        bridge: { url: 'https://attestations.example' },
        pool: { address: example.pool.address, token: 'USDC' },
      },
    });
  });

  it('may leave out the bridge, the explorer and the class of READY, and have its chain id in hex', () => {
    const network = read({ chainId: '0xabc', bridge: undefined, explorer: undefined, classes: { svc: '0x5e1f' } });
    expect(network).toMatchObject({
      ok: true,
      value: { chainId: 0xabcn, svcClassHash: 0x5e1fn, hasReady: false, bridge: undefined, explorer: undefined },
    });
  });

  it('gives production its chain, tokens and classes, and no other token', () => {
    const network = read({ tokens: [usdc, strk], classes: { svc: example.classes.svc } });
    const paymentAddress = usdc.address;
    const settings = { rpcUrls: ['http://127.0.0.1:9'], publicRpcUrl: 'https://node.example', paymentAddress };
    if (!network.ok) throw new Error(network.reason);
    const starknet = { network: network.value, svcClassHash: network.value.svcClassHash, ...settings };
    const networks = new Networks({ starknet, evmRpcUrls: {} }, undefined);
    const found = networks.starknet('production');
    expect(found).toMatchObject({ name: 'appchain', bridge: { usdcMint: example.bridge.usdcMint } });
    expect(found.chain.chainId).toBe(shortString('MY_APPCHAIN'));
    expect(networks.tokens('production').map(({ token }) => token)).toEqual(['USDC', 'STRK']);
    expect(networks.token('production', 'STARKNET', 'ETH')).toBeUndefined();
    expect(new Set(found.walletClasses.map(({ walletType }) => walletType))).toEqual(new Set(['SVC']));
  });

  it.each<[object, RegExp]>([
    [{ name: 'mainnet' }, /name must not be mainnet/],
    [{ pool: { address: '0x0', token: 'USDC' } }, /pool.address/],
    [{ pool: { ...example.pool, token: 'DAI' } }, /pool.token DAI is not in tokens/],
    [{ pool: { ...example.pool, fee: '4' } }, /pool/],
    [{ name: 'My Chain' }, /^name /],
    [{ name: undefined }, /name/],
    [{ chainId: '0x0' }, /chainId/],
    [{ chainId: `0x${'f'.repeat(64)}` }, /chainId/],
    [{ chainId: 'lower case' }, /^chainId /],
    [{ tokens: [strk] }, /tokens must have USDC with 6 decimals/],
    [{ tokens: [usdc] }, /tokens must have STRK with 18 decimals/],
    [{ tokens: [{ ...usdc, decimals: 18 }, strk] }, /USDC with 6 decimals/],
    [{ tokens: [usdc, strk, strk] }, /STRK or its address stands twice/],
    [{ tokens: [usdc, strk, { ...strk, token: 'ETH' }] }, /ETH or its address stands twice/],
    [{ tokens: [usdc, strk, { token: 'OTHER', address: '0x5', decimals: 1 }] }, /OTHER is no token/],
    [{ tokens: [usdc, strk, { token: 'GOLD', address: '0x5', decimals: 1 }] }, /tokens\S*token/],
    [{ tokens: [usdc, { ...strk, address: '0x0' }] }, /address of STRK/],
    [{ classes: {} }, /svc/],
    [{ classes: { svc: '0x0' } }, /classes.svc is no class hash/],
    [{ classes: { svc: toHex(classes.ready) } }, /classes.svc is the class of READY/],
    [{ classes: { ...example.classes, ready: '0x5e1f' } }, /classes.ready is not the class/],
    [{ explorer: 'https://explorer.example' }, /explorer/],
    [{ bridge: { ...example.bridge, usdcMint: 'nowhere' } }, /bridge.usdcMint/],
    [{ bridge: { url: 'https://attestations.example' } }, /bridge/],
    [{ token: [] }, /token is no field/],
  ])('with %j is refused with its reason', (changes, reason) => {
    const network = read(changes);
    expect(network).toMatchObject({ ok: false, reason: expect.stringMatching(reason) as string });
  });

  it('that is missing or no JSON is refused, and so is a name that is no path', () => {
    expect(parseLiveNetwork('./nowhere.json')).toMatchObject({ reason: expect.stringContaining('cannot be read') });
    expect(parseNetworkFile('{')).toMatchObject({ reason: 'it is not valid JSON' });
    expect(parseLiveNetwork('goerli')).toMatchObject({
      reason: expect.stringContaining('must be mainnet, sepolia or'),
    });
  });
});
