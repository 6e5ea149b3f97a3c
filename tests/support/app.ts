import { classes, contractAddress, walletClass } from '@svc/starknet';
import { ec, stark, type TypedData, typedData } from 'starknet';
import { keyHeaders, type Reply, send } from './client.ts';
import type { ServerAddress } from './server.ts';

export type Headers = Record<string, string>;

export interface ContractCall {
  readonly contractAddress: string;
  readonly entrypoint: string;
  readonly calldata: readonly string[];
}

export interface Deployment {
  readonly class_hash: string;
  readonly salt: string;
  readonly unique: string;
  readonly calldata: readonly string[];
}

const hex = (value: bigint) => `0x${value.toString(16)}`;

/**
 * Keys and signatures come from starknet.js alone, so that an error of our own cannot hide. Its addresses take ten times as long
 * as ours, which are compared with them in `unit`.
 */
export class Owner {
  readonly privateKey: string;
  readonly publicKey: string;
  readonly deployment: Deployment;
  readonly address: string;
  readonly walletType: string;

  constructor(classHash: bigint = classes.svc, privateKey: string = stark.randomAddress()) {
    this.privateKey = privateKey;
    this.publicKey = ec.starkCurve.getStarkKey(privateKey);
    this.walletType = walletClass(classHash)?.walletType ?? 'SVC';
    const calldata = this.walletType === 'READY' ? ['0x0', this.publicKey, '0x1'] : [this.publicKey];
    this.deployment = { class_hash: hex(classHash), salt: this.publicKey, unique: '0x0', calldata };
    const constructorCalldata = calldata.map(BigInt);
    this.address = hex(contractAddress({ salt: BigInt(this.publicKey), classHash, constructorCalldata, deployer: 0n }));
  }

  sign(message: object, account = this.address): { r: string; s: string; recovery: number } {
    const { r, s, recovery } = ec.starkCurve.sign(
      typedData.getMessageHash(message as TypedData, account),
      this.privateKey,
    );
    return { r: hex(r), s: hex(s), recovery: recovery ?? 0 };
  }
}

export class SessionKey {
  readonly privateKey = stark.randomAddress();
  readonly publicKey = ec.starkCurve.getStarkKey(this.privateKey);
  readonly validUntil: bigint;

  constructor(validUntil: bigint) {
    this.validUntil = validUntil;
  }

  sign(message: object, account: string): string[] {
    const { r, s } = ec.starkCurve.sign(typedData.getMessageHash(message as TypedData, account), this.privateKey);
    return [this.publicKey, hex(r), hex(s), hex(this.validUntil)];
  }
}

export class App {
  readonly baseUrl: string;
  readonly headers: Headers;

  constructor(server: ServerAddress, headers: Headers = keyHeaders(server)) {
    this.baseUrl = server.credentials.baseUrl;
    this.headers = headers;
  }

  /** The same keys at another process. */
  at(server: ServerAddress): App {
    return new App(server, this.headers);
  }

  get(path: string): Promise<Reply> {
    return send(this.baseUrl + path, { headers: this.headers });
  }

  post(path: string, body: unknown, headers: Headers = {}): Promise<Reply> {
    return send(this.baseUrl + path, { method: 'POST', body, headers: { ...this.headers, ...headers } });
  }

  patch(path: string, body: unknown): Promise<Reply> {
    return send(this.baseUrl + path, { method: 'PATCH', body, headers: this.headers });
  }

  delete(path: string): Promise<Reply> {
    return send(this.baseUrl + path, { method: 'DELETE', headers: this.headers });
  }

  async gift(changes: object = {}): Promise<CreatedGift> {
    return bodyOf<CreatedGift>(await this.post('/gifts', giftBody(changes)), 201);
  }

  async sku(changes: object = {}): Promise<string> {
    return bodyOf<{ id: string }>(await this.post('/organization/skus', { ...ownSkuBody(), ...changes }), 201).id;
  }

  async webhook(url: string, changes: object = {}): Promise<Webhook> {
    return bodyOf<Webhook>(await this.post('/organization/webhooks', { url, ...changes }), 201);
  }

  async prepareCreation(owner: Owner, walletType = 'SVC'): Promise<object> {
    const body = { chain: 'STARKNET', publicKey: owner.address, walletType, starkKeyPubAX: owner.publicKey };
    const reply = await this.post('/svc-wallets/prepare-creation', body);
    return field<object>(reply, 'typedData');
  }

  async creation(owner: Owner, externalUserId: string, walletType = 'SVC'): Promise<Record<string, unknown>> {
    const message = await this.prepareCreation(owner, walletType);
    return {
      externalUserId,
      publicKey: owner.address,
      walletType,
      chain: 'STARKNET',
      userSignature: owner.sign(message),
      typedData: message,
      encryptedPrivateKey: `ciphertext of ${externalUserId}`,
      deploymentData: owner.deployment,
    };
  }

  async createWallet(owner: Owner, externalUserId: string, walletType = 'SVC'): Promise<Record<string, unknown>> {
    const reply = await this.post('/svc-wallets', await this.creation(owner, externalUserId, walletType));
    if (reply.status !== 200) throw new Error(reply.text);
    return reply.body as Record<string, unknown>;
  }

  async prepare(address: string, calls: readonly ContractCall[]): Promise<object> {
    const reply = await this.post('/transactions/prepare-typed-data', { publicKey: address, calls });
    return field<object>(reply, 'typedData');
  }

  /** Signed by the owner; answers the reply, also where it is a refusal. */
  async execute(owner: Owner, calls: readonly ContractCall[], more: object = {}): Promise<Reply> {
    const message = await this.prepare(owner.address, calls);
    return this.post('/transactions/execute-sponsored-transaction', {
      publicKey: owner.address,
      typedData: message,
      userSignature: owner.sign(message),
      ...more,
    });
  }

  async executeWithSession(address: string, session: SessionKey, calls: readonly ContractCall[]): Promise<Reply> {
    const message = await this.prepare(address, calls);
    return this.post('/transactions/execute-sponsored-transaction', {
      publicKey: address,
      typedData: message,
      userSignature: session.sign(message, address),
      isSessionSignature: true,
    });
  }

  async balance(address: string, chainToken: string, chain = 'STARKNET'): Promise<bigint> {
    const query = `chainToken=${chainToken}&chain=${chain}&walletPublicKey=${address}`;
    return BigInt(field<string>(await this.get(`/svc-wallets/token-balance?${query}`), 'balance'));
  }
}

export class Organization extends App {
  readonly id: string;
  readonly keys: Keys;

  constructor(server: ServerAddress, id: string, keys: Keys) {
    super(server, keys.headers);
    this.id = id;
    this.keys = keys;
  }
}

export interface Keys {
  readonly publicKey: string;
  readonly secretKey: string;
  readonly publicKeyId: string;
  readonly secretKeyId: string;
  readonly headers: { readonly 'x-api-key': string; readonly authorization: string };
}

export interface CreatedGift {
  readonly id: string;
  readonly code: string;
}

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
}

let codes = 0;
export const newCode = (): string => {
  codes += 1;
  return `Example-${process.pid}-${Date.now()}-${codes}`;
};

export const giftBody = (changes: object = {}): object => {
  const limits = { maxRedeems: 1, maxRedeemsPerUser: 1, startsAt: '2026-01-01', isActive: true };
  return { code: newCode(), name: 'Navidad', amount: 0.5, cctpFast: false, ...limits, ...changes };
};

let skus = 0;
export const ownSkuBody = (): { id: string } & Record<string, unknown> => {
  skus += 1;
  return {
    id: `propio-${process.pid}-${skus}`,
    providerId: 'propio',
    name: 'Recarga propia',
    category: 'RECARGAS',
    referenceRegexValidation: '^[0-9]{10}$',
    referenceLabel: 'Número a 10 dígitos',
    amountRegexValidation: '^[0-9]+(\\.[0-9]{1,2})?$',
    amountLabel: 'Monto',
    currency: 'MXN',
    canCheckSkuReference: true,
  };
};

export function transferOf(token: string, to: string, amount: bigint): ContractCall {
  return { contractAddress: token, entrypoint: 'transfer', calldata: [to, hex(amount), '0x0'] };
}

export const hashOf = (reply: Reply): string => field<string>(reply, 'transactionHash');

export function field<T>(reply: Reply, name: string): T {
  return bodyOf<Record<string, T>>(reply, 200)[name] as T;
}

export function bodyOf<T>({ status, body, text }: Reply, expected: number): T {
  if (status !== expected) throw new Error(`${status} ${text}`);
  return body as T;
}
