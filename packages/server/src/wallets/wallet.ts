import {
  type AnswerOf,
  ApiError,
  type Environment,
  type EventData,
  type endpoints,
  type ListedWallet,
  parseStarknetAddress,
  type QueryOf,
  type StarknetAddress,
  type Wallet,
  type WalletType,
} from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import { publishEvent } from '../events/events.ts';
import { type Caller, microsOf, olderThan, type Place, readCursor, toCursorPage } from '../http/call.ts';
import { readTimeRange } from '../http/validation.ts';

export interface WalletRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly externalUserId: string;
  readonly apiPublicKey: string;
  /** As given at creation. */
  readonly publicKey: string;
  readonly address: StarknetAddress;
  readonly walletType: WalletType;
  readonly classHash: bigint;
  /** From the constructor calldata. */
  readonly ownerKey: bigint;
  readonly salt: bigint;
  readonly constructorCalldata: readonly bigint[];
  readonly isDeployed: boolean;
  readonly relayId: string | undefined;
  readonly encryptedPrivateKey: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

type DeploymentState = 'PENDING' | 'DEPLOYED' | 'FAILED';

export interface StoredWallet extends WalletRecord {
  readonly deployment: DeploymentState;
  /** Undefined until a paymaster tells it. */
  readonly transactionHash: string | undefined;
}

interface WalletRow {
  readonly id: string;
  readonly organization_id: string;
  readonly environment: Environment;
  readonly external_user_id: string;
  readonly api_public_key: string;
  readonly public_key: string;
  readonly address: StarknetAddress;
  readonly wallet_type: WalletType;
  readonly class_hash: string;
  readonly owner_key: string;
  readonly salt: string;
  readonly constructor_calldata: string[];
  readonly deployment: DeploymentState;
  readonly relay_id: string | null;
  readonly transaction_hash: string | null;
  readonly encrypted_private_key: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const columns = sql`id, organization_id, environment, external_user_id, api_public_key, public_key, address, wallet_type, class_hash,
  owner_key, salt, constructor_calldata, deployment, relay_id, transaction_hash, encrypted_private_key, created_at, updated_at`;

export interface User {
  readonly organizationId: string;
  readonly environment: Environment;
  readonly externalUserId: string;
}

export function isOwnedBy(user: User, wallet: User): boolean {
  return user.organizationId === wallet.organizationId && user.externalUserId === wallet.externalUserId;
}

export async function walletAt(
  reads: Reads,
  environment: Environment,
  address: StarknetAddress,
): Promise<StoredWallet | undefined> {
  const row = await reads.one<WalletRow>(sql`
    select ${columns} from wallets where environment = ${environment} and address = ${address}`);
  return row && fromRow(row);
}

async function selectWalletsAt(
  reads: Reads,
  environment: Environment,
  addresses: readonly StarknetAddress[],
): Promise<StoredWallet[]> {
  const rows = await reads.rows<WalletRow>(sql`
    select ${columns} from wallets where environment = ${environment} and address = any(${addresses})`);
  return rows.map(fromRow);
}

export async function walletsOfUser(reads: Reads, user: User, limit: number): Promise<StoredWallet[]> {
  const rows = await reads.rows<WalletRow>(sql`
    select ${columns} from wallets where ${ofUser(user)} order by created_at desc, id desc limit ${limit}`);
  return rows.map(fromRow);
}

/** The newest whose deployment did not fail. */
export async function walletOfType(
  reads: Reads,
  user: User,
  walletType: WalletType,
): Promise<StoredWallet | undefined> {
  const row = await reads.one<WalletRow>(sql`
    select ${columns} from wallets
     where ${ofUser(user)} and wallet_type = ${walletType} and deployment <> 'FAILED'
     order by created_at desc, id desc limit 1`);
  return row && fromRow(row);
}

/** Until the transaction ends. Creations of one user take turns, so that each sees the wallets of the others. */
export async function lockUser(tx: Db, { organizationId, environment, externalUserId }: User): Promise<void> {
  const name = JSON.stringify(['wallets of user', organizationId, environment, externalUserId]);
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
}

interface CredentialRow {
  readonly credential_id: string | null;
  readonly auth_method: string | null;
  readonly prf_supported: boolean | null;
  readonly device_type: string | null;
}

function newestCredential(reads: Reads, user: User): Promise<CredentialRow | undefined> {
  return reads.one(sql`
    select credential_id, auth_method, prf_supported, device_type
    from wallets where ${ofUser(user)} order by created_at desc, id desc limit 1`);
}

interface NewWalletDetails {
  readonly userId: string | undefined;
  readonly encryptedPrivateKey: string;
  readonly encryptedPrivateKeyBackup: string | undefined;
  readonly authMethod: string | undefined;
  readonly credentialId: string | undefined;
  readonly prfSupported: boolean | undefined;
  readonly deviceType: string | undefined;
}

export type NewWallet = Omit<
  WalletRecord,
  'isDeployed' | 'relayId' | 'createdAt' | 'updatedAt' | 'encryptedPrivateKey'
> &
  NewWalletDetails & { readonly relayId: string; readonly transactionHash: string | undefined };

/** Undefined when it exists. */
export function saveWallet(tx: Db, wallet: NewWallet): Promise<StoredWallet | undefined> {
  return insertWallet(tx, wallet, sql`nothing`);
}

/** Of the same user, after a failed deployment; undefined otherwise. */
export function saveWalletAgain(tx: Db, wallet: NewWallet): Promise<StoredWallet | undefined> {
  return insertWallet(
    tx,
    wallet,
    sql`update
    set user_id = excluded.user_id, wallet_type = excluded.wallet_type, class_hash = excluded.class_hash,
        owner_key = excluded.owner_key, relay_id = excluded.relay_id, transaction_hash = excluded.transaction_hash,
        deployment = 'PENDING', encrypted_private_key = excluded.encrypted_private_key,
        encrypted_private_key_backup = excluded.encrypted_private_key_backup, auth_method = excluded.auth_method,
        credential_id = excluded.credential_id, prf_supported = excluded.prf_supported,
        device_type = excluded.device_type, updated_at = now()
    where w.organization_id = excluded.organization_id and w.external_user_id = excluded.external_user_id
      and w.deployment = 'FAILED'`,
  );
}

async function insertWallet(tx: Db, wallet: NewWallet, ifThere: Sql): Promise<StoredWallet | undefined> {
  const row = await tx.one<WalletRow>(sql`
    insert into wallets as w (id, organization_id, environment, external_user_id, user_id, api_public_key, public_key, address,
      wallet_type, class_hash, owner_key, salt, constructor_calldata, relay_id, transaction_hash, encrypted_private_key,
      encrypted_private_key_backup, auth_method, credential_id, prf_supported, device_type)
    values (${wallet.id}, ${wallet.organizationId}, ${wallet.environment}, ${wallet.externalUserId}, ${wallet.userId},
      ${wallet.apiPublicKey}, ${wallet.publicKey}, ${wallet.address}, ${wallet.walletType}, ${toHex(wallet.classHash)},
      ${toHex(wallet.ownerKey)}, ${toHex(wallet.salt)}, ${wallet.constructorCalldata.map(toHex)}, ${wallet.relayId},
      ${wallet.transactionHash}, ${wallet.encryptedPrivateKey}, ${wallet.encryptedPrivateKeyBackup}, ${wallet.authMethod},
      ${wallet.credentialId}, ${wallet.prfSupported}, ${wallet.deviceType})
    on conflict (environment, address) do ${ifThere}
    returning ${columns}`);
  return row && fromRow(row);
}

/** For paymasters, which tell the hash late. */
export async function setTransactionHash(db: Db, relayId: string, hash: string): Promise<void> {
  await db.run(sql`update wallets set transaction_hash = ${hash} where relay_id = ${relayId}`);
}

/** By account: after a reorganisation an earlier relay may be the one that succeeds. */
export async function setDeployed(
  tx: Db,
  wallet: { environment: Environment; address: StarknetAddress; relayId: string; hash: string | undefined },
): Promise<void> {
  const row = await tx.one<WalletRow>(sql`
    update wallets
    set deployment = 'DEPLOYED', relay_id = ${wallet.relayId}, transaction_hash = coalesce(${wallet.hash}, transaction_hash),
        updated_at = now()
    where environment = ${wallet.environment} and address = ${wallet.address}
    returning ${columns}`);
  if (row) await publishCreated(tx, fromRow(row));
}

/** Once, also where a reorganisation deploys it again. The encrypted key stays here: events are kept and sent. */
async function publishCreated(tx: Db, wallet: StoredWallet): Promise<void> {
  const { id: subject, organizationId, environment } = wallet;
  const { encryptedPrivateKey: _, ...rest } = toWallet(wallet);
  const data: EventData['wallet.created'] = rest;
  await publishEvent(tx, { organizationId, environment, type: 'wallet.created', subject, data });
}

export async function setFailed(tx: Db, relayId: string, hash: string | undefined): Promise<void> {
  await tx.run(sql`
    update wallets
    set deployment = 'FAILED', transaction_hash = coalesce(${hash}, transaction_hash), updated_at = now()
    where relay_id = ${relayId}`);
}

export async function organizationOf(
  reads: Reads,
  { environment, address }: { environment: Environment; address: StarknetAddress },
): Promise<string | undefined> {
  const row = await reads.one<{ organizationId: string }>(sql`
    select organization_id as "organizationId" from wallets where environment = ${environment} and address = ${address}`);
  return row?.organizationId;
}

export async function setClass(
  db: Db,
  wallet: { environment: Environment; address: StarknetAddress; classHash: bigint; walletType: WalletType },
): Promise<boolean> {
  const changed = await db.run(sql`
    update wallets set class_hash = ${toHex(wallet.classHash)}, wallet_type = ${wallet.walletType}, updated_at = now()
    where environment = ${wallet.environment} and address = ${wallet.address} and class_hash <> ${toHex(wallet.classHash)}`);
  return changed === 1;
}

function ofUser({ organizationId, environment, externalUserId }: User): Sql {
  return sql`organization_id = ${organizationId} and environment = ${environment} and external_user_id = ${externalUserId}`;
}

function fromRow(row: WalletRow): StoredWallet {
  return {
    id: row.id,
    organizationId: row.organization_id,
    environment: row.environment,
    externalUserId: row.external_user_id,
    apiPublicKey: row.api_public_key,
    publicKey: row.public_key,
    address: row.address,
    walletType: row.wallet_type,
    classHash: BigInt(row.class_hash),
    ownerKey: BigInt(row.owner_key),
    salt: BigInt(row.salt),
    constructorCalldata: row.constructor_calldata.map(BigInt),
    isDeployed: row.deployment === 'DEPLOYED',
    deployment: row.deployment,
    relayId: row.relay_id ?? undefined,
    transactionHash: row.transaction_hash ?? undefined,
    encryptedPrivateKey: row.encrypted_private_key,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** A page of events has fewer parties. */
const MAX_ADDRESSES = 10_000;

/** Not found: wallets of other organisations and, for a user's token, of other users. */
export async function findWallet(
  reads: Reads,
  caller: Caller,
  address: StarknetAddress,
): Promise<StoredWallet | undefined> {
  const wallet = await walletAt(reads, caller.environment, address);
  if (wallet?.organizationId !== caller.organizationId) return undefined;
  return mayActFor(caller, wallet.externalUserId) ? wallet : undefined;
}

/** Of all organisations. */
export async function walletsAt(
  reads: Reads,
  environment: Environment,
  addresses: readonly StarknetAddress[],
): Promise<WalletRecord[]> {
  if (addresses.length > MAX_ADDRESSES)
    throw new RangeError(`At most ${MAX_ADDRESSES} addresses can be looked up at once.`);
  return addresses.length === 0 ? [] : selectWalletsAt(reads, environment, addresses);
}

/** A secret key acts for every user of its organisation, a token for its user. */
export function mayActFor(caller: Caller, externalUserId: string): boolean {
  return caller.proof !== 'user token' || caller.externalUserId === externalUserId;
}

/** Not found for another user's token. */
export async function newestWallet(reads: Reads, caller: Caller, externalUserId: string): Promise<WalletRecord> {
  const [wallet] = await walletsOfUser(reads, userOf(caller, externalUserId), 1);
  return wallet ?? missing();
}

type Credential = AnswerOf<typeof endpoints.recoverCredential>;

export async function recoverCredential(reads: Reads, caller: Caller, externalUserId: string): Promise<Credential> {
  const row = await newestCredential(reads, userOf(caller, externalUserId));
  if (!row) return missing();
  return {
    credentialId: row.credential_id,
    authMethod: row.auth_method,
    prfSupported: row.prf_supported,
    deviceType: row.device_type,
  };
}

function userOf(caller: Caller, externalUserId: string): User {
  if (!mayActFor(caller, externalUserId)) missing();
  return { ...caller, externalUserId };
}

function missing(): never {
  throw new ApiError('wallet_not_found');
}

export function toWallet(record: WalletRecord): Wallet {
  return {
    id: record.id,
    externalUserId: record.externalUserId,
    organizationId: record.organizationId,
    apiPublicKey: record.apiPublicKey,
    publicKey: record.publicKey,
    normalizedPublicKey: record.address,
    encryptedPrivateKey: record.encryptedPrivateKey,
    isDeployed: record.isDeployed,
    walletType: record.walletType,
    chain: 'STARKNET',
    createdAt: record.createdAt.toISOString(),
    updatedAt: record.updatedAt.toISOString(),
  };
}

export async function requireWallet(reads: Reads, caller: Caller, address: StarknetAddress): Promise<WalletRecord> {
  const wallet = await findWallet(reads, caller, address);
  if (!wallet) throw new ApiError('wallet_not_found', `No wallet of yours has the address ${address}.`);
  return wallet;
}

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
const listColumns = sql`id, ${microsOf(sql`created_at`)} as micros, external_user_id, organization_id, api_public_key, public_key, address,
  wallet_type, class_hash, deployment = 'DEPLOYED' as is_deployed, transaction_hash, auth_method, device_type, created_at, updated_at`;

export async function listWallets(lists: Reads, caller: Caller, query: QueryOf<Endpoint>): Promise<AnswerOf<Endpoint>> {
  const { limit, after } = readCursor(query);
  const rows = await lists.rows<Row>(
    sql`
      select ${listColumns} from wallets
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
  const row = await reads.one<Row>(
    sql`select ${listColumns} from wallets where id = ${id} and ${ofEnvironment(caller)}`,
  );
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
