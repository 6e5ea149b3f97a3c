import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import type { AttemptKind } from '../attempts.ts';
import type { Relay } from '../relay.ts';

export interface Attempt {
  readonly hash: bigint;
  readonly kind: AttemptKind;
  /** When a node first said that it has it. */
  readonly takenAt: Date | undefined;
  readonly createdAt: Date;
}

/** A relay of one of our accounts that has not ended. */
export interface OpenRelay {
  readonly id: string;
  readonly environment: Environment;
  readonly kind: Relay['kind'];
  readonly wallet: bigint;
  readonly nonce: bigint;
  readonly state: 'STORED' | 'SENT';
  readonly notAfter: Date;
  readonly firstSince: Date | undefined;
  readonly missingSince: Date | undefined;
  readonly createdAt: Date;
  /** The one that pays most. */
  readonly newest: Attempt;
  /** All, the newest first. */
  readonly attempts: readonly Attempt[];
}

interface Row {
  readonly id: string;
  readonly environment: Environment;
  readonly kind: Relay['kind'];
  readonly wallet: string;
  readonly nonce: bigint;
  readonly state: 'STORED' | 'SENT';
  readonly not_after: Date;
  readonly first_since: Date | null;
  readonly missing_since: Date | null;
  readonly created_at: Date;
  readonly attempts: readonly {
    readonly hash: string;
    readonly kind: AttemptKind;
    readonly taken_at: string | null;
    readonly created_at: string;
  }[];
}

const openOf = (chainId: bigint, account: string) => sql`
  chain_id = ${toHex(chainId)} and account = ${account} and state in ('STORED', 'SENT')`;

export async function hasOpenRelays(db: Db, chainId: bigint, account: string): Promise<boolean> {
  return (await db.one(sql`select from relays where ${openOf(chainId, account)} limit 1`)) !== undefined;
}

/** Of which nonces; without a bound, from the first or to the last. */
export interface Range {
  readonly from?: bigint;
  readonly below?: bigint;
  readonly limit: number;
}

/** In the order of their nonces. */
export async function openRelays(
  db: Db,
  chainId: bigint,
  account: string,
  { from, below, limit }: Range,
): Promise<OpenRelay[]> {
  const atLeast = from === undefined ? sql`` : sql`and nonce >= ${from}`;
  const lessThan = below === undefined ? sql`` : sql`and nonce < ${below}`;
  const rows = await db.rows<Row>(sql`
    select id, environment, kind, wallet, nonce, state, not_after, first_since, missing_since, created_at, (
             select json_agg(json_build_object('hash', hash, 'kind', kind, 'taken_at', taken_at, 'created_at', created_at)
                             order by created_at desc)
               from relay_attempts where relay_id = relays.id) as attempts
      from relays
     where ${openOf(chainId, account)} ${atLeast} ${lessThan}
     order by nonce limit ${limit}`);
  return rows.map(openRelayOf);
}

function openRelayOf({ wallet, not_after, first_since, missing_since, created_at, attempts, ...row }: Row): OpenRelay {
  const read = attempts.map(({ hash, kind, taken_at, created_at }) => ({
    hash: BigInt(hash),
    kind,
    takenAt: taken_at === null ? undefined : new Date(taken_at),
    createdAt: new Date(created_at),
  }));
  const [newest] = read;
  if (!newest) throw new Error(`The relay ${row.id} has no transaction.`);
  return {
    ...row,
    wallet: BigInt(wallet),
    notAfter: not_after,
    firstSince: first_since ?? undefined,
    missingSince: missing_since ?? undefined,
    createdAt: created_at,
    newest,
    attempts: read,
  };
}

/** Notes when something about a relay began, or that it is over. */
export async function noteSince(db: Db, id: string, what: 'first' | 'missing', since: Date | undefined): Promise<void> {
  const column = what === 'first' ? sql`first_since` : sql`missing_since`;
  await db.run(sql`update relays set ${column} = ${since ?? null} where id = ${id} and state in ('STORED', 'SENT')`);
}
