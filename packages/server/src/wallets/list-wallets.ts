import {
  type AnswerOf,
  ApiError,
  type endpoints,
  type ListedWallet,
  parseStarknetAddress,
  type QueryOf,
  type WalletType,
} from '@svc/protocol';
import { type Reads, type Sql, sql } from '@svc/store';
import { type Caller, microsOf, olderThan, type Place, readCursor, toCursorPage } from '../http/call.ts';
import { readTimeRange } from '../http/validation.ts';

type Endpoint = typeof endpoints.listWallets;

interface Row extends Place {
  readonly external_user_id: string;
  readonly organization_id: string;
  readonly api_public_key: string;
  readonly public_key: string;
  readonly address: string;
  readonly wallet_type: WalletType;
  readonly class_hash: string;
  readonly is_deployed: boolean;
  readonly transaction_hash: string | null;
  readonly auth_method: string | null;
  readonly device_type: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Without ciphertexts: those are read one user at a time. */
const columns = sql`id, ${microsOf(sql`created_at`)} as micros, external_user_id, organization_id, api_public_key, public_key, address,
  wallet_type, class_hash, deployment = 'DEPLOYED' as is_deployed, transaction_hash, auth_method, device_type, created_at, updated_at`;

export async function listWallets(lists: Reads, caller: Caller, query: QueryOf<Endpoint>): Promise<AnswerOf<Endpoint>> {
  const { limit, after } = readCursor(query);
  const rows = await lists.rows<Row>(
    sql`
      select ${columns} from wallets
       where ${ofEnvironment(caller)} ${filtersOf(query)} ${olderThan(after, sql`created_at`, sql`id`)}
       order by created_at desc, id desc limit ${limit + 1}`.unnamed,
  );
  return toCursorPage(rows, limit, toListed);
}

function filtersOf({ search, walletType, isDeployed, ...times }: QueryOf<Endpoint>): Sql {
  const { from, before } = readTimeRange(times);
  return [
    search === undefined ? sql`` : sql`and (${matching(search)})`,
    walletType === undefined ? sql`` : sql`and wallet_type = ${walletType}`,
    isDeployed === undefined ? sql`` : sql`and (deployment = 'DEPLOYED') = ${isDeployed}`,
    from === undefined ? sql`` : sql`and created_at >= ${from}`,
    before === undefined ? sql`` : sql`and created_at < ${before}`,
  ].reduce((all, filter) => sql`${all} ${filter}`);
}

/** A user's name may look like an address. */
function matching(search: string): Sql {
  const prefix = `${search.replace(/[\\%_]/g, '\\$&')}%`;
  const byName = sql`external_user_id collate "C" like ${prefix} or id = ${search}`;
  const address = parseStarknetAddress(search);
  return address.ok ? sql`${byName} or address = ${address.value}` : byName;
}

export async function getWalletById(reads: Reads, caller: Caller, id: string): Promise<ListedWallet> {
  const row = await reads.one<Row>(sql`select ${columns} from wallets where id = ${id} and ${ofEnvironment(caller)}`);
  if (!row) throw new ApiError('wallet_not_found');
  return toListed(row);
}

const ofEnvironment = ({ organizationId, environment }: Caller): Sql =>
  sql`organization_id = ${organizationId} and environment = ${environment}`;

function toListed(row: Row): ListedWallet {
  return {
    id: row.id,
    externalUserId: row.external_user_id,
    organizationId: row.organization_id,
    apiPublicKey: row.api_public_key,
    publicKey: row.public_key,
    normalizedPublicKey: row.address,
    isDeployed: row.is_deployed,
    walletType: row.wallet_type,
    chain: 'STARKNET',
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    classHash: row.class_hash,
    transactionHash: row.transaction_hash,
    authMethod: row.auth_method,
    deviceType: row.device_type,
  };
}
