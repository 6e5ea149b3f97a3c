import { ApiError, type CreatedWallet, type Environment, type ErrorCode } from '@svc/protocol';
import { type Call, outsideExecutionTypedData } from '@svc/starknet';
import type { Database } from '@svc/store';
import { expect } from 'vitest';
import { Networks } from '../src/chains/networks.ts';
import { startCrypto } from '../src/crypto/pool.ts';
import type { Caller } from '../src/http/call.ts';
import { createOrganization } from '../src/organizations/api-keys.ts';
import { createWallet, prepareCreation } from '../src/wallets/create-wallet.ts';
import { walletOutcomes } from '../src/wallets/relay-outcome.ts';
import type { WalletDeps } from '../src/wallets/signed-execution.ts';
import { serverDatabase } from './database.ts';
import { DirectSponsor } from './direct-sponsor.ts';
import type { CreateBody, Owner } from './owner.ts';
import { relayer, signed, startSandbox } from './starknet.ts';

export interface WalletFixture extends WalletDeps {
  readonly db: Database;
  readonly networks: Networks;
  readonly sponsor: DirectSponsor;
  readonly sandboxUrl: string;
  /** With the secret key of an organisation; with a user's token where a user is named. */
  caller(externalUserId?: string, organizationId?: string): Caller;
  newOrganization(): Promise<string>;
  /** The typed data that creates the owner's wallet, as the service prepares it. */
  prepared(owner: Owner): Promise<Record<string, unknown>>;
  /** A request to create the owner's wallet, with changes. */
  request(owner: Owner, externalUserId: string, changes?: Partial<CreateBody>): Promise<CreateBody>;
  /** A wallet that is stored and deployed, and known to be. */
  wallet(owner: Owner, externalUserId: string): Promise<CreatedWallet>;
  /** Typed data of calls, valid now. */
  typedData(calls: readonly Call[]): Promise<Record<string, unknown>>;
  /** Tells the wallet how its transaction ended. */
  settle(hash: string, result?: 'REVERTED' | 'VOIDED'): Promise<void>;
  /** Sends calls from an account that has nothing to do with the wallets. */
  send(calls: readonly Call[]): Promise<void>;
  control(path: string, body: unknown): Promise<void>;
  stop(): Promise<void>;
}

const environment: Environment = 'development';

/** The rooms below, for real: database, sandbox behind HTTP, cryptography; with a simple sponsor. */
export async function openWalletFixture(): Promise<WalletFixture> {
  const [database, sandbox] = await Promise.all([serverDatabase(), startSandbox()]);
  const { db } = database;
  const place = { url: sandbox.url, publicUrl: sandbox.url, paymentAddress: 0x99n };
  const networks = new Networks({ starknet: undefined, evmRpcUrls: {} }, () => place);
  const crypto = startCrypto({ threads: 1 });
  const sponsor = new DirectSponsor(db, networks);
  const organization = await createOrganization(db, 'Tienda Azul');
  const { chain } = networks.starknet(environment);
  const deps = { db, networks, crypto, sponsor };
  const outcomes = walletOutcomes();

  const fixture: WalletFixture = {
    ...deps,
    sandboxUrl: sandbox.url,
    caller: (externalUserId, organizationId = organization) => ({
      organizationId,
      environment,
      keyId: 'key_1',
      apiPublicKey: 'pk_dev_1',
      proof: externalUserId === undefined ? 'secret key' : 'user token',
      externalUserId,
    }),
    newOrganization: () => createOrganization(db, 'Otra Tienda'),
    prepared: async (owner) => {
      const body = { chain: 'STARKNET', publicKey: owner.address, walletType: owner.walletType } as const;
      const starkKeyPubAX = `0x${owner.key.toString(16)}`;
      return (await prepareCreation(deps, fixture.caller(), { ...body, starkKeyPubAX })).typedData;
    },
    request: async (owner, externalUserId, changes = {}) => {
      return { ...owner.creation(externalUserId, await fixture.prepared(owner)), ...changes };
    },
    wallet: async (owner, externalUserId) => {
      const created = await createWallet(deps, fixture.caller(), await fixture.request(owner, externalUserId));
      await fixture.settle(created.txHash);
      return created;
    },
    typedData: async (calls) => {
      const execution = await sponsor.prepare({ environment, account: 0n, deployment: undefined, calls });
      return { ...outsideExecutionTypedData(execution, chain.chainId) };
    },
    settle: async (hash, result) => {
      const outcome = await sponsor.outcomeOf(hash);
      const tell = outcome.kind === 'upgrade' ? outcomes.upgrade : outcomes.wallet;
      await db.tx((tx) => tell(tx, { ...outcome, ...(result && { result }) }));
    },
    send: async (calls) => {
      const from = relayer(2);
      const nonce = (await chain.nonceAt(from.address, 'pre_confirmed')) ?? 0n;
      const transaction = signed(calls, { nonce, from });
      await chain.send(transaction);
      expect(await chain.receipt(transaction.hash)).toMatchObject({ status: 'ACCEPTED_ON_L2' });
    },
    control: async (path, body) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${sandbox.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(await answer.text());
    },
    stop: async () => {
      await crypto.stop();
      await sandbox.stop();
      await database.drop();
    },
  };
  return fixture;
}

/** The refusal's message, provided that it has this code. */
export async function refusal(work: Promise<unknown>, code: ErrorCode): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code });
  return (error as ApiError).message;
}
