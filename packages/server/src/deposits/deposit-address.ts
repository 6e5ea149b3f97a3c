import { ApiError, type Environment, formatUsd, parseStarknetAddress, type StarknetAddress } from '@svc/protocol';
import { constructorCalldata, selector, starknetKeccak, toHex } from '@svc/starknet';
import { type Database, type Db, type Reads, sql } from '@svc/store';
import { recordChange, serviceOf } from '../audit-log.ts';
import type { Networks } from '../chains/networks.ts';
import { addressOf, padAddress, transfersIn } from '../chains/starknet/chain.ts';
import type { Crypto } from '../crypto/crypto.ts';
import type { Jobs } from '../http/module.ts';
import type { JobLog } from '../jobs/job.ts';
import type { LedgerOwner } from '../ledger/ledger.ts';
import type { OutcomeHandlers } from '../relayer/outcome.ts';
import type { Payer } from '../relayer/payer.ts';
import type { AccountDeployment, Sponsor } from '../relayer/relay.ts';
import { errorText } from '../util/text.ts';
import { currentClass } from '../wallets/wallet-class.ts';

export interface DepositAddressDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet' | 'environments'>;
  readonly crypto: Pick<Crypto, 'contractAddress'>;
  readonly payer: Pick<Payer, 'publicKey'>;
}

interface DepositAddress extends LedgerOwner {
  readonly address: StarknetAddress;
  readonly deployment: AccountDeployment;
}

/** Derived and stored at the first call. Undefined where the environment has no chain or no manager. */
export async function depositAddress(
  deps: DepositAddressDeps,
  owner: LedgerOwner,
): Promise<DepositAddress | undefined> {
  const { db, networks, payer } = deps;
  const { environment } = owner;
  if (!networks.environments().includes(environment)) return undefined;
  const publicKey = payer.publicKey(environment);
  if (publicKey === undefined) return undefined;
  const known = await findAddress(db.reads, owner, publicKey);
  if (known) return known;
  await insertAddress(db, await deriveAddress(deps, owner, publicKey));
  return findAddress(db, owner, publicKey);
}

/** Bounds the memory: an entry has about 300 bytes. */
const MAX_REMEMBERED = 10_000;

/** Reads an address once: it never changes while the process and its manager's key live. */
export function depositAddressReader(deps: DepositAddressDeps): (owner: LedgerOwner) => Promise<string | null> {
  const remembered = new Map<string, string>();
  return async (owner) => {
    const key = `${owner.organizationId} ${owner.environment}`;
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const address = (await depositAddress(deps, owner))?.address;
    if (address === undefined) return null;
    const [oldest] = remembered.keys();
    if (remembered.size >= MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    remembered.set(key, address);
    return address;
  };
}

/** Follows from class, organisation, environment and the manager's key alone. */
export async function deriveAddress(
  { networks, crypto }: Pick<DepositAddressDeps, 'networks' | 'crypto'>,
  { organizationId, environment }: LedgerOwner,
  publicKey: bigint,
): Promise<DepositAddress> {
  const deployment = {
    classHash: currentClass(networks.starknet(environment), 'SVC'),
    salt: starknetKeccak(`svc deposit address ${organizationId} ${environment}`),
    constructorCalldata: constructorCalldata('SVC', publicKey),
  };
  const address = addressOf(await crypto.contractAddress({ ...deployment, deployer: 0n }));
  return { organizationId, environment, address, deployment };
}

interface AddressRow extends LedgerOwner {
  readonly address: StarknetAddress;
  readonly public_key: string;
  readonly class_hash: string;
  readonly salt: string;
}

const addressColumns = sql`organization_id as "organizationId", environment, address, public_key, class_hash, salt`;

function addressOfRow({
  organizationId,
  environment,
  address,
  public_key,
  class_hash,
  salt,
}: AddressRow): DepositAddress {
  const calldata = constructorCalldata('SVC', BigInt(public_key));
  const deployment = { classHash: BigInt(class_hash), salt: BigInt(salt), constructorCalldata: calldata };
  return { organizationId, environment, address, deployment };
}

async function findAddress(
  reads: Reads,
  { organizationId, environment }: LedgerOwner,
  publicKey: bigint,
): Promise<DepositAddress | undefined> {
  const row = await reads.one<AddressRow>(sql`
    select ${addressColumns} from deposit_addresses
     where organization_id = ${organizationId} and environment = ${environment} and public_key = ${toHex(publicKey)}`);
  return row && addressOfRow(row);
}

export async function insertAddress(db: Db, { organizationId, environment, address, deployment }: DepositAddress) {
  const { classHash, salt, constructorCalldata: calldata } = deployment;
  await db.run(sql`
    insert into deposit_addresses (environment, address, organization_id, public_key, class_hash, salt)
    values (${environment}, ${address}, ${organizationId}, ${toHex(calldata[0] ?? 0n)}, ${toHex(classHash)}, ${toHex(salt)})
    on conflict do nothing`);
}

/** A key that is no longer the manager's may be known to others, who could take out what is credited here. */
export async function ownersOf(
  reads: Reads,
  environment: Environment,
  publicKey: bigint,
  addresses: readonly bigint[],
): Promise<ReadonlyMap<bigint, LedgerOwner>> {
  const possible = [...new Set(addresses)].flatMap((address) => {
    const parsed = parseStarknetAddress(toHex(address));
    return parsed.ok ? [parsed.value] : [];
  });
  if (possible.length === 0) return new Map();
  const rows = await reads.rows<AddressRow>(sql`
    select ${addressColumns} from deposit_addresses
     where environment = ${environment} and address = any(${possible}) and public_key = ${toHex(publicKey)}`);
  return new Map(rows.map(({ address, organizationId }) => [BigInt(address), { organizationId, environment }]));
}

export async function hasAddresses(reads: Reads, environment: Environment, publicKey: bigint): Promise<boolean> {
  const row = await reads.one(sql`
    select from deposit_addresses where environment = ${environment} and public_key = ${toHex(publicKey)} limit 1`);
  return row !== undefined;
}

export interface SweepDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet' | 'token'>;
  readonly payer: Pick<Payer, 'manager' | 'publicKey' | 'signExecution'>;
  readonly sponsor: Sponsor;
  readonly log: JobLog;
}

/** 1 USDC: less is not worth the gas, and waits for more. */
export const MIN_SWEEP = 1_000_000n;
/** Each is estimated and sent within seconds; the next run continues. */
const MAX_SWEEPS = 20;
const RETRY_SECONDS = 60;
const EVERY_SECONDS = 15;

export interface SweepJobDeps extends SweepDeps {
  readonly environments: readonly Environment[];
}

export function sweepJobs(deps: SweepJobDeps): Jobs {
  const taskOf = (environment: Environment) => `sweep-deposits-${environment}`;
  return {
    handlers: Object.fromEntries(
      deps.environments.map((each) => [
        taskOf(each),
        (_: unknown, { signal }: { signal: AbortSignal }) => sweepDeposits(deps, each, signal),
      ]),
    ),
    recurring: deps.environments.map((each) => ({ task: taskOf(each), everySeconds: EVERY_SECONDS })),
  };
}

/** Sends USDC of deposit addresses to the manager, who pays with it. */
export async function sweepDeposits(deps: SweepDeps, environment: Environment, signal?: AbortSignal): Promise<void> {
  const { db, payer, log } = deps;
  const publicKey = payer.publicKey(environment);
  if (publicKey === undefined) return;
  for (const due of await dueSweeps(db.reads, environment, publicKey)) {
    if (signal?.aborted) return;
    await sweep(deps, due).catch(async (error: unknown) => {
      log.warn({ address: due.address, reason: errorText(error) }, 'deposit address not swept');
      await postponeSweep(db, due);
    });
  }
}

/** The balance decides, so that a sweep may be lost, repeated or made by anyone. */
async function sweep({ db, networks, payer, sponsor }: SweepDeps, due: DueSweep): Promise<void> {
  const { environment } = due;
  const { chain } = networks.starknet(environment);
  const usdc = BigInt(networks.token(environment, 'STARKNET', 'USDC')?.address ?? 0);
  const account = BigInt(due.address);
  const balance = await chain.balanceOf(usdc, account);
  if (balance < MIN_SWEEP) return clearSweep(db, due);
  const isDeployed = (await chain.classHashAt(account, 'pre_confirmed')) !== undefined;
  const deployment = isDeployed ? undefined : due.deployment;
  const calldata = [payer.manager(environment), balance & WORD, balance >> WORD_BITS];
  const calls = [{ to: usdc, selector: selector('transfer'), calldata }];
  const execution = await sponsor.prepare({ environment, account, deployment, calls });
  const signed = await payer.signExecution(environment, account, execution);
  const user = { organizationId: due.organizationId, externalUserId: undefined };
  const sponsorship = { environment, account, deployment, execution, ...signed, kind: 'sweep', user } as const;
  await sponsor.sponsor(sponsorship, (tx, { id }) => beginSweep(tx, due, id));
}

const WORD_BITS = 128n;
const WORD = 2n ** WORD_BITS - 1n;

/** A failed one is tried again later, one that succeeded leaves nothing, and the balance shows it. */
export function sweepOutcomes(): Pick<OutcomeHandlers, 'sweep'> {
  return {
    sweep: async (tx, { relayId, environment, account, result, receipt }) => {
      const address = padAddress(account);
      const seconds = result === 'SUCCEEDED' ? 0 : RETRY_SECONDS;
      const organizationId = await endSweep(tx, { environment, address, relayId }, seconds);
      if (result !== 'SUCCEEDED' || !receipt || organizationId === undefined) return;
      const amount = transfersIn(receipt).reduce(
        (sum, { from, amount }) => (from === account ? sum + amount : sum),
        0n,
      );
      const changes = { amountUsd: formatUsd(amount), transactionHash: toHex(receipt.transactionHash) };
      const actor = serviceOf(organizationId, environment);
      await recordChange(tx, actor, { action: 'deposit.swept', target: address, changes });
    },
  };
}

export async function requestSweep(tx: Db, environment: Environment, addresses: readonly string[]): Promise<void> {
  await tx.run(sql`
    update deposit_addresses set sweep_at = clock_timestamp(), unswept_since = coalesce(unswept_since, now())
     where environment = ${environment} and address = any(${addresses})`);
}

interface DueSweep extends DepositAddress {
  readonly relayId: string | null;
  /** As the database writes it, with microseconds. */
  readonly sweepAt: string;
}

/** Twice the window of an outside execution: by then a stored sweep cannot be executed any more. */
const OVER_AFTER_HOURS = 2;

async function dueSweeps(reads: Reads, environment: Environment, publicKey: bigint): Promise<DueSweep[]> {
  const rows = await reads.rows<AddressRow & Pick<DueSweep, 'relayId' | 'sweepAt'>>(sql`
    select ${addressColumns}, relay_id as "relayId", sweep_at::text as "sweepAt"
      from deposit_addresses
     where environment = ${environment} and public_key = ${toHex(publicKey)} and sweep_at <= now()
       and (relay_id is null or exists (
         select from relays
          where id = relay_id and created_at < now() - make_interval(hours => ${OVER_AFTER_HOURS})))
     order by sweep_at limit ${MAX_SWEEPS}`);
  return rows.map((row) => ({ ...addressOfRow(row), relayId: row.relayId, sweepAt: row.sweepAt }));
}

async function beginSweep(tx: Db, { environment, address, relayId }: DueSweep, id: string): Promise<void> {
  const begun = await tx.run(sql`
    update deposit_addresses set relay_id = ${id}
     where environment = ${environment} and address = ${address} and relay_id is not distinct from ${relayId}`);
  if (begun === 0) throw new ApiError('chain_unavailable', 'Another process sweeps this address.');
}

/** Unless something has arrived since `sweepAt` was read. */
async function clearSweep(db: Db, { environment, address, sweepAt }: DueSweep): Promise<void> {
  await db.run(sql`
    update deposit_addresses set sweep_at = null, unswept_since = null
     where environment = ${environment} and address = ${address} and sweep_at = ${sweepAt}::timestamptz`);
}

async function postponeSweep(db: Db, { environment, address, sweepAt }: DueSweep): Promise<void> {
  await db.run(sql`
    update deposit_addresses set sweep_at = now() + make_interval(secs => ${RETRY_SECONDS})
     where environment = ${environment} and address = ${address} and sweep_at = ${sweepAt}::timestamptz`);
}

interface EndedSweep {
  readonly environment: Environment;
  readonly address: string;
  readonly relayId: string;
}

async function endSweep(
  tx: Db,
  { environment, address, relayId }: EndedSweep,
  seconds: number,
): Promise<string | undefined> {
  const row = await tx.one<{ organizationId: string }>(sql`
    update deposit_addresses
       set relay_id = nullif(relay_id, ${relayId}), sweep_at = clock_timestamp() + make_interval(secs => ${seconds}),
           unswept_since = coalesce(unswept_since, now())
     where environment = ${environment} and address = ${address}
    returning organization_id as "organizationId"`);
  return row?.organizationId;
}
