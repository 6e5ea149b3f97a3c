import { randomBytes } from 'node:crypto';
import {
  ApiError,
  type BodyOf,
  type CreatedWallet,
  type Environment,
  type ErrorCode,
  type endpoints,
  type StarknetAddress,
  type WalletType,
} from '@svc/protocol';
import {
  ANY_CALLER,
  accountAddress,
  type Call,
  classes,
  constructorCalldata,
  type OutsideExecution,
  outsideExecutionTypedData,
  starkKey,
  toHex,
  walletClass,
} from '@svc/starknet';
import { type Database, sql } from '@svc/store';
import { ec, typedData as snip12, type TypedData } from 'starknet';
import { expect } from 'vitest';
import type { Networks } from '../src/chains/networks.ts';
import { addressOf } from '../src/chains/starknet/chain.ts';
import { startCrypto } from '../src/crypto/pool.ts';
import type { Caller } from '../src/http/call.ts';
import { createOrganization } from '../src/organizations/api-keys.ts';
import { relayedCalls } from '../src/relayer/invoke.ts';
import type { RelayOutcome } from '../src/relayer/outcome.ts';
import type { PrepareRequest, Relayed, Sponsor, Sponsorship, StoreWithRelay } from '../src/relayer/relay.ts';
import { newId } from '../src/util/ids.ts';
import { createWallet, prepareCreation } from '../src/wallets/create-wallet.ts';
import { relayOutcomes } from '../src/wallets/module.ts';
import type { WalletDeps } from '../src/wallets/signed-execution.ts';
import { ChainFixture, type OpenChain, openChain, relayer, signed } from './chain.ts';

export type CreateBody = BodyOf<typeof endpoints.createWallet>;

/** Hashes and signs with starknet.js, so that an error of our own cannot hide. */
export class Owner {
  readonly privateKey: bigint;
  readonly key: bigint;
  readonly walletType: WalletType;
  readonly classHash: bigint;
  readonly address: StarknetAddress;

  constructor(classHash: bigint = classes.svc, privateKey = BigInt(`0x${randomBytes(31).toString('hex')}`)) {
    this.privateKey = privateKey;
    this.key = starkKey(privateKey);
    this.classHash = classHash;
    this.walletType = walletClass(classHash)?.walletType ?? 'SVC';
    this.address = addressOf(accountAddress(classHash, this.key));
  }

  get deployment() {
    return {
      classHash: this.classHash,
      salt: this.key,
      constructorCalldata: constructorCalldata(this.walletType, this.key),
    };
  }

  sign(typedData: object, account: string = this.address): { r: string; s: string; recovery: number } {
    const hash = snip12.getMessageHash(typedData as TypedData, account);
    const { r, s, recovery } = ec.starkCurve.sign(hash, toHex(this.privateKey));
    return { r: toHex(r), s: toHex(s), recovery: recovery ?? 0 };
  }

  /** `[r, s]`. */
  signatureOf(typedData: object, account?: string): string[] {
    const { r, s } = this.sign(typedData, account);
    return [r, s];
  }

  creation(externalUserId: string, typedData: Record<string, unknown>): CreateBody {
    return {
      externalUserId,
      publicKey: this.address,
      walletType: this.walletType,
      chain: 'STARKNET',
      userSignature: this.sign(typedData),
      typedData,
      encryptedPrivateKey: 'ciphertext',
      deploymentData: {
        class_hash: toHex(this.classHash),
        salt: toHex(this.key),
        unique: '0x0',
        calldata: this.deployment.constructorCalldata.map(toHex),
      },
    };
  }
}

/** The simplest sponsor on the sandbox's chain: one account, one relay at a time. */
export class DirectSponsor implements Sponsor {
  /** By the relay's id. */
  readonly stored = new Map<string, Sponsorship>();
  requests = 0;
  /** Runs between storing and sending; may throw. */
  beforeSend: () => void = () => {};
  /** Whether hashes are known at storing, as with relayer accounts. */
  knowsHashes = true;
  readonly #db: Database;
  readonly #networks: Networks;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(db: Database, networks: Networks) {
    this.#db = db;
    this.#networks = networks;
  }

  async prepare({ environment, calls }: PrepareRequest): Promise<OutsideExecution> {
    const now = BigInt(Math.floor((await this.#networks.starknet(environment).time()).getTime() / 1_000));
    const nonce = BigInt(`0x${randomBytes(31).toString('hex')}`);
    return { caller: ANY_CALLER, nonce, executeAfter: now - 60n, executeBefore: now + 3_540n, calls };
  }

  sponsor(sponsorship: Sponsorship, store: StoreWithRelay): Promise<Relayed> {
    this.requests += 1;
    const result = this.#turn.then(() => this.#relay(sponsorship, store));
    this.#turn = result.catch(() => {});
    return result;
  }

  async #relay(sponsorship: Sponsorship, store: StoreWithRelay): Promise<Relayed> {
    const { environment, account, execution } = sponsorship;
    const { chain } = this.#networks.starknet(environment);
    const purpose = `${toHex(account)} ${toHex(execution.nonce)}`;
    const known = await this.#db.one<{ id: string; hash: string }>(
      sql`select id, hash from relays where purpose = ${purpose}`,
    );
    if (known) return { id: known.id, hash: BigInt(known.hash) };
    const from = relayer(1);
    const nonce = (await chain.nonceAt(from.address, 'pre_confirmed')) ?? 0n;
    const transaction = signed(relayedCalls(sponsorship), { nonce, from });
    const estimate = await chain.estimate(transaction.transaction);
    if (!estimate.ok) throw new ApiError('transaction_reverted', estimate.reason);
    const { hash } = transaction;
    const id = newId('rel');
    await this.#db.tx(async (tx) => {
      await store(tx, { id, hash: this.knowsHashes ? hash : undefined });
      await tx.run(sql`
        insert into relays (id, environment, chain_id, kind, purpose, message_hash, wallet, not_after, content, hash)
        values (${id}, ${environment}, ${toHex(chain.chainId)}, ${sponsorship.kind}, ${purpose}, '0x0', ${toHex(account)}, now(),
                '{}', ${toHex(hash)})`);
    });
    this.stored.set(id, sponsorship);
    this.beforeSend();
    await chain.send(transaction);
    return { id, hash };
  }

  /** The outcome of a relay, as the relay worker would find it. */
  async outcomeOf(hash: string): Promise<RelayOutcome> {
    const relay = await this.#db.one<{ id: string }>(sql`select id from relays where hash = ${hash}`);
    const sponsorship = this.stored.get(relay?.id ?? '');
    if (!relay || !sponsorship) throw new Error(`There is no relay of ${hash}.`);
    const receipt = await this.#networks.starknet(sponsorship.environment).chain.receipt(BigInt(hash));
    const result = !receipt ? 'VOIDED' : receipt.status === 'REVERTED' ? 'REVERTED' : 'SUCCEEDED';
    return {
      relayId: relay.id,
      kind: sponsorship.kind,
      environment: sponsorship.environment,
      account: sponsorship.account,
      result,
      hash: receipt?.transactionHash,
      revertReason: receipt?.revertReason,
      receipt,
      confirmedAt: receipt && new Date(),
    };
  }
}

const environment: Environment = 'development';

/** Wallets on a sandbox, with real cryptography and a simple sponsor. */
export class WalletFixture extends ChainFixture implements WalletDeps {
  readonly crypto = startCrypto({ threads: 1 });
  readonly sponsor: DirectSponsor;
  readonly #organizationId: string;

  static async start(): Promise<WalletFixture> {
    return new WalletFixture(await openWallets());
  }

  protected constructor({ organizationId, ...open }: OpenWallets) {
    super(open);
    this.sponsor = new DirectSponsor(this.db, this.networks);
    this.#organizationId = organizationId;
  }

  /** With the secret key of an organisation; with a user's token where a user is named. */
  caller(externalUserId?: string, organizationId = this.#organizationId): Caller {
    return {
      organizationId,
      environment,
      keyId: 'key_1',
      apiPublicKey: 'pk_dev_1',
      proof: externalUserId === undefined ? 'secret key' : 'user token',
      externalUserId,
    };
  }

  newOrganization(): Promise<string> {
    return createOrganization(this.db, 'Otra Tienda');
  }

  async prepared(owner: Owner): Promise<Record<string, unknown>> {
    const body = { chain: 'STARKNET', publicKey: owner.address, walletType: owner.walletType } as const;
    const starkKeyPubAX = `0x${owner.key.toString(16)}`;
    return (await prepareCreation(this, this.caller(), { ...body, starkKeyPubAX })).typedData;
  }

  async request(owner: Owner, externalUserId: string, changes: Partial<CreateBody> = {}): Promise<CreateBody> {
    return { ...owner.creation(externalUserId, await this.prepared(owner)), ...changes };
  }

  /** A wallet that is stored and deployed, and known to be. */
  async wallet(owner: Owner, externalUserId: string): Promise<CreatedWallet> {
    const created = await createWallet(this, this.caller(), await this.request(owner, externalUserId));
    await this.settle(created.txHash);
    return created;
  }

  async typedData(calls: readonly Call[]): Promise<Record<string, unknown>> {
    const execution = await this.sponsor.prepare({ environment, account: 0n, deployment: undefined, calls });
    return { ...outsideExecutionTypedData(execution, this.chain.chainId) };
  }

  async settle(hash: string, result?: 'REVERTED' | 'VOIDED'): Promise<void> {
    const outcomes = relayOutcomes();
    const outcome = await this.sponsor.outcomeOf(hash);
    const apply = outcome.kind === 'upgrade' ? outcomes.upgrade : outcomes.wallet;
    await this.db.tx((tx) => apply(tx, { ...outcome, ...(result && { result }) }));
  }

  /** Sends calls from an account that is no wallet. */
  async send(calls: readonly Call[]): Promise<void> {
    const hash = await this.sendFrom(relayer(2), calls);
    expect(await this.chain.receipt(BigInt(hash))).toMatchObject({ status: 'ACCEPTED_ON_L2' });
  }

  override async stop(): Promise<void> {
    await this.crypto.stop();
    await super.stop();
  }
}

export interface OpenWallets extends OpenChain {
  readonly organizationId: string;
}

export async function openWallets(): Promise<OpenWallets> {
  const open = await openChain();
  return { ...open, organizationId: await createOrganization(open.database.db, 'Tienda Azul') };
}

export async function refusal(work: Promise<unknown>, code: ErrorCode): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code });
  return (error as ApiError).message;
}
