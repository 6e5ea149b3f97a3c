import { randomBytes } from 'node:crypto';
import { type Call, toHex } from '@svc/starknet';
import { type Database, sql } from '@svc/store';
import { afterAll, beforeAll } from 'vitest';
import { Networks } from '../src/chains/networks.ts';
import { padAddress, type StarknetChain } from '../src/chains/starknet/chain.ts';
import { RpcStarknetChain } from '../src/chains/starknet/rpc-chain.ts';
import { findCursor, indexedChain, type IndexerContext } from '../src/indexer/cursor.ts';
import { indexChain } from '../src/indexer/index-blocks.ts';
import type { JobLog } from '../src/jobs/job.ts';
import { createOrganization } from '../src/organizations/api-keys.ts';
import { fromRow, type Row, recordColumns, type TransactionRecord } from '../src/transactions/record.ts';
import { newId } from '../src/util/ids.ts';
import { type WalletRecord, walletsAt } from '../src/wallets/wallet.ts';
import { relayer, signed, startSandbox } from './chain.ts';
import { serverDatabase } from './database.ts';

const silent: JobLog = { info() {}, warn() {}, error() {} };

/** A database and a sandbox behind HTTP, with a follower whose clock is turned by hand. */
export interface IndexerFixture {
  readonly db: Database;
  readonly networks: Networks;
  readonly chain: StarknetChain;
  /** The same through a node of an earlier version, which tells less of events. */
  readonly earlierChain: StarknetChain;
  readonly clock: { ms: number };
  follower(chain?: StarknetChain): IndexerContext;
  /** Follows to the head, as a job does. */
  follow(chain?: StarknetChain): Promise<void>;
  organization(): Promise<string>;
  /** At an address of its own, unless told where. */
  wallet(organizationId: string, given?: { externalUserId?: string; address?: bigint }): Promise<WalletRecord>;
  /** Mints 1 USDC, or what is given; answers the hash. */
  fund(wallet: WalletRecord, amount?: string): Promise<string>;
  /** Sends calls from one of the relayers, the first by default; answers the hash. */
  send(calls: readonly Call[], from?: number): Promise<string>;
  /** To the sandbox's Starknet. */
  order(path: 'mine' | 'reorg' | 'faults', body: object): Promise<void>;
  clearFaults(): Promise<void>;
  /** The number of the block that was followed last. */
  cursor(): Promise<number | undefined>;
  /** What the history has of a wallet, in the order of blocks and amounts. */
  history(wallet: WalletRecord): Promise<TransactionRecord[]>;
}

/** Opens a fixture for the tests of a file. */
export function useWorld(): () => IndexerFixture {
  let fixture: (IndexerFixture & { stop(): Promise<void> }) | undefined;
  beforeAll(async () => {
    fixture = await openWorld();
  });
  afterAll(() => fixture?.stop());
  return () => {
    if (!fixture) throw new Error('The world is not there yet.');
    return fixture;
  };
}

async function openWorld(): Promise<IndexerFixture & { stop(): Promise<void> }> {
  const database = await serverDatabase();
  const { db, url } = database;
  const sandbox = await startSandbox({ databaseUrl: url });
  const place = { url: sandbox.url, publicUrl: sandbox.url, paymentAddress: 0x99n };
  const networks = new Networks({ starknet: undefined, evmRpcUrls: {} }, place);
  const { chain } = networks.starknet('development');
  const clock = { ms: Date.now() };
  const post = async (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${sandbox.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as { transactionHash: string };
  };
  const follower = (other = chain) => {
    const followed = { ...indexedChain(networks, 'development'), chain: other };
    return { ...followed, db, now: () => clock.ms, log: silent };
  };
  return {
    db,
    networks,
    chain,
    earlierChain: new RpcStarknetChain({ chainId: chain.chainId, urls: [`${sandbox.rpcUrl}/v0_9`] }),
    clock,
    follower,
    follow: (other) => indexChain(follower(other), new AbortController().signal),
    organization: () => createOrganization(db, 'Tienda Azul'),
    wallet: (organizationId, { externalUserId = 'user', address = newAddress() } = {}) =>
      insertWallet(db, organizationId, externalUserId, padAddress(address)),
    fund: async ({ address }, amount = '1') =>
      (await post('/faucet', { address, token: 'USDC', amount })).transactionHash,
    send: async (calls, from = 1) => {
      const nonce = (await chain.nonceAt(relayer(from).address, 'pre_confirmed')) ?? 0n;
      const transaction = signed(calls, { nonce, from: relayer(from) });
      await chain.send(transaction);
      const receipt = await chain.receipt(transaction.hash);
      if (receipt?.status !== 'ACCEPTED_ON_L2') throw new Error(`It ended as ${receipt?.status}.`);
      return toHex(transaction.hash);
    },
    order: async (path, body) => {
      await post(`/starknet/${path}`, body);
    },
    clearFaults: async () => {
      await fetch(`${sandbox.url}/starknet/faults`, { method: 'DELETE' });
    },
    cursor: async () => (await findCursor(db, toHex(chain.chainId)))?.number,
    history: async ({ organizationId, address }) => {
      const rows = await db.rows<Row>(sql`
        select ${recordColumns} from transactions
         where organization_id = ${organizationId} and ${address} in (sender_address, destination_address)
         order by block_number, amount, event_index, id`);
      return rows.map(fromRow);
    },
    stop: async () => {
      await sandbox.stop();
      await database.drop();
    },
  };
}

const newAddress = () => BigInt(`0x${randomBytes(31).toString('hex')}`);

async function insertWallet(
  db: Database,
  organizationId: string,
  externalUserId: string,
  address: string,
): Promise<WalletRecord> {
  await db.run(sql`
    insert into wallets (id, organization_id, environment, external_user_id, api_public_key, public_key, address, wallet_type,
      class_hash, owner_key, salt, constructor_calldata, deployment, encrypted_private_key)
    values (${newId('wal')}, ${organizationId}, 'development', ${externalUserId}, 'pk_dev_test', ${address}, ${address}, 'SVC',
      '0x1', '0x2', '0x3', '{0x2}', 'DEPLOYED', 'ciphertext')`);
  const [wallet] = await walletsAt(db.reads, 'development', [address as WalletRecord['address']]);
  if (!wallet) throw new Error('The wallet was not stored.');
  return wallet;
}

/** A relay that ended in a block. */
export async function settledRelay({ db, chain }: IndexerFixture, number: number, hash: bigint): Promise<string> {
  const id = newId('rly');
  await db.run(sql`
    insert into relays (id, environment, chain_id, kind, purpose, message_hash, wallet, not_after, account, nonce, content, state,
      hash, block_number, block_hash)
    values (${id}, 'development', ${toHex(chain.chainId)}, 'calls', ${id}, '0x1', '0x2', now(), ${id}, 0, '{}',
      'SUCCEEDED', '0x3', ${number}, ${toHex(hash)})`);
  return id;
}

export async function stateOfRelay({ db }: IndexerFixture, id: string): Promise<string | undefined> {
  return (await db.one<{ state: string }>(sql`select state from relays where id = ${id}`))?.state;
}
