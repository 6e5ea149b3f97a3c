import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Reads, type Sql, sql } from '@svc/store';
import type { Relay, RelayState } from './relay.ts';

interface Row {
  readonly id: string;
  readonly environment: Environment;
  readonly chain_id: string;
  readonly kind: Relay['kind'];
  readonly purpose: string;
  readonly message_hash: string;
  readonly wallet: string;
  readonly not_after: Date;
  readonly state: RelayState;
  readonly hash: string | null;
  readonly block_number: bigint | null;
  readonly block_hash: string | null;
  readonly revert_reason: string | null;
  readonly account: string | null;
  readonly nonce: bigint | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const columns = sql`id, environment, chain_id, kind, purpose, message_hash, wallet, not_after, state, hash, block_number,
  block_hash, revert_reason, account, nonce, created_at, updated_at`;

export function findRelay(reads: Reads, id: string): Promise<Relay | undefined> {
  return find(reads, sql`id = ${id}`);
}

/** By the hash of any transaction that was signed for it, also of one that was replaced. */
export async function findRelayByHash(reads: Reads, chainId: bigint, hash: bigint): Promise<Relay | undefined> {
  const [chain, text] = [toHex(chainId), toHex(hash)];
  return (
    (await find(reads, sql`id = (select relay_id from relay_attempts where chain_id = ${chain} and hash = ${text})`)) ??
    find(reads, sql`chain_id = ${chain} and hash = ${text} and account is null`)
  );
}

export function findRelayByPurpose(reads: Reads, chainId: bigint, purpose: string): Promise<Relay | undefined> {
  return find(reads, sql`chain_id = ${toHex(chainId)} and purpose = ${purpose}`);
}

async function find(reads: Reads, which: Sql): Promise<Relay | undefined> {
  const row = await reads.one<Row>(sql`select ${columns} from relays where ${which}`);
  return row && relayOf(row);
}

function relayOf(row: Row): Relay {
  const felt = (text: string | null) => (text === null ? undefined : BigInt(text));
  return {
    id: row.id,
    environment: row.environment,
    chainId: BigInt(row.chain_id),
    kind: row.kind,
    purpose: row.purpose,
    messageHash: BigInt(row.message_hash),
    wallet: BigInt(row.wallet),
    notAfter: row.not_after,
    state: row.state,
    hash: felt(row.hash),
    blockNumber: row.block_number === null ? undefined : Number(row.block_number),
    blockHash: felt(row.block_hash),
    revertReason: row.revert_reason ?? undefined,
    account: felt(row.account),
    nonce: row.nonce ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
