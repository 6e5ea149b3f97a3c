import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { classes } from '@svc/starknet';
import { describe, expect, it } from 'vitest';
import { TONGO_USDC } from './chains/private-pool.ts';
import { readConfig } from './config.ts';
import { ConfigError } from './env-reader.ts';

it.each([
  ['2027-03-31', new Date('2027-03-31T00:00:00Z')],
  [undefined, undefined],
])('takes the day until which unbound key sets serve: %s', (day, at) => {
  expect(readConfig({ UNBOUND_KEY_SETS_UNTIL: day }).unboundKeySetsUntil).toEqual(at);
});

it.each(['2027-02-30', '31.3.2027', 'tomorrow'])('refuses %s as a day', (day) => {
  expect(() => readConfig({ UNBOUND_KEY_SETS_UNTIL: day })).toThrow(/UNBOUND_KEY_SETS_UNTIL must be a day/);
});

describe('addresses of organisations on this machine', () => {
  const loopback = (env: Record<string, string>) => readConfig(env).loopbackEnvironments;

  it('are allowed in development, where the service is its own with its own database', () => {
    expect(loopback({})).toEqual(['development']);
  });

  it.each([
    ['DATABASE_URL', 'postgres://svc@db/svc'],
    ['PUBLIC_URL', 'https://pay.example'],
    ['TRUST_PROXY', 'on'],
    ['SANDBOX', 'off'],
    ['ALLOW_LOOPBACK_URLS', 'off'],
  ])('are refused everywhere with %s', (name, value) => {
    expect(loopback({ [name]: value })).toEqual([]);
  });

  it('are allowed everywhere where the operator says so', () => {
    const env = { ALLOW_LOOPBACK_URLS: 'on', DATABASE_URL: 'postgres://svc@db/svc' };
    expect([...loopback(env)].sort()).toEqual(['development', 'production']);
  });
});

describe('fulfilment', () => {
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

  it('of development may be a service on this machine', () => {
    const env = { DEV_FULFILMENT_URL: 'http://127.0.0.1:3000/orders', DEV_FULFILMENT_SECRET: secret };
    expect(readConfig(env)).toMatchObject({
      fulfilment: undefined,
      developmentFulfilment: { url: 'http://127.0.0.1:3000/orders' },
    });
    expect(() => readConfig({ DEV_FULFILMENT_URL: 'http://127.0.0.1:3000/' })).toThrow(/DEV_FULFILMENT_SECRET/);
  });
});

describe('the configuration', () => {
  it('needs nothing: the default is the embedded service on localhost', () => {
    const config = readConfig({});
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      databaseUrl: undefined,
      sandbox: true,
      homePage: true,
      requestsPerMinute: 100,
    });
    expect(config.dataDir.endsWith('.svc')).toBe(true);
  });

  it('takes an owner of the database only beside the role of the service', () => {
    const databaseOwnerUrl = 'postgres://owner@db/svc';
    const both = { DATABASE_URL: 'postgres://service@db/svc', DATABASE_OWNER_URL: databaseOwnerUrl };
    expect(readConfig(both)).toMatchObject({ databaseOwnerUrl });
    expect(() => readConfig({ DATABASE_OWNER_URL: databaseOwnerUrl })).toThrow(/DATABASE_URL must be set/);
  });

  it('has no token of the operator unless one is set that cannot be guessed', () => {
    const token = `op_${'a'.repeat(32)}`;
    expect(readConfig({}).operatorToken).toBeUndefined();
    expect(readConfig({ OPERATOR_TOKEN: token }).operatorToken).toBe(token);
    for (const wrong of ['op_short', 'a'.repeat(40), `${token} `.padStart(60, 'x')]) {
      expect(() => readConfig({ OPERATOR_TOKEN: wrong })).toThrow(ConfigError);
    }
  });

  it('bounds the gas of production, in STRK with decimals', () => {
    const STRK = 10n ** 18n;
    expect(readConfig({}).sponsorLimits).toEqual({
      dailyFri: 500n * STRK,
      userDailyFri: 20n * STRK,
      userDailyTransactions: 200,
      userDailyWallets: 5,
    });
    const set = { SPONSORED_DAILY_STRK: '1000', SPONSORED_USER_DAILY_STRK: '0.5', SPONSORED_USER_DAILY_WALLETS: '0' };
    expect(readConfig(set).sponsorLimits).toMatchObject({
      dailyFri: 1_000n * STRK,
      userDailyFri: STRK / 2n,
      userDailyWallets: 0,
    });
    const wrong = { SPONSORED_DAILY_STRK: '-1', SPONSORED_USER_DAILY_STRK: '1e30', SPONSORED_USER_DAILY_WALLETS: 'x' };
    expect(() => readConfig(wrong)).toThrow(/DAILY_STRK[\s\S]*USER_DAILY_STRK[\s\S]*USER_DAILY_WALLETS/);
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

  it('warns of a variable that is one slip away from a setting, or has the prefix of ours', () => {
    const config = readConfig({ DATABSE_URL: 'postgres://x', SVC_SECRET: 'x', PATH: '/bin', DATABASE_NAME: 'x' });
    expect(config.warnings).toEqual([
      'DATABSE_URL is not a setting. Is DATABASE_URL meant?',
      'SVC_SECRET is not a setting.',
    ]);
  });

  it.each([
    ['DATABASE_URL', 'postgres://svc:50%off@127.0.0.1/svc'],
    ['DATABASE_URL', 'postgres://svc@db1:5432,/svc'],
    ['DEV_MXN_PER_USD', '0'],
    ['DEV_MXN_PER_USD', '0.00'],
    ['SPONSORED_PER_SECOND', '0'],
  ])('refuses %s=%s, which would only fail later', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(name);
  });

  it('has room for a hundred busy users of a public key, or as many requests as it is told', () => {
    expect(readConfig({}).publicKeyPerMinute).toBe(10_000);
    expect(readConfig({ RATE_LIMIT_PER_MINUTE: '1000000000' }).publicKeyPerMinute).toBe(1_000_000_000);
    expect(readConfig({ PUBLIC_KEY_LIMIT_PER_MINUTE: '500' }).publicKeyPerMinute).toBe(500);
  });

  it('begins more sponsored work in a second the more cores there are, or as many as it is told', () => {
    expect(readConfig({}).sponsoredPerSecond % availableParallelism()).toBe(0);
    expect(readConfig({ SPONSORED_PER_SECOND: '3' }).sponsoredPerSecond).toBe(3);
  });

  it('holds a cent for the gas of a redemption, or what it is told', () => {
    expect(readConfig({}).giftGas).toBe(10_000n);
    expect(readConfig({ GIFT_GAS_USD: '0.25' }).giftGas).toBe(250_000n);
    expect(readConfig({ GIFT_GAS_USD: '0' }).giftGas).toBe(0n);
  });

  it('sends mail by SMTP where a server and a sender are named, and tells neither name nor password', () => {
    expect(readConfig({}).mail).toMatchObject({ smtp: undefined, sender: { address: 'no-reply@svc.invalid' } });
    const env = {
      SMTP_URL: 'smtp://svc:hunter2@mail.example.com',
      MAIL_FROM: 'Azul <gifts@example.com>',
      PUBLIC_URL: 'https://svc.example.com',
    };
    expect(readConfig(env).mail).toMatchObject({
      smtp: { host: 'mail.example.com', login: { user: 'svc', password: 'hunter2' } },
      sender: { name: 'Azul', address: 'gifts@example.com' },
    });
    expect(() => readConfig({ SMTP_URL: env.SMTP_URL })).toThrow('MAIL_FROM must be set too');
    expect(() => readConfig({ ...env, PUBLIC_URL: '' })).toThrow('PUBLIC_URL must be set too');
    const wrong = { SMTP_URL: 'smtp://svc:hunter2@', MAIL_FROM: 'gifts' };
    expect(() => readConfig(wrong)).toThrow(/SMTP_URL[\s\S]*MAIL_FROM/);
    expect(() => readConfig(wrong)).not.toThrow('hunter2');
  });

  it('has purchases of production delivered where an address and a secret are set, both or none', () => {
    const [url, bytes] = ['https://fulfilment.example.com/orders', Buffer.alloc(32, 1)];
    const env = { FULFILMENT_URL: url, FULFILMENT_SECRET: `whsec_${bytes.toString('base64')}` };
    expect(readConfig({}).fulfilment).toBeUndefined();
    expect(readConfig(env).fulfilment).toEqual({ url, secret: bytes });
    expect(() => readConfig({ ...env, FULFILMENT_SECRET: '' })).toThrow('FULFILMENT_SECRET must be set too');
    expect(() => readConfig({ ...env, FULFILMENT_URL: '' })).toThrow('FULFILMENT_URL must be set too');
    const wrong = { FULFILMENT_URL: 'http://8.8.8.8/hunter2', FULFILMENT_SECRET: 'whsec_hunter2' };
    expect(() => readConfig(wrong)).toThrow(/FULFILMENT_URL must start with https[\s\S]*FULFILMENT_SECRET must be/);
    expect(() => readConfig(wrong)).not.toThrow('hunter2');
  });

  it('limits those who claim gifts by their address, behind as many proxies as it is told', () => {
    expect(readConfig({})).toMatchObject({ claimsPerMinute: 100, unknownCodes: { perClient: 10 }, trustProxy: 0 });
    expect(readConfig({ TRUST_PROXY: 'on' }).trustProxy).toBe(1);
    expect(readConfig({ TRUST_PROXY: '2' }).trustProxy).toBe(2);
    expect(() => readConfig({ TRUST_PROXY: 'all' })).toThrow(/TRUST_PROXY/);
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

  it('has the pool of mainnet with shields paused, until the operator opens it or hides it', () => {
    const pool = (settings: object) =>
      readConfig({ ...live, STARKNET_NETWORK: 'mainnet', ...settings }).chains.starknet?.pool;
    expect(pool({})).toEqual({
      address: TONGO_USDC,
      token: 'USDC',
      isSponsored: true,
      terms: { fee: 4n * 10n ** 18n, shieldPaused: true, lagBlocks: 12 },
    });
    expect(pool({ PRIVATE_BALANCE: 'paused' })?.terms.shieldPaused).toBe(true);
    expect(pool({ PRIVATE_BALANCE: 'open', POOL_FEE_STRK: '0.5', POOL_LAG_BLOCKS: '3' })?.terms).toEqual({
      fee: 5n * 10n ** 17n,
      shieldPaused: false,
      lagBlocks: 3,
    });
    expect(pool({ PRIVATE_BALANCE: 'off' })).toBeUndefined();
    expect(() => pool({ PRIVATE_BALANCE: 'on' })).toThrow('PRIVATE_BALANCE must be one of off, paused, open');
    expect(readConfig(live).chains.starknet?.pool).toBeUndefined();
    expect(() => readConfig({ ...live, PRIVATE_BALANCE: 'open' })).toThrow('PRIVATE_BALANCE needs a pool');
  });

  it('takes a network file, with its class and bridge, and warns where its chain id is public', () => {
    const file = path.resolve(import.meta.dirname, '../../../docs/network.example.json');
    const own = { ...live, STARKNET_NETWORK: file, SVC_CLASS_HASH: '' };
    const config = readConfig(own);
    expect(config.chains.starknet).toMatchObject({ network: { name: 'appchain' }, svcClassHash: classes.svc });
    expect(config).toMatchObject({ bridgeUrl: 'https://attestations.example', sandbox: false, warnings: [] });
    expect(readConfig({ ...own, SVC_CLASS_HASH: '0x5e1f' }).chains.starknet?.svcClassHash).toBe(0x5e1fn);
    const changed = (changes: object) => {
      const folder = mkdtempSync(path.join(tmpdir(), 'svc-network-'));
      const copy = path.join(folder, 'network.json');
      writeFileSync(copy, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...changes }));
      return { ...own, STARKNET_NETWORK: copy };
    };
    expect(readConfig(changed({ chainId: 'SN_MAIN' })).warnings).toEqual([expect.stringContaining('public network')]);
    expect(readConfig(changed({ bridge: undefined })).bridgeUrl).toBeUndefined();
    expect(() => readConfig({ ...changed({ bridge: undefined }), BRIDGE_URL: 'https://b.example' })).toThrow(
      'BRIDGE_URL needs bridge in the network file',
    );
    expect(() => readConfig({ ...changed({ chainId: 'SVC_SANDBOX' }), SANDBOX: 'on' })).toThrow('SANDBOX must be off');
    expect(() => readConfig(changed({ tokens: [] }))).toThrow(/STARKNET_NETWORK names .* tokens must have USDC/);
  });

  it('has no sandbox beside a live network unless it is asked for', () => {
    expect(readConfig(live).sandbox).toBe(false);
    expect(readConfig(live).homePage).toBe(false);
    expect(readConfig({ ...live, HOME_PAGE: 'on' }).homePage).toBe(true);
    expect(readConfig({ HOME_PAGE: 'off' }).homePage).toBe(false);
    expect(readConfig({ ...live, SANDBOX: 'on' }).sandbox).toBe(true);
    expect(readConfig({ SANDBOX: 'off' }).sandbox).toBe(false);
  });

  it('reads who pays for gas', () => {
    expect(readConfig(live).relayers).toEqual([
      { address: 1n, privateKey: 10n },
      { address: 2n, privateKey: 11n },
    ]);
    const paymaster = { PAYMASTER_URL: 'https://paymaster.example', PAYMASTER_API_KEY: 'k' };
    expect(readConfig({ ...live, RELAYER_ACCOUNTS: '', ...paymaster })).toMatchObject({
      relayers: [],
      draining: [],
      paymaster: { url: 'https://paymaster.example', apiKey: 'k' },
    });
  });

  it('reads who pays gifts out', () => {
    expect(readConfig(live).manager).toBeUndefined();
    expect(readConfig({ ...live, MANAGER_ACCOUNT: '0x3:0xc' }).manager).toEqual({ address: 3n, privateKey: 12n });
    expect(() => readConfig({ ...live, MANAGER_ACCOUNT: '0x0002:0xc' })).toThrow('must not be among RELAYER_ACCOUNTS');
  });

  it('bridges by the service that Circle has for the network, another one, or none', () => {
    expect(readConfig(live).bridgeUrl).toBe('https://iris-api-sandbox.circle.com');
    expect(readConfig({ ...live, STARKNET_NETWORK: 'mainnet' }).bridgeUrl).toBe('https://iris-api.circle.com');
    expect(readConfig({ ...live, BRIDGE_URL: 'http://bridge.internal' }).bridgeUrl).toBe('http://bridge.internal');
    expect(readConfig({ ...live, BRIDGE: 'off' }).bridgeUrl).toBeUndefined();
    expect(readConfig({ BRIDGE_URL: 'http://bridge.internal' }).bridgeUrl).toBeUndefined();
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
    ['MANAGER_ACCOUNT', '0x1'],
    ['MANAGER_ACCOUNT', '0x1:0xa,0x2:0xb'],
    ['RELAYER_ACCOUNTS', '0x1'],
    ['RELAYER_ACCOUNTS', '0x1:0x0'],
    ['RELAYER_ACCOUNTS', '0x1:0xa:0xb'],
    ['RELAYER_ACCOUNTS', '0x1:0xa,'],
    ['PAYMASTER_URL', 'paymaster.example'],
    ['SANDBOX_RELAYERS', '5'],
    ['CRYPTO_THREADS', '0'],
    ['GIFT_GAS_USD', '0.0000001'],
    ['GIFT_GAS_USD', '-1'],
    ['GIFT_GAS_USD', '100.000001'],
  ])('refuses %s=%s', (name, value) => {
    expect(() => readConfig({ ...live, [name]: value })).toThrow(new RegExp(`^ {2}${name} (must|is)`, 'm'));
  });
});
