import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import { padAddress } from '../../chains/starknet/chain.ts';
import { traceparent } from '../../util/trace.ts';
import type { RelayKind, RelayState, SponsoredUser } from '../relay.ts';
import { type BudgetShare, budgetColumns, budgetValues } from '../relay-store.ts';
import type { ExecuteRequest } from './client.ts';

export interface PaymasterRelay {
  readonly id: string;
  readonly environment: Environment;
  readonly organizationId: string | undefined;
  readonly kind: RelayKind;
  readonly wallet: bigint;
  readonly notAfter: Date;
  readonly state: RelayState;
  readonly hash: bigint | undefined;
  readonly content: PaymasterContent;
  readonly createdAt: Date;
  /** Since the last send or hash, by the database's clock. */
  readonly restedMs: number;
}

export interface PaymasterContent {
  readonly request: ExecuteRequest;
  readonly fromBlock: number;
  /** Counted before each send. */
  readonly sends: number;
}

interface Row {
  readonly id: string;
  readonly environment: Environment;
  readonly organization_id: string | null;
  readonly kind: RelayKind;
  readonly wallet: string;
  readonly not_after: Date;
  readonly state: RelayState;
  readonly hash: string | null;
  readonly content: PaymasterContent;
  readonly created_at: Date;
  readonly rested_ms: number;
}

const columns = sql`id, environment, organization_id, kind, wallet, not_after, state, hash, content, created_at,
  (extract(epoch from now() - updated_at) * 1000)::float8 as rested_ms`;

export interface NewRelay {
  readonly id: string;
  readonly environment: Environment;
  readonly chainId: bigint;
  readonly kind: RelayKind;
  readonly purpose: string;
  readonly messageHash: bigint;
  readonly wallet: bigint;
  readonly notAfter: Date;
  readonly request: ExecuteRequest;
  readonly fromBlock: number;
  readonly user: SponsoredUser;
  readonly budget: BudgetShare | undefined;
}

export async function insertPaymasterRelay(tx: Db, relay: NewRelay): Promise<boolean> {
  const content: PaymasterContent = { request: relay.request, fromBlock: relay.fromBlock, sends: 0 };
  const added = await tx.run(sql`
    insert into relays (id, environment, chain_id, kind, purpose, message_hash, wallet, not_after, content, traceparent,
      ${budgetColumns})
    values (${relay.id}, ${relay.environment}, ${toHex(relay.chainId)}, ${relay.kind}, ${relay.purpose},
            ${toHex(relay.messageHash)}, ${padAddress(relay.wallet)}, ${relay.notAfter}, ${JSON.stringify(content)}::jsonb,
            ${traceparent() ?? null},
            ${budgetValues(relay.user, relay.budget)})
    on conflict (chain_id, purpose) do nothing`);
  return added === 1;
}

export async function readRelay(db: Db, id: string): Promise<PaymasterRelay | undefined> {
  const row = await db.one<Row>(sql`select ${columns} from relays where id = ${id} and account is null`);
  return row && fromRow(row);
}

export async function countSend(db: Db, id: string): Promise<boolean> {
  const counted = await db.run(sql`
    update relays
       set content = jsonb_set(content, '{sends}', to_jsonb((content ->> 'sends')::integer + 1)), updated_at = now()
     where id = ${id} and state in ('STORED', 'SENT')`);
  return counted === 1;
}

export async function setHash(
  tx: Db,
  { id, hash, from }: { id: string; hash: bigint; from: readonly RelayState[] },
): Promise<boolean> {
  const changed = await tx.run(sql`
    update relays set hash = ${toHex(hash)}, state = 'SENT', updated_at = now(),
           block_number = null, block_hash = null, revert_reason = null
     where id = ${id} and state = any(${from})`);
  if (changed === 0) return false;
  await tx.run(sql`
    insert into relay_attempts (chain_id, hash, relay_id, kind, transaction, taken_at)
    select chain_id, hash, id,
           case when exists (select from relay_attempts where relay_id = relays.id) then 'BUMP' else 'FIRST' end, '', now()
      from relays where id = ${id}
    on conflict (chain_id, hash) do nothing`);
  return true;
}

export interface Sweep {
  readonly quietMs: number;
  readonly maxAgeMs: number;
  readonly limit: number;
}

export interface FollowedRelay {
  readonly id: string;
  readonly organizationId?: string | null | undefined;
}

export function openRelays(db: Db, { quietMs, maxAgeMs, limit }: Sweep): Promise<FollowedRelay[]> {
  return db.rows<FollowedRelay>(sql`
    select id, organization_id as "organizationId" from relays
     where account is null and state in ('STORED', 'SENT')
       and updated_at < now() - ${quietMs}::float8 * interval '1 ms'
       and created_at > now() - ${maxAgeMs}::float8 * interval '1 ms'
     order by updated_at limit ${limit}`);
}

function fromRow(row: Row): PaymasterRelay {
  return {
    id: row.id,
    environment: row.environment,
    organizationId: row.organization_id ?? undefined,
    kind: row.kind,
    wallet: BigInt(row.wallet),
    notAfter: row.not_after,
    state: row.state,
    hash: row.hash === null ? undefined : BigInt(row.hash),
    content: row.content,
    createdAt: row.created_at,
    restedMs: row.rested_ms,
  };
}
