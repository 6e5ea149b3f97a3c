import {
  ApiError,
  type Environment,
  type endpoints,
  formatDecimal,
  type Recipient,
  type StarknetAddress,
} from '@svc/protocol';
import { type Database, type Db, type Reads, sql } from '@svc/store';
import { recordChange, serviceOf } from '../audit-log.ts';
import type { IssuedToken, RecipientTokens } from '../auth/user-tokens.ts';
import type { Networks } from '../chains/networks.ts';
import type { Answer, Call, Caller } from '../http/call.ts';
import { findEnvironment, findNewestPublicKey, findOrganization } from '../organizations/organization-store.ts';
import { findBrand } from '../organizations/settings.ts';

export interface RecipientDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet' | 'token'>;
  readonly tokens: RecipientTokens;
  readonly publicUrl: string;
  /** Undefined while there is none. Scaled by 10^`RATE_DECIMALS`. */
  readonly mxnPerUsd: (environment: Environment) => Promise<bigint | undefined>;
}

export interface RecipientRow {
  readonly id: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly address: StarknetAddress;
  readonly redeemId: string;
  readonly hasRecoveryCode: boolean;
  readonly passkeys: number;
}

const selectRecipients = sql`
  select id, organization_id as "organizationId", environment, address, redeem_id as "redeemId",
         recovery_hash is not null as "hasRecoveryCode",
         (select count(*)::integer from recipient_passkeys where recipient_id = recipients.id) as passkeys
    from recipients`;

export const recipientById = (db: Reads, id: string): Promise<RecipientRow | undefined> =>
  db.one(sql`${selectRecipients} where id = ${id}`);

export const recipientAt = (
  db: Reads,
  environment: Environment,
  address: StarknetAddress,
): Promise<RecipientRow | undefined> =>
  db.one(sql`${selectRecipients} where environment = ${environment} and address = ${address}`);

export const recipientByRecovery = (db: Reads, hash: Buffer): Promise<RecipientRow | undefined> =>
  db.one(sql`${selectRecipients} where recovery_hash = ${hash}`);

export interface NewRecipient {
  readonly id: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly address: StarknetAddress;
  readonly redeemId: string;
  readonly recoveryHash: Buffer | undefined;
}

export async function insertRecipient(tx: Db, recipient: NewRecipient): Promise<void> {
  const { id, organizationId, environment, address, redeemId, recoveryHash } = recipient;
  await tx.run(sql`
    insert into recipients (id, organization_id, environment, address, redeem_id, recovery_hash)
    values (${id}, ${organizationId}, ${environment}, ${address}, ${redeemId}, ${recoveryHash ?? null})`);
}

export async function setRecovery(db: Db, id: string, hash: Buffer): Promise<void> {
  await db.run(sql`update recipients set recovery_hash = ${hash} where id = ${id}`);
}

/** Rates have 18 decimals; a page shows amounts to the cent. */
const RATE_DECIMALS = 18;

/** With the names and colours of the organisation, which is the only one that knows this recipient. */
export async function toRecipient(deps: RecipientDeps, row: RecipientRow): Promise<Recipient> {
  const { db, publicUrl } = deps;
  const owner = { organizationId: row.organizationId, environment: row.environment };
  const [organization, settings, key, brand, rate] = await Promise.all([
    findOrganization(db, owner.organizationId),
    findEnvironment(db, owner.organizationId, owner.environment),
    findNewestPublicKey(db, owner),
    findBrand(db.reads, publicUrl, owner),
    deps.mxnPerUsd(owner.environment),
  ]);
  if (!key?.public_key) throw new ApiError('public_key_required');
  return {
    id: row.id,
    walletAddress: row.address,
    apiPublicKey: key.public_key,
    environment: owner.environment,
    orgName: organization?.name ?? '',
    ...(brand && { brand }),
    appUrl: settings?.recipient_app_url ?? null,
    passkeys: row.passkeys,
    hasRecoveryCode: row.hasRecoveryCode,
    mxnPerUsd: rate === undefined ? null : Number(formatDecimal(rate, RATE_DECIMALS)),
  };
}

export const issueToken = (
  { tokens }: Pick<RecipientDeps, 'tokens'>,
  { id, organizationId, environment, address }: RecipientRow,
): Promise<IssuedToken> => tokens.issue({ organizationId, environment, externalUserId: id, walletAddress: address });

/** The recipient of the token. Deleted ones are missing at once, although their tokens live on for minutes. */
export async function requireRecipient(reads: Reads, caller: Caller): Promise<RecipientRow> {
  if (caller.walletAddress === undefined || caller.externalUserId === undefined) {
    throw new ApiError('recipient_required');
  }
  const row = await recipientById(reads, caller.externalUserId);
  if (row?.organizationId !== caller.organizationId || row.environment !== caller.environment) {
    throw new ApiError('wallet_not_found');
  }
  return row;
}

type DeleteRecipient = typeof endpoints.deleteRecipient;

/** Everything that is the recipient's own. The records of the organisation keep the address, which the chain shows anyway. */
export async function deleteRecipient(
  deps: RecipientDeps,
  { caller, query }: Pick<Call<DeleteRecipient>, 'caller' | 'query'>,
): Promise<Answer<DeleteRecipient>> {
  const { db, networks } = deps;
  const row = await requireRecipient(db.reads, caller);
  if (!query.exported) await requireEmpty(networks, row);
  await db.tx(async (tx) => {
    const deleted = await tx.run(sql`delete from recipients where id = ${row.id}`);
    if (deleted !== 1) return;
    await tx.run(sql`
      delete from replaced_encryptions where wallet_id in (
        select id from wallets where environment = ${row.environment} and address = ${row.address})`);
    const wallet = await tx.one<{ id: string }>(sql`
      update wallets
         set external_user_id = 'deleted:' || id, user_id = null, encrypted_private_key = 'deleted',
             encrypted_private_key_backup = null, auth_method = null, credential_id = null, prf_supported = null,
             device_type = null, updated_at = now()
       where environment = ${row.environment} and address = ${row.address} and external_user_id = ${row.id}
      returning id`);
    await tx.run(sql`
      update gifts set recipient_email = null
       where id = (select gift_id from gift_redeems where id = ${row.redeemId})`);
    const actor = serviceOf(row.organizationId, row.environment);
    await recordChange(tx, actor, { action: 'recipient.deleted', target: wallet?.id, changes: {} });
  });
  return { success: true };
}

async function requireEmpty(networks: RecipientDeps['networks'], row: RecipientRow): Promise<void> {
  const token = networks.token(row.environment, 'STARKNET', 'USDC');
  if (!token?.address) return;
  const { chain } = networks.starknet(row.environment);
  if ((await chain.balanceOf(BigInt(token.address), BigInt(row.address))) > 0n) throw new ApiError('wallet_not_empty');
}
