import {
  type AnswerOf,
  ApiError,
  type Environment,
  type endpoints,
  type QueryOf,
  type Treasury,
  type TreasuryPolicy,
} from '@svc/protocol';
import { ANY_CALLER, classes, starknetKeccak, toHex, treasuryDeployment } from '@svc/starknet';
import { type Database, type Db, type Reads, type Sql, sql } from '@svc/store';
import { recordChange } from '../audit-log.ts';
import type { Networks } from '../chains/networks.ts';
import { padAddress } from '../chains/starknet/chain.ts';
import type { Crypto } from '../crypto/crypto.ts';
import { type Call, type Caller, microsOf, olderThan, type Place, readCursor, toCursorPage } from '../http/call.ts';
import type { AccountDeployment, Sponsor } from '../relayer/relay.ts';
import { randomNonce } from '../relayer/relay.ts';
import { newId } from '../util/ids.ts';
import { type Policy, readPolicy, shownLimits, termsOf } from './policy.ts';

export interface TreasuryDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet' | 'token'>;
  readonly crypto: Crypto;
  readonly sponsor: Sponsor;
  readonly publicUrl: string;
}

export interface TreasuryRow {
  readonly id: string;
  readonly organization_id: string;
  readonly environment: Environment;
  readonly name: string;
  readonly address: string;
  readonly class_hash: string;
  readonly salt: string;
  readonly constructor_calldata: readonly string[];
  readonly policy: Policy;
  readonly policy_nonce: string;
  readonly is_deployed: boolean;
  readonly relay_id: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const columns = sql`id, organization_id, environment, name, address, class_hash, salt, constructor_calldata, policy, policy_nonce,
  is_deployed, relay_id, created_at, updated_at`;
const MAX_TREASURIES = 500;
const WINDOW_SECONDS = 3_540n;
const BEFORE_NOW_SECONDS = 60n;

type CreateTreasury = typeof endpoints.createTreasury;

/** Stored with its deployment in one transaction. With an Idempotency-Key the address is the same each time. */
export async function createTreasury(deps: TreasuryDeps, call: Call<CreateTreasury>): Promise<Treasury> {
  const { db, networks, crypto, sponsor } = deps;
  const { caller, body, requestKey } = call;
  const { organizationId, environment } = caller;
  const network = networks.starknet(environment);
  const policy = readPolicy(networks, environment, body);
  const salt =
    requestKey === undefined
      ? randomNonce()
      : starknetKeccak(`treasury ${organizationId} ${environment} ${caller.keyId} ${requestKey}`);
  const { constructorCalldata } = treasuryDeployment(salt, termsOf(policy));
  const deployment = { classHash: classes.treasury, salt, constructorCalldata };
  const account = await crypto.contractAddress({ ...deployment, deployer: 0n });
  await requireRoom(db.reads, caller);
  const now = BigInt(Math.floor((await network.time()).getTime() / 1_000));
  const window = { executeAfter: now - BEFORE_NOW_SECONDS, executeBefore: now + WINDOW_SECONDS };
  const execution = { caller: ANY_CALLER, nonce: salt, ...window, calls: [] };
  const id = newId('trs');
  const user = sponsoredUser({ id, organization_id: organizationId });
  const sponsorship = { kind: 'treasury-deployment', environment, account, deployment, execution, user } as const;
  await sponsor.sponsor({ ...sponsorship, signature: [], messageHash: account }, async (tx, relay) => {
    await insertTreasury(tx, { id, caller, name: body.name, account, deployment, policy, relayId: relay.id });
    const changes = {
      name: body.name,
      address: padAddress(account),
      threshold: policy.threshold,
      signers: policy.signers.length,
    };
    await recordChange(tx, caller, { action: 'treasury.created', target: id, changes });
  });
  const row = await db.reads.one<TreasuryRow>(sql`
    select ${columns} from treasuries where ${ofCaller(caller)} and address = ${padAddress(account)}`);
  if (!row) throw new Error(`The treasury at ${padAddress(account)} was not stored.`);
  return toTreasury(networks, row);
}

interface NewTreasury {
  readonly id: string;
  readonly caller: Caller;
  readonly name: string;
  readonly account: bigint;
  readonly deployment: AccountDeployment;
  readonly policy: Policy;
  readonly relayId: string;
}

async function insertTreasury(tx: Db, given: NewTreasury): Promise<void> {
  const { id, caller, name, account, deployment, policy, relayId } = given;
  const { classHash, salt, constructorCalldata } = deployment;
  await tx.run(sql`
    insert into treasuries (id, organization_id, environment, name, address, class_hash, salt, constructor_calldata, policy,
                            policy_nonce, relay_id)
    values (${id}, ${caller.organizationId}, ${caller.environment}, ${name}, ${padAddress(account)}, ${toHex(classHash)},
            ${toHex(salt)}, ${constructorCalldata.map(toHex)}, ${JSON.stringify(policy)}::jsonb, ${toHex(randomNonce())},
            ${relayId})`);
}

/** Counts on the organisation's day, as a user of its own. */
export const sponsoredUser = ({ id, organization_id }: Pick<TreasuryRow, 'id' | 'organization_id'>) => ({
  organizationId: organization_id,
  externalUserId: `treasury:${id}`,
});

async function requireRoom(reads: Reads, caller: Caller): Promise<void> {
  const row = await reads.one<{ treasuries: number }>(sql`
    select count(*)::integer as treasuries from treasuries where ${ofCaller(caller)}`);
  if ((row?.treasuries ?? 0) >= MAX_TREASURIES) throw new ApiError('treasury_limit_reached');
}

const ofCaller = ({ organizationId, environment }: Caller): Sql =>
  sql`organization_id = ${organizationId} and environment = ${environment}`;

export function deploymentOf({ class_hash, salt, constructor_calldata }: TreasuryRow): AccountDeployment {
  return {
    classHash: BigInt(class_hash),
    salt: BigInt(salt),
    constructorCalldata: constructor_calldata.map(BigInt),
  };
}

/** Another organisation's treasury is a missing one. */
export async function requireTreasury(reads: Reads, caller: Caller, id: string): Promise<TreasuryRow> {
  const row = await reads.one<TreasuryRow>(sql`
    select ${columns} from treasuries where id = ${id} and ${ofCaller(caller)}`);
  if (!row) throw new ApiError('treasury_not_found');
  return row;
}

/** Orders everything that changes the proposals of a treasury. */
export async function lockTreasury(tx: Db, id: string): Promise<TreasuryRow> {
  const row = await tx.one<TreasuryRow>(sql`select ${columns} from treasuries where id = ${id} for update`);
  if (!row) throw new Error(`The treasury ${id} is gone.`);
  return row;
}

export async function setPolicy(tx: Db, id: string, policy: Policy): Promise<void> {
  await tx.run(sql`
    update treasuries set policy = ${JSON.stringify(policy)}::jsonb, updated_at = now() where id = ${id}`);
}

/** A relay took the nonce, whatever came of it, so the next change has another. */
export async function renewPolicyNonce(tx: Db, id: string): Promise<void> {
  await tx.run(sql`update treasuries set policy_nonce = ${toHex(randomNonce())} where id = ${id}`);
}

export async function markDeployed(tx: Db, environment: Environment, account: bigint): Promise<void> {
  await tx.run(sql`
    update treasuries set is_deployed = true, updated_at = now()
     where environment = ${environment} and address = ${padAddress(account)} and not is_deployed`);
}

type ListTreasuries = typeof endpoints.listTreasuries;

export async function listTreasuries(
  { db, networks }: TreasuryDeps,
  caller: Caller,
  query: QueryOf<ListTreasuries>,
): Promise<AnswerOf<ListTreasuries>> {
  const { limit, after } = readCursor(query);
  const rows = await db.lists.rows<TreasuryRow & Place>(
    sql`
      select ${columns}, ${microsOf(sql`created_at`)} as micros from treasuries
       where ${ofCaller(caller)} ${olderThan(after, sql`created_at`, sql`id`)}
       order by created_at desc, id desc limit ${limit + 1}`.unnamed,
  );
  return toCursorPage(rows, limit, (row) => toTreasury(networks, row));
}

export function toTreasury(networks: TreasuryDeps['networks'], row: TreasuryRow): Treasury {
  return {
    id: row.id,
    name: row.name,
    chain: 'STARKNET',
    address: row.address,
    classHash: row.class_hash,
    isDeployed: row.is_deployed,
    ...shownPolicy(networks, row),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

function shownPolicy(networks: TreasuryDeps['networks'], { environment, policy }: TreasuryRow) {
  const signers = policy.signers.map((signer) => ({ ...signer }));
  return { threshold: policy.threshold, signers, limits: shownLimits(networks, environment, policy) };
}

export async function getPolicy({ db, networks }: TreasuryDeps, caller: Caller, id: string): Promise<TreasuryPolicy> {
  const treasury = await requireTreasury(db.reads, caller, id);
  const open = await db.reads.one<{ id: string }>(sql`
    select id from treasury_proposals
     where treasury_id = ${id} and kind = 'POLICY' and state in ('PENDING', 'READY', 'EXECUTING')`);
  return { ...shownPolicy(networks, treasury), openProposalId: open?.id ?? null };
}
