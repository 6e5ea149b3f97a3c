import { classes } from '@svc/starknet';
import { type Client, createClient, type Fetch } from '../../packages/sdk/src/client/client.ts';
import { passkeyEncryptKey } from '../../packages/sdk/src/keys/cipher.ts';
import { sealKey } from '../../packages/sdk/src/keys/seal.ts';
import { waitForTransactionOf } from '../../packages/sdk/src/node/wait-for-transaction.ts';
import type { Session, SessionConfig } from '../../packages/sdk/src/sessions/session-wallet.ts';
import {
  addSessionKeyToContract,
  createSessionKey,
  executeTransactionWithSession,
} from '../../packages/sdk/src/sessions/sessions.ts';
import type { ContractCall } from '../../packages/sdk/src/signing/calls.ts';
import { type App, field, Owner } from './app.ts';
import { eventually } from './eventually.ts';
import type { Sandbox } from './sandbox.ts';
import { TestService } from './service.ts';
import { USDC } from './starknet-client.ts';

/** A passkey's secret: opens keys at once, where a PIN is stretched. */
export const encryptKey = passkeyEncryptKey(new Uint8Array(32).fill(7));

const WINDOW_AHEAD_SECONDS = 3_600;
/** Less than any test moves the time by, more than the service's margin for clocks. */
const CLOCK_TOLERANCE_SECONDS = 90;

export interface TestWallet {
  readonly publicKey: string;
  readonly encryptedPrivateKey: string;
  readonly walletType?: 'SVC' | 'READY' | 'SHHH';
}

export const pay = (amount: bigint, recipient = '0xb0b', token = USDC): ContractCall => ({
  contractAddress: token,
  entrypoint: 'transfer',
  calldata: [recipient, amount, 0],
});

export class SessionFixture {
  readonly service: TestService;
  readonly sandbox: Sandbox;
  readonly app: App;
  readonly client: Client;
  readonly bearerToken: string;
  /** Sent through `client`. */
  signedRequests = 0;
  #users = 0;
  #moved = false;

  static async start(): Promise<SessionFixture> {
    return new SessionFixture(await TestService.hosted());
  }

  constructor(service: TestService) {
    this.service = service;
    this.sandbox = service.sandbox;
    this.app = service.app;
    this.client = this.clientInterruptedBy(async () => this.signedRequests++);
    this.bearerToken = service.server.credentials.secretKey;
  }

  clientWith(options: { readonly fetch?: Fetch; readonly secretKey?: undefined } = {}): Client {
    const { baseUrl, publicKey, secretKey } = this.service.server.credentials;
    return createClient({ baseUrl, publicKey, secretKey, ...options });
  }

  /** Moves the chain's time ahead and waits until the service, which reads it once a second, has noticed. */
  async travel(seconds: number): Promise<void> {
    this.#moved = true;
    await this.sandbox.ask('/starknet/time', { increaseSeconds: seconds });
    await this.#noticed();
  }

  async returnToPresent(): Promise<void> {
    if (!this.#moved) return;
    await this.sandbox.ask('/starknet/time', { offsetSeconds: 0 });
    await this.#noticed();
    this.#moved = false;
  }

  async #noticed(): Promise<void> {
    const owner = new Owner();
    const body = { chain: 'STARKNET', publicKey: owner.address, walletType: 'SVC', starkKeyPubAX: owner.publicKey };
    const secondsAhead = async () => {
      const reply = await this.app.post('/svc-wallets/prepare-creation', body);
      const { message } = field<{ message: Record<string, string> }>(reply, 'typedData');
      return Number(message['Execute Before']) - (await this.sandbox.clock());
    };
    await eventually(secondsAhead, (seconds) => Math.abs(seconds - WINDOW_AHEAD_SECONDS) < CLOCK_TOLERANCE_SECONDS);
  }

  /** A client that runs `interruption` right before signed calls are sent. */
  clientInterruptedBy(interruption: () => Promise<unknown>): Client {
    return this.clientWith({
      fetch: async (url, init) => {
        if (url.endsWith('/execute-sponsored-transaction')) await interruption();
        return fetch(url, init);
      },
    });
  }

  async wallet(classHash: bigint = classes.svc, user = `user ${this.#users++}`): Promise<TestWallet> {
    const owner = await this.service.wallet({ classHash, user });
    const [privateKey, boundTo] = [BigInt(owner.privateKey), BigInt(owner.address)];
    return {
      publicKey: owner.address,
      encryptedPrivateKey: await sealKey({ privateKey, boundTo, encryptKeys: [encryptKey] }),
    };
  }

  session(durationSeconds?: number): Promise<Session> {
    return createSessionKey(this.client, { encryptKey, durationSeconds });
  }

  async register(wallet: TestWallet, session: Session, config: Partial<SessionConfig> = {}): Promise<void> {
    const sessionConfig = {
      sessionPublicKey: session.publicKey,
      validUntil: session.validUntil,
      maxCalls: 10,
      allowedEntrypoints: [],
      ...config,
    };
    await this.settle(addSessionKeyToContract(this.client, { encryptKey, wallet, sessionConfig }, this.bearerToken));
  }

  async registered(config: Partial<SessionConfig> = {}, classHash?: bigint) {
    const [wallet, session] = [await this.wallet(classHash), await this.session()];
    await this.register(wallet, session, config);
    return { wallet, session };
  }

  execute(wallet: TestWallet, session: Session, calls: readonly ContractCall[], client = this.client): Promise<string> {
    return executeTransactionWithSession(client, { encryptKey, wallet, session, calls });
  }

  async settle(sent: Promise<string>): Promise<string> {
    const hash = await sent;
    const { success, revertReason } = await waitForTransactionOf(this.client, hash, { retryIntervalMs: 50 });
    if (!success) throw new Error(revertReason);
    return hash;
  }
}
