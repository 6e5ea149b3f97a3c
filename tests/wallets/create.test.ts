import { endpoints } from '@svc/protocol';
import { classes } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App, Owner } from '../support/app.ts';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { eventually } from '../support/eventually.ts';
import { Sandbox } from '../support/sandbox.ts';
import { type AnyService, TestService } from '../support/service.ts';

let service: AnyService;
let app: App;
let sandbox: Sandbox;

beforeAll(async () => {
  service = await TestService.shared();
  app = new App(service.server);
  sandbox = new Sandbox(service.server);
});
afterAll(() => service.stop());

const byUser = (user: string) => app.get(`/svc-wallets/by-user?externalUserId=${user}`);
const deployed = async (user: string) => {
  const reply = await eventually(
    () => byUser(user),
    ({ body }) => (body as { isDeployed?: boolean }).isDeployed === true,
  );
  return reply.body as Record<string, unknown>;
};

describe('creating a wallet', () => {
  it.each([
    ['SVC', classes.svc],
    ['READY', classes.ready],
    ['SVC', classes.svcPolicies],
    ['SVC', classes.svcSessions],
  ] as const)('of type %s and class %i costs its owner nothing', async (walletType, classHash) => {
    const owner = new Owner(classHash);
    const user = `owner of ${classHash}`;
    const reply = await app.post('/svc-wallets', await app.creation(owner, user, walletType));
    expectAnswer(reply, endpoints.createWallet);
    expect(reply.body).toMatchObject({
      externalUserId: user,
      publicKey: owner.address,
      normalizedPublicKey: `0x${BigInt(owner.address).toString(16).padStart(64, '0')}`,
      walletType,
      success: true,
      walletPublicKey: owner.address,
    });
    expect(await deployed(user)).toMatchObject({ isDeployed: true, encryptedPrivateKey: `ciphertext of ${user}` });
    const { result } = await sandbox.rpc('getClassHashAt', ['latest', owner.address]);
    expect(BigInt(String(result))).toBe(classHash);
    expect(await app.balance(owner.address, 'STRK')).toBe(0n);
  });

  it('again for the same user answers the wallet that is there, with one transaction on the chain', async () => {
    const owner = new Owner();
    const body = await app.creation(owner, 'twice');
    const replies = await Promise.all([1, 2, 3].map(() => app.post('/svc-wallets', body)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    const [first, ...others] = replies.map(({ body: answer }) => answer as Record<string, unknown>);
    for (const other of others) {
      expect(other).toMatchObject({ id: first?.id, txHash: first?.txHash, walletPublicKey: owner.address });
    }
    // Newly prepared and signed, it is still the same wallet.
    const later = await app.post('/svc-wallets', await app.creation(owner, 'twice'));
    expect(later.body).toMatchObject({ id: first?.id, txHash: first?.txHash });
  });

  it('for another user with a wallet that exists is refused', async () => {
    const owner = new Owner();
    const body = await app.creation(owner, 'first');
    await app.post('/svc-wallets', body);
    expectError(await app.post('/svc-wallets', { ...body, externalUserId: 'second' }), 400, 'wallet_already_exists');
    expectError(await byUser('second'), 404, 'wallet_not_found');
  });

  it('takes a signature in decimal as well', async () => {
    const owner = new Owner();
    const body = await app.creation(owner, 'decimal');
    const { r, s, recovery } = body.userSignature as { r: string; s: string; recovery: number };
    const userSignature = { r: BigInt(r).toString(), s: BigInt(s).toString(), recovery };
    expectAnswer(await app.post('/svc-wallets', { ...body, userSignature }), endpoints.createWallet);
  });

  it('without a type makes an SVC wallet', async () => {
    const owner = new Owner();
    const { walletType: _, ...body } = await app.creation(owner, 'no type');
    expect((await app.post('/svc-wallets', body)).body).toMatchObject({ walletType: 'SVC' });
  });

  it('on another chain is refused', async () => {
    const body = await app.creation(new Owner(), 'on base');
    expectError(await app.post('/svc-wallets', { ...body, chain: 'BASE' }), 400, 'unsupported_chain');
  });
});

type Body = Record<string, unknown> & { deploymentData: Record<string, unknown>; typedData: Message };
type Message = { domain: Record<string, unknown>; message: Record<string, unknown> };

/** Each has one fault; the rest is valid, the signature included. */
const wrong: Record<string, [code: Parameters<typeof expectError>[2], spoil: (body: Body, owner: Owner) => object]> = {
  'the address': ['address_mismatch', () => ({ publicKey: new Owner().address })],
  'the class': ['class_not_allowed', () => otherClass(classes.ready)],
  'an undeclared class': ['class_not_allowed', () => otherClass(0x123n)],
  'the salt': ['address_mismatch', ({ deploymentData }) => ({ deploymentData: { ...deploymentData, salt: '0x1' } })],
  'the calldata': [
    'address_mismatch',
    ({ deploymentData }) => ({ deploymentData: { ...deploymentData, calldata: ['0x1'] } }),
  ],
  'unique deployment': [
    'invalid_request',
    ({ deploymentData }) => ({ deploymentData: { ...deploymentData, unique: '0x1' } }),
  ],
  'typed data of another chain': [
    'invalid_typed_data',
    resigned((data) => ({ ...data, domain: { ...data.domain, chainId: '0x1' } })),
  ],
  'typed data with a call in it': [
    'invalid_typed_data',
    resigned((data) => withMessage(data, { Calls: [{ To: '0x1', Selector: '0x2', Calldata: [] }] })),
  ],
  'typed data for another caller': ['invalid_typed_data', resigned((data) => withMessage(data, { Caller: '0x1234' }))],
  'a window of more than an hour': [
    'invalid_typed_data',
    resigned((data) => withMessage(data, { 'Execute Before': later(data, 7_200n) })),
  ],
  'a window that is over': [
    'typed_data_expired',
    resigned((data) => withMessage(data, { 'Execute After': '0x1', 'Execute Before': '0x2' })),
  ],
  'another message': [
    'invalid_typed_data',
    () => ({ typedData: { types: {}, primaryType: 'Mail', domain: {}, message: {} } }),
  ],
  'the signer': [
    'invalid_signature',
    ({ typedData }, owner) => ({ userSignature: new Owner().sign(typedData, owner.address) }),
  ],
  'the signature': ['invalid_signature', () => ({ userSignature: { r: '0x1', s: '0x2', recovery: 0 } })],
  'typed data altered after signing': [
    'invalid_signature',
    ({ typedData }) => ({ typedData: withMessage(typedData, { Nonce: '0x7' }) }),
  ],
};

function otherClass(classHash: bigint): object {
  const other = new Owner(classHash);
  return { publicKey: other.address, deploymentData: other.deployment };
}

function withMessage(data: Message, change: Record<string, unknown>): Message {
  return { ...data, message: { ...data.message, ...change } };
}

const later = ({ message }: Message, seconds: bigint) =>
  `0x${(BigInt(String(message['Execute Before'])) + seconds).toString(16)}`;

function resigned(change: (data: Message) => Message) {
  return ({ typedData }: Body, owner: Owner) => {
    const changed = change(typedData);
    return { typedData: changed, userSignature: owner.sign(changed) };
  };
}

describe('a creation that has one thing wrong', () => {
  it.each(Object.entries(wrong))('is refused, and nothing is stored: %s', async (name, [code, spoil]) => {
    const owner = new Owner();
    const body = (await app.creation(owner, name)) as Body;
    const reply = await app.post('/svc-wallets', { ...body, ...spoil(body, owner) });
    expectError(reply, 400, code);
    expectError(await byUser(encodeURIComponent(name)), 404, 'wallet_not_found');
    const right = await app.post('/svc-wallets', body);
    expectAnswer(right, endpoints.createWallet);
  });
});
