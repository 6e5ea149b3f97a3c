import { classes, walletClass } from '@svc/starknet';
import { ec, hash, stark, type TypedData, typedData } from 'starknet';
import { keyHeaders, type Reply, send } from './client.ts';
import type { RunningServer } from './server.ts';

export type Headers = Record<string, string>;

/** What a call of the interface is asked with; `entrypoint` by name. */
export interface WantedCall {
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

/** Keys made and messages signed by starknet.js, as an app would: nothing of the service's own code has a hand in it. */
export class Owner {
  readonly privateKey: string;
  readonly publicKey: string;
  readonly deployment: Deployment;
  readonly address: string;

  constructor(classHash: bigint = classes.svc, privateKey: string = stark.randomAddress()) {
    this.privateKey = privateKey;
    this.publicKey = ec.starkCurve.getStarkKey(privateKey);
    const ready = walletClass(classHash)?.walletType === 'READY';
    const calldata = ready ? ['0x0', this.publicKey, '0x1'] : [this.publicKey];
    this.deployment = { class_hash: hex(classHash), salt: this.publicKey, unique: '0x0', calldata };
    this.address = hash.calculateContractAddressFromHash(this.publicKey, hex(classHash), calldata, 0);
  }

  sign(message: object, account = this.address): { r: string; s: string; recovery: number } {
    const { r, s, recovery } = ec.starkCurve.sign(
      typedData.getMessageHash(message as TypedData, account),
      this.privateKey,
    );
    return { r: hex(r), s: hex(s), recovery: recovery ?? 0 };
  }
}

/** A key that an owner lets sign for the wallet. */
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

/** An app that uses the service: every step is one request, with the keys of development unless told otherwise. */
export class App {
  readonly baseUrl: string;
  readonly headers: Headers;

  constructor(server: RunningServer, headers: Headers = keyHeaders(server)) {
    this.baseUrl = server.credentials.baseUrl;
    this.headers = headers;
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

  async prepareCreation(owner: Owner, walletType = 'SVC'): Promise<object> {
    const body = { chain: 'STARKNET', publicKey: owner.address, walletType, starkKeyPubAX: owner.publicKey };
    const reply = await this.post('/svc-wallets/prepare-creation', body);
    return field<object>(reply, 'typedData');
  }

  /** The body of a creation that has everything right. */
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

  async prepare(address: string, calls: readonly WantedCall[]): Promise<object> {
    const reply = await this.post('/transactions/prepare-typed-data', { publicKey: address, calls });
    return field<object>(reply, 'typedData');
  }

  /** Signed by the owner; answers the reply, whatever it is. */
  async execute(owner: Owner, calls: readonly WantedCall[], more: object = {}): Promise<Reply> {
    const message = await this.prepare(owner.address, calls);
    return this.post('/transactions/execute-sponsored-transaction', {
      publicKey: owner.address,
      typedData: message,
      userSignature: owner.sign(message),
      ...more,
    });
  }

  async executeWithSession(address: string, session: SessionKey, calls: readonly WantedCall[]): Promise<Reply> {
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

export function transferOf(token: string, to: string, amount: bigint): WantedCall {
  return { contractAddress: token, entrypoint: 'transfer', calldata: [to, hex(amount), '0x0'] };
}

export const hashOf = (reply: Reply): string => field<string>(reply, 'transactionHash');

export function field<T>(reply: Reply, name: string): T {
  if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`);
  return (reply.body as Record<string, T>)[name] as T;
}
