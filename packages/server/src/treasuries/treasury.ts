import {
  type AnswerOf,
  ApiError,
  type BodyOf,
  type ChainToken,
  type Environment,
  type endpoints,
  formatTokenAmount,
  parseTokenAmount,
  type QueryOf,
  type Treasury,
  type TreasuryLimit,
  type TreasuryPolicy,
} from '@svc/protocol';
import {
  ANY_CALLER,
  type Call as ContractCall,
  classes,
  encodeSetLimit,
  encodeSetSigners,
  isPublicKey,
  selector,
  starknetKeccak,
  type TreasuryTerms,
  toHex,
  treasuryDeployment,
} from '@svc/starknet';
import { type Database, type Db, type Reads, type Sql, sql } from '@svc/store';
import { recordChange } from '../audit-log.ts';
import type { Networks } from '../chains/networks.ts';
import { padAddress } from '../chains/starknet/chain.ts';
import type { Crypto } from '../crypto/crypto.ts';
import { type Call, type Caller, microsOf, olderThan, type Place, readCursor, toCursorPage } from '../http/call.ts';
import { readFelt, refuse } from '../http/validation.ts';
import { type AccountDeployment, randomNonce, type Sponsor } from '../relayer/relay.ts';
import { newId } from '../util/ids.ts';

interface PolicySigner {
  readonly name: string;
  /** Hexadecimal, without leading zeros. */
  readonly publicKey: string;
  readonly email: string | null;
}

interface PolicyLimit {
  readonly token: ChainToken;
  readonly address: string;
  readonly threshold: number;
  /** Raw, as decimal text. */
  readonly amount: string;
  readonly windowSeconds: number;
}

/** As stored with the treasury. */
export interface Policy {
  readonly threshold: number;
  readonly signers: readonly PolicySigner[];
  readonly limits: readonly PolicyLimit[];
}

type PolicyBody = Pick<BodyOf<typeof endpoints.createTreasury>, 'signers' | 'threshold' | 'limits'>;
type Tokens = Pick<Networks, 'token'>;

/** Refuses what the contract refuses, with a reason that people understand. */
export function readPolicy(networks: Tokens, environment: Environment, body: PolicyBody): Policy {
  const { threshold } = body;
  const policy = {
    threshold,
    signers: body.signers.map(({ name, publicKey, email = null }, index) => ({
      name,
      publicKey: toHex(readFelt(publicKey, `body.signers[${index}].publicKey`)),
      email,
    })),
    limits: (body.limits ?? []).map((limit, index) => readLimit(networks, environment, limit, index)),
  };
  requireWorking(policy);
  return policy;
}

function readLimit(networks: Tokens, environment: Environment, limit: TreasuryLimit, index: number): PolicyLimit {
  const { token, threshold, windowSeconds } = limit;
  const { address, decimals } = requireToken(networks, environment, token);
  const amount = parseTokenAmount(limit.amount, decimals);
  if (!amount.ok) refuse(`body.limits[${index}].amount`, amount.reason);
  return { token, address, threshold, amount: String(amount.value), windowSeconds };
}

export function requireToken(networks: Tokens, environment: Environment, token: ChainToken) {
  const found = networks.token(environment, 'STARKNET', token);
  if (!found?.address) throw new ApiError('token_not_supported', `${token} is not on Starknet.`);
  return { address: found.address, decimals: found.decimals };
}

function requireWorking({ signers, threshold, limits }: Policy): void {
  const keys = signers.map(({ publicKey }) => publicKey);
  const repeated = keys.find((key, index) => keys.indexOf(key) !== index);
  if (repeated) invalid(`${repeated} is listed twice.`);
  const wrong = keys.find((key) => !isPublicKey(BigInt(key)));
  if (wrong) invalid(`${wrong} is no public key of the Stark curve, so it could never sign.`);
  if (threshold > keys.length) invalid(`${threshold} signatures are needed, and there are ${keys.length} signers.`);
  const tokens = limits.map(({ token }) => token);
  const twice = tokens.find((token, index) => tokens.indexOf(token) !== index);
  if (twice) invalid(`${twice} has two limits.`);
  for (const limit of limits) {
    if (limit.threshold >= threshold) invalid(`The limit of ${limit.token} must need fewer than ${threshold} signers.`);
    if (BigInt(limit.amount) === 0n) invalid(`The limit of ${limit.token} must be above zero.`);
  }
}

function invalid(message: string): never {
  throw new ApiError('invalid_treasury_policy', message);
}

function termsOf({ signers, threshold, limits }: Policy): TreasuryTerms {
  return { signers: signers.map(({ publicKey }) => BigInt(publicKey)), threshold, limits: limits.map(limitTerms) };
}

function limitTerms({ address, threshold, amount, windowSeconds }: PolicyLimit) {
  return {
    token: BigInt(address),
    threshold,
    maxPerWindow: BigInt(amount),
    windowSeconds: BigInt(windowSeconds),
  };
}

export function shownLimits(networks: Tokens, environment: Environment, { limits }: Policy): TreasuryLimit[] {
  return limits.map(({ token, threshold, amount, windowSeconds }) => {
    const { decimals } = requireToken(networks, environment, token);
    return { token, threshold, amount: formatTokenAmount(BigInt(amount), decimals), windowSeconds };
  });
}

/** The treasury's calls to itself that lead from one policy to another. Names and e-mail addresses are not on the chain. */
export function policyCalls(account: bigint, from: Policy, to: Policy): ContractCall[] {
  const own = (name: string, calldata: readonly bigint[]): ContractCall => ({
    to: account,
    selector: selector(name),
    calldata,
  });
  const signersOf = (policy: Policy) => encodeSetSigners(termsOf(policy));
  const signers = String(signersOf(from)) === String(signersOf(to)) ? [] : [own('set_signers', signersOf(to))];
  const set = to.limits.filter((limit) => !from.limits.some((known) => isSameLimit(known, limit)));
  const removed = from.limits.filter(({ address }) => !to.limits.some((limit) => limit.address === address));
  return [
    ...signers,
    ...removed.map(({ address }) => own('remove_limit', [BigInt(address)])),
    ...set.map((limit) => own('set_limit', encodeSetLimit(limitTerms(limit)))),
  ];
}

function isSameLimit(one: PolicyLimit, other: PolicyLimit): boolean {
  return String(encodeSetLimit(limitTerms(one))) === String(encodeSetLimit(limitTerms(other)));
}

const TRANSFER = selector('transfer');
const TRANSFER_FELTS = 3;

/** How many signers are enough, as the contract counts. What a window has left shows when it is executed. */
export function requiredSignatures({ threshold, limits }: Policy, calls: readonly ContractCall[]): number {
  const spent = new Map<bigint, bigint>();
  let required = 0;
  for (const { to, selector: called, calldata } of calls) {
    const limit = limits.find(({ address }) => BigInt(address) === to);
    if (!limit || called !== TRANSFER || calldata.length !== TRANSFER_FELTS) return threshold;
    const [, low = 0n, high = 0n] = calldata;
    const sum = (spent.get(to) ?? 0n) + low + (high << 128n);
    if (sum > BigInt(limit.amount)) return threshold;
    spent.set(to, sum);
    required = Math.max(required, limit.threshold);
  }
  return required === 0 ? threshold : Math.min(required, threshold);
}

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
