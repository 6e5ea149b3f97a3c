import { randomBytes } from 'node:crypto';
import { type Call, toHex } from '@svc/starknet';
import { type Database, sql } from '@svc/store';
import { afterAll, beforeAll } from 'vitest';
import { padAddress, type StarknetChain } from '../src/chains/starknet/chain.ts';
import { RpcStarknetChain } from '../src/chains/starknet/rpc-chain.ts';
import { indexChain } from '../src/indexer/index-blocks.ts';
import { findCursor, type IndexerContext, indexedChain, type TransferWatcher } from '../src/indexer/indexer.ts';
import type { JobLog } from '../src/jobs/job.ts';
import { createOrganization } from '../src/organizations/api-keys.ts';
import { fromRow, type Row, recordColumns, type TransactionRecord } from '../src/transactions/record.ts';
import { newId } from '../src/util/ids.ts';
import { type WalletRecord, walletsAt } from '../src/wallets/wallet.ts';
import { ChainFixture, type OpenChain, openChain, relayer } from './chain.ts';

const silent: JobLog = { info() {}, warn() {}, error() {} };

/** An indexer on a sandbox, with a frozen clock. */
export class IndexerFixture extends ChainFixture {
  /** The sandbox through a node of RPC version 0.9, whose events lack their place in the block. */
  readonly earlierChain: StarknetChain;

  static async start(): Promise<IndexerFixture> {
    return new IndexerFixture(await openChain());
  }

  private constructor(open: OpenChain) {
    super(open);
    this.clock.freeze();
    const urls = [`${this.sandbox.rpcUrl}/v0_9`];
    this.earlierChain = new RpcStarknetChain({ chainId: this.chain.chainId, urls });
  }

  // Fields, so that tests can destructure them.

  /** Told of transfers, besides wallets. */
  watcher: TransferWatcher | undefined;

  readonly context = (chain: StarknetChain = this.chain): IndexerContext => {
    const followed = { ...indexedChain(this.networks, 'development'), chain };
    return { ...followed, db: this.db, now: this.clock.now, log: silent, watcher: this.watcher };
  };

  readonly index = async (chain?: StarknetChain): Promise<void> => {
    await indexChain(this.context(chain), new AbortController().signal);
  };

  readonly organization = (): Promise<string> => createOrganization(this.db, 'Tienda Azul');

  readonly wallet = (
    organizationId: string,
    { externalUserId = 'user', address = newAddress() }: { externalUserId?: string; address?: bigint } = {},
  ): Promise<WalletRecord> => insertWallet(this.db, organizationId, externalUserId, padAddress(address));

  /** Mints USDC; answers the hash. */
  readonly fund = ({ address }: WalletRecord, amount = '1'): Promise<string> =>
    this.sandbox.faucet(address, 'USDC', amount);

  readonly send = async (calls: readonly Call[], from = 1): Promise<string> => {
    const hash = await this.sendFrom(relayer(from), calls);
    const receipt = await this.chain.receipt(BigInt(hash));
    if (receipt?.status !== 'ACCEPTED_ON_L2') throw new Error(`It ended as ${receipt?.status}.`);
    return hash;
  };

  readonly order = (path: 'mine' | 'reorg' | 'faults', body: object): Promise<unknown> =>
    this.sandbox.post(`/starknet/${path}`, body);

  readonly clearFaults = (): Promise<unknown> => this.sandbox.clearFaults();

  readonly cursor = async (): Promise<number | undefined> =>
    (await findCursor(this.db, toHex(this.chain.chainId)))?.number;

  /** The records of a wallet, by block and amount. */
  readonly history = async ({ organizationId, address }: WalletRecord): Promise<TransactionRecord[]> => {
    const rows = await this.db.rows<Row>(sql`
      select ${recordColumns} from transactions
       where organization_id = ${organizationId} and ${address} in (sender_address, destination_address)
       order by block_number, amount, event_index, id`);
    return rows.map(fromRow);
  };
}

export function useIndexer(): () => IndexerFixture {
  let fixture: IndexerFixture | undefined;
  beforeAll(async () => {
    fixture = await IndexerFixture.start();
  });
  afterAll(() => fixture?.stop());
  return () => {
    if (!fixture) throw new Error('The fixture is started in beforeAll.');
    return fixture;
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
