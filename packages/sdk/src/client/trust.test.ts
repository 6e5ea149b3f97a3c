import {
  type Call,
  chainIds,
  classes,
  outsideExecutionHash,
  parseOutsideExecutionTypedData,
  selector,
  shortString,
  toHex,
  verify,
} from '@svc/starknet';
import { beforeAll, describe, expect, it } from 'vitest';
import { FakeAuthenticator } from '../../testing/fake-authenticator.ts';
import { failure } from '../../testing/fake-client.ts';
import { ACCOUNT, ENCRYPT_KEY, OWNER, PAYMENT_ADDRESS, sealedWallet } from '../../testing/fake-payment-service.ts';
import { type Alter, ETH, mainnetClient, USDC } from '../../testing/mainnet-service.ts';
import { changeAt, type Json, placesOf } from '../../testing/mutations.ts';
import { signPayment } from '../purchases/quote.ts';
import { transfer } from '../transfers.ts';
import { signWalletUpgrade, upgradeWallet } from '../wallet-upgrades.ts';
import { createWallet } from '../wallets.ts';
import { type Client, createClient } from './client.ts';
import { readTrust, requireTrustedClass, requireTrustedPool, requireTrustedToken } from './trust.ts';
import type { SvcWallet } from './values.ts';

const encryptKey = ENCRYPT_KEY;
const RECIPIENT = '0xb0b';
let wallet: SvcWallet;
beforeAll(async () => {
  wallet = { ...(await sealedWallet()), walletType: 'SVC' };
});

interface Operation {
  readonly run: (client: Client) => Promise<unknown>;
  readonly calls: readonly Call[];
}

const pay = (recipient: bigint): Call[] => [
  { to: USDC, selector: selector('transfer'), calldata: [recipient, 2_500_000n, 0n] },
];

const operations: Readonly<Record<string, Operation>> = {
  transfer: {
    run: (client) => transfer(client, { encryptKey, wallet, amount: '2.5', token: 'USDC', recipient: RECIPIENT }),
    calls: pay(BigInt(RECIPIENT)),
  },
  'transfer by address': {
    run: (client) =>
      transfer(client, {
        ...{ encryptKey, wallet, amount: '2.5', recipient: RECIPIENT },
        ...{ token: 'OTHER', tokenAddress: toHex(USDC) },
      }),
    calls: pay(BigInt(RECIPIENT)),
  },
  payment: {
    run: (client) =>
      signPayment(client, {
        ...{ encryptKey, wallet, skuId: 'luz', skuReference: '1234', currencyAmount: 2.5, token: 'USDC' },
      }),
    calls: pay(PAYMENT_ADDRESS),
  },
  upgrade: {
    run: (client) => upgradeWallet(client, { encryptKey, wallet }),
    calls: [{ to: ACCOUNT, selector: selector('upgrade'), calldata: [classes.svc] }],
  },
  creation: {
    run: (client) =>
      createWallet(client, {
        ...{ encryptKey, externalUserId: 'ana', chain: 'STARKNET' },
        ...{ usePasskey: true, passkey: { credentials: new FakeAuthenticator() } },
      }),
    calls: [],
  },
};

const trust = { paymentAddress: toHex(PAYMENT_ADDRESS) };

interface Signed {
  readonly typedData: unknown;
  readonly signature?: readonly string[];
  readonly userSignature?: { readonly r: string; readonly s: string };
  readonly deploymentData?: { readonly class_hash: string };
}

/** Signatures that the service got, or that the operation returned. */
async function signaturesOf({ run }: Operation, alter?: Alter): Promise<Signed[]> {
  const { client, sent } = mainnetClient(alter, { trust });
  const result = await run(client).catch(() => undefined);
  const returned = (result as { payment?: Signed } | undefined)?.payment;
  const bodies = [...(sent as unknown as Signed[]), ...(returned ? [returned] : [])];
  return bodies.filter(({ signature, userSignature }) => signature ?? userSignature);
}

const svcClasses = [classes.svc, classes.svcPolicies, classes.svcSessions].map(toHex);

function expectSameMoney({ calls }: Operation, signed: Signed, what: string): void {
  const read = parseOutsideExecutionTypedData(signed.typedData);
  if (!read.ok) throw new Error(`${what}: signed for something else`);
  expect(read.value.execution.calls, what).toEqual(calls);
  if (signed.deploymentData) {
    expect(svcClasses, what).toContain(signed.deploymentData.class_hash);
    return;
  }
  const [r = '', s = ''] = signed.signature ?? Object.values(signed.userSignature ?? {});
  const hash = outsideExecutionHash(2, read.value.execution, ACCOUNT, chainIds.SN_MAIN);
  expect(verify(hash, OWNER, BigInt(r), BigInt(s)), what).toBe(true);
}

const lies: readonly (Json | undefined)[] = [
  ...[toHex(ETH), toHex(0xbadn), toHex(chainIds.SN_SEPOLIA), toHex(chainIds.SVC_SANDBOX), toHex(classes.ready)],
  ...['USDC', 'ETH', 'READY', 'SVC', 'MXN', 18, 5, 0, true, null, undefined],
];

/** Types and domain must be the known ones: a few lies suffice. */
const liesAt = ([first, second]: readonly (string | number)[]) =>
  first === 'typedData' && second !== 'message' ? lies.slice(-3) : lies;

/** Every answer of an honest run. */
async function answersOf({ run }: Operation): Promise<Map<string, Json>> {
  const found = new Map<string, Json>();
  const { client } = mainnetClient(
    (path, answer) => {
      found.set(path, answer);
      return answer;
    },
    { trust },
  );
  await run(client);
  return found;
}

describe('a service on mainnet', () => {
  it.each(Object.entries(operations))('that is honest gets the signature of a %s', async (_, operation) => {
    const [signed, ...more] = await signaturesOf(operation);
    expect(more).toEqual([]);
    if (!signed) throw new Error('Nothing was signed.');
    expectSameMoney(operation, signed, 'honest');
  });

  it.each(Object.entries(operations))(
    'that changes any one field of any answer gets no signature of a %s that moves other money',
    { timeout: 120_000 },
    async (_, operation) => {
      for (const [path, answer] of await answersOf(operation)) {
        for (const place of placesOf(answer)) {
          for (const lie of liesAt(place)) {
            const alter: Alter = (asked, honest) => (asked === path ? changeAt(honest, place, () => lie) : honest);
            const what = `${path} ${place.join('.')} = ${JSON.stringify(lie)}`;
            for (const signed of await signaturesOf(operation, alter)) expectSameMoney(operation, signed, what);
          }
        }
      }
    },
  );
});

const inConfig =
  (change: (config: Record<string, never>) => object): Alter =>
  (path, answer) =>
    path === '/config' ? ({ ...(answer as object), ...change(answer as never) } as Json) : answer;
const token = (changes: object) =>
  inConfig(() => ({ tokens: [{ chain: 'STARKNET', token: 'USDC', address: toHex(USDC), decimals: 6, ...changes }] }));
const svcClass = (classHash: bigint, walletType = 'SVC') =>
  inConfig(() => ({ walletClasses: [{ walletType, classHash: toHex(classHash), current: true }] }));

describe('on a live network the library refuses', () => {
  it.each<[string, keyof typeof operations, Alter, string]>([
    ['ETH in place of USDC', 'transfer', token({ address: toHex(ETH) }), 'untrusted_token'],
    ['other decimals', 'transfer', token({ decimals: 18 }), 'untrusted_token'],
    ['other decimals of a token by address', 'transfer by address', token({ decimals: 0 }), 'untrusted_token'],
    ['ETH in a purchase', 'payment', token({ address: toHex(ETH) }), 'untrusted_token'],
    ['another payment address', 'payment', inConfig(() => ({ paymentAddress: '0xbad' })), 'untrusted_payment_address'],
    ['an invented class', 'creation', svcClass(0xbadn), 'untrusted_class'],
    ['the class of another type', 'creation', svcClass(classes.ready), 'untrusted_class'],
    ['an upgrade to an invented class', 'upgrade', svcClass(0xbadn), 'untrusted_class'],
    ['an upgrade to an earlier class', 'upgrade', svcClass(classes.svcSessions), 'untrusted_class'],
  ])('%s', async (_, name, alter, code) => {
    const { client, sent } = mainnetClient(alter, { trust });
    expect(await failure((operations[name] as Operation).run(client))).toMatchObject({ name: 'SvcTrustError', code });
    expect(sent.filter((body) => 'userSignature' in body || 'signature' in body)).toEqual([]);
  });

  it('a class that the app passes on from the service', async () => {
    const targetClassHash = '0xbad';
    const signed = signWalletUpgrade(mainnetClient().client, { encryptKey, wallet, typedData: {}, targetClassHash });
    expect(await failure(signed)).toMatchObject({ code: 'untrusted_class' });
  });

  it('wrong decimals of a known token, also where the service does not list it', async () => {
    const { client } = mainnetClient(inConfig(() => ({ tokens: [] })));
    const order = { encryptKey, wallet, amount: '1', recipient: RECIPIENT, token: 'OTHER', decimals: 18 } as const;
    const moved = transfer(client, { ...order, tokenAddress: toHex(USDC) });
    expect(await failure(moved)).toMatchObject({ code: 'untrusted_token' });
  });
});

describe('the app may extend what the library accepts', () => {
  it('by account classes', async () => {
    const { client, sent } = mainnetClient(svcClass(0x5e1fn), { trust: { classHashes: ['0x5E1F'] } });
    await (operations.upgrade as Operation).run(client);
    expect(sent.some((body) => 'signature' in body)).toBe(true);
  });

  it('by tokens', async () => {
    const own = { token: 'MXNB', address: '0x3abc', decimals: 6 } as const;
    const { client } = mainnetClient(token(own), { trust: { tokens: [own] } });
    const order = { encryptKey, wallet, amount: '1', recipient: RECIPIENT, token: 'MXNB' } as const;
    expect(await transfer(client, order)).toBe('0xabc');
    expect(await failure(transfer(mainnetClient(token(own)).client, order))).toMatchObject({ code: 'untrusted_token' });
  });

  it('by a network of its own, where every token and class has to be named', () => {
    const [chainId, own] = [shortString('MY_APPCHAIN'), { token: 'USDC', address: '0x3abc', decimals: 6 } as const];
    const trusting = readTrust({ chainId: 'MY_APPCHAIN', tokens: [own] });
    const usdc = { chainId, token: 'USDC', address: 0x3abcn, decimals: 6, isOwn: false } as const;
    expect(() => requireTrustedToken(trusting, usdc)).not.toThrow();
    expect(() => requireTrustedToken(trusting, { ...usdc, address: USDC })).toThrow('is not USDC');
    expect(() => requireTrustedToken(trusting, { ...usdc, token: 'STRK' })).toThrow('is not STRK');
    const creation = { chainId, walletType: 'SVC', isUpgrade: false } as const;
    expect(() => requireTrustedClass(trusting, { ...creation, classHash: classes.svc })).not.toThrow();
    expect(() => requireTrustedClass(trusting, { ...creation, classHash: 0xbadn })).toThrow('is not an account class');
  });

  it('by address and decimals of a single transfer', async () => {
    const order = { encryptKey, wallet, amount: '1', recipient: RECIPIENT, token: 'OTHER' } as const;
    const own = { tokenAddress: '0x3abc', decimals: 6 };
    expect(await transfer(mainnetClient().client, { ...order, ...own })).toBe('0xabc');
  });

  it.each([
    { classHashes: ['latest'] },
    { classHashes: ['0x0'] },
    { tokens: [{ token: 'MXNB', address: '0x', decimals: 6 }] },
    { tokens: [{ token: 'MXNB', address: '0x1', decimals: 0.5 }] },
    { paymentAddress: '' },
    { chainId: '' },
    { chainId: 'my chain' },
  ] as const)('but not by %j', (invalid) => {
    const create = () => createClient({ baseUrl: 'https://svc.example/v1', publicKey: 'pk_prod_1', trust: invalid });
    expect(create).toThrow(expect.objectContaining({ code: 'invalid_options' }));
  });
});

describe('the pool of private balances', () => {
  const TONGO = 0x0415f2c3b16cc43856a0434ed151888a5797b6a22492ea6fd41c62dbb4df4e6cn;
  const { SN_MAIN, SN_SEPOLIA, SVC_SANDBOX } = chainIds;
  const accepts = (chainId: bigint, pool: bigint, privatePool?: string) =>
    requireTrustedPool(readTrust({ privatePool }), chainId, pool);

  it("is Tongo's on mainnet, the app's on other live networks, and any in the sandbox", () => {
    accepts(SN_MAIN, TONGO);
    accepts(SN_SEPOLIA, 7n, '0x7');
    accepts(SVC_SANDBOX, 7n);
  });

  it('is no other', () => {
    const untrusted = expect.objectContaining({ code: 'untrusted_pool' });
    expect(() => accepts(SN_MAIN, TONGO + 1n)).toThrow(untrusted);
    expect(() => accepts(SN_MAIN, TONGO, '0x7')).toThrow(untrusted);
    expect(() => accepts(SN_SEPOLIA, TONGO)).toThrow(untrusted);
    expect(() => accepts(SVC_SANDBOX, 8n, '0x7')).toThrow(untrusted);
  });
});
