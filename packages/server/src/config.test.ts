import { describe, expect, it } from 'vitest';
import { readConfig } from './config.ts';
import { ConfigError } from './variables.ts';

describe('the configuration', () => {
  it('needs nothing: the default is the embedded service on localhost', () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      databaseUrl: undefined,
      sandbox: true,
      requestsPerMinute: 100,
    });
    expect(config.dataDir.endsWith('.svc')).toBe(true);
  });

  it('counts an empty variable as unset', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: ' ' })).toMatchObject({ port: 8080, databaseUrl: undefined });
  });

  it('names every variable that is wrong, in one message, without its value', () => {
    const wrong = {
      PORT: '80a',
      DATABASE_URL: 'mysql://u:hunter2@x/y',
      SANDBOX: 'maybe',
      SVC_DEV_SECRET_KEY: 'sk_dev_short',
    };
    const read = () => readConfig(wrong);
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(/PORT[\s\S]*DATABASE_URL[\s\S]*SANDBOX[\s\S]*SVC_DEV_SECRET_KEY/);
    for (const value of Object.values(wrong)) expect(read).not.toThrow(value);
  });

  it.each([
    ['DATABASE_URL', 'postgres://svc:50%off@127.0.0.1/svc'],
    ['DEV_MXN_PER_USD', '0'],
    ['DEV_MXN_PER_USD', '0.00'],
  ])('refuses %s=%s, which would only fail later', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(name);
  });

  it('takes a database address of any form that the driver reads', () => {
    const databaseUrl = 'postgres://svc@/svc?host=/run/postgresql';
    expect(readConfig({ DATABASE_URL: databaseUrl }).databaseUrl).toBe(databaseUrl);
  });

  it('takes the trailing slash off the public address, which is joined with paths', () => {
    expect(readConfig({ PUBLIC_URL: 'https://pay.example/' }).publicUrl).toBe('https://pay.example');
  });

  const live = {
    STARKNET_NETWORK: 'sepolia',
    STARKNET_RPC_URLS: 'https://one.example/key, https://two.example',
    STARKNET_PUBLIC_RPC_URL: 'https://public.example',
    SVC_CLASS_HASH: '0x5e1f',
    PAYMENT_ADDRESS: '0x77',
    RELAYER_ACCOUNTS: '0x1:0xa, 0x2:0xb',
  };

  it('has no live chain unless one is named', () => {
    expect(readConfig({}).chains).toEqual({ starknet: undefined, evmRpcUrls: {} });
  });

  it('reads the live chains with the nodes in their order', () => {
    expect(readConfig({ ...live, SCROLL_RPC_URLS: 'http://10.0.0.7:8545' }).chains).toEqual({
      starknet: {
        network: 'sepolia',
        rpcUrls: ['https://one.example/key', 'https://two.example'],
        publicRpcUrl: 'https://public.example',
        svcClassHash: 0x5e1fn,
        paymentAddress: `0x${'77'.padStart(64, '0')}`,
      },
      evmRpcUrls: { SCROLL: ['http://10.0.0.7:8545'] },
    });
  });

  it('reads who pays for gas', () => {
    expect(readConfig(live).relayers).toEqual([
      { address: 1n, privateKey: 10n },
      { address: 2n, privateKey: 11n },
    ]);
    const paymaster = { PAYMASTER_URL: 'https://paymaster.example', PAYMASTER_API_KEY: 'k' };
    expect(readConfig({ ...live, RELAYER_ACCOUNTS: '', ...paymaster })).toMatchObject({
      relayers: [],
      paymaster: { url: 'https://paymaster.example', apiKey: 'k' },
    });
  });

  it('refuses a live Starknet for which nobody pays the gas', () => {
    expect(() => readConfig({ ...live, RELAYER_ACCOUNTS: '' })).toThrow(
      'RELAYER_ACCOUNTS must be set, or PAYMASTER_URL',
    );
  });

  it('never shows a private key in what it refuses', () => {
    const read = () => readConfig({ ...live, RELAYER_ACCOUNTS: '0x1:0x5ec2e7,0x1:0x5ec2e8' });
    expect(read).toThrow('RELAYER_ACCOUNTS must be');
    expect(read).not.toThrow('5ec2e');
  });

  const together = Object.keys(live).filter((name) => name !== 'RELAYER_ACCOUNTS');
  it.each(together)('refuses a live Starknet without %s', (name) => {
    expect(() => readConfig({ ...live, [name]: '' })).toThrow(`${name} must be set too`);
  });

  it.each([
    ['STARKNET_NETWORK', 'goerli'],
    ['STARKNET_RPC_URLS', 'https://one.example,,https://two.example'],
    ['STARKNET_RPC_URLS', Array(6).fill('https://one.example').join()],
    ['STARKNET_PUBLIC_RPC_URL', 'public.example'],
    ['SVC_CLASS_HASH', '0x0'],
    ['SVC_CLASS_HASH', `0x${'f'.repeat(64)}`],
    ['PAYMENT_ADDRESS', '0x0'],
    ['BASE_RPC_URLS', 'ws://base.example'],
    ['RELAYER_ACCOUNTS', '0x1'],
    ['RELAYER_ACCOUNTS', '0x1:0x0'],
    ['RELAYER_ACCOUNTS', '0x1:0xa:0xb'],
    ['RELAYER_ACCOUNTS', '0x1:0xa,'],
    ['PAYMASTER_URL', 'paymaster.example'],
    ['SANDBOX_RELAYERS', '5'],
    ['CRYPTO_THREADS', '0'],
  ])('refuses %s=%s', (name, value) => {
    expect(() => readConfig({ ...live, [name]: value })).toThrow(new RegExp(`^ {2}${name} (must|is)`, 'm'));
  });
});
