import { type Environment, parseStarknetAddress, type StarknetAddress } from '@svc/protocol';
import { constructorCalldata, starknetKeccak, toHex } from '@svc/starknet';
import { type Database, type Db, type Reads, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { addressOf } from '../chains/starknet/chain.ts';
import type { Crypto } from '../crypto/crypto.ts';
import type { LedgerOwner } from '../ledger/ledger.ts';
import type { Payer } from '../relayer/payer.ts';
import type { AccountDeployment } from '../relayer/relay.ts';
import { currentClass } from '../wallets/wallet-class.ts';

export interface DepositAddressDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet' | 'environments'>;
  readonly crypto: Pick<Crypto, 'contractAddress'>;
  readonly payer: Pick<Payer, 'publicKey'>;
}

export interface DepositAddress extends LedgerOwner {
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

export interface AddressRow extends LedgerOwner {
  readonly address: StarknetAddress;
  readonly public_key: string;
  readonly class_hash: string;
  readonly salt: string;
}

export const addressColumns = sql`organization_id as "organizationId", environment, address, public_key, class_hash, salt`;

export function addressOfRow({
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
