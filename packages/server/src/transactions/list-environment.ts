import {
  type AnswerOf,
  type endpoints,
  parseEvmAddress,
  parseStarknetAddress,
  type QueryOf,
  type StarknetAddress,
} from '@svc/protocol';
import { type Reads, type Sql, sql } from '@svc/store';
import {
  type Caller,
  type CursorPageOf,
  microsOf,
  olderThan,
  type Place,
  readCursor,
  toCursorPage,
} from '../http/call.ts';
import { readTimeRange, refuse } from '../http/validation.ts';
import { walletsOfUser } from '../wallets/wallet.ts';
import { type FindDeps, find } from './get-transaction.ts';
import { fromRow, type Row, recordColumns, toTransaction } from './record.ts';

type Endpoint = typeof endpoints.listEnvironmentTransactions;
type Query = QueryOf<Endpoint>;
type Answer = AnswerOf<Endpoint>;
type ListRow = Row & Place;

export interface ListDeps extends FindDeps {
  readonly lists: Reads;
}

/** More wallets than a person has; each is a walk of its own. */
const MAX_WALLETS = 100;

const EMPTY: CursorPageOf<never> = { data: [], nextCursor: null };

export async function listEnvironmentTransactions(deps: ListDeps, caller: Caller, query: Query): Promise<Answer> {
  const page = readCursor(query);
  const addresses = await addressesOf(deps.reads, caller, query);
  if (addresses?.length === 0) return EMPTY;
  const ids = query.search === undefined ? undefined : await search(deps, caller, query.search);
  if (ids?.length === 0) return EMPTY;
  const where = sql`organization_id = ${caller.organizationId} and environment = ${caller.environment}
    and transaction_hash is not null ${filtersOf(query, ids)}`;
  const rows = await deps.lists.rows<ListRow>(
    (addresses ? ofAddresses(caller, addresses, where, page) : ofEnvironment(where, page)).unnamed,
  );
  return toCursorPage(rows, page.limit, (row) => toTransaction(fromRow(row)));
}

type Page = ReturnType<typeof readCursor>;

const columns = sql`${recordColumns}, ${microsOf(sql`created_at`)} as micros`;

const ofEnvironment = (where: Sql, { limit, after }: Page): Sql => sql`
  select ${columns} from transactions
   where ${where} ${olderThan(after, sql`created_at`, sql`id`)}
   order by created_at desc, id desc limit ${limit + 1}`;

/** Each address has its history in order; a transfer between two of them is in both. */
const ofAddresses = (
  { organizationId, environment }: Caller,
  addresses: readonly string[],
  where: Sql,
  { limit, after }: Page,
): Sql => sql`
  select * from (
    select distinct on (record.id) record.*
      from unnest(${addresses}::text[]) as address cross join lateral (
        select ${columns} from (
          select transaction_id, created_at as at from transaction_history
           where history = history_key(${organizationId}, ${environment}, address)
             ${olderThan(after, sql`created_at`, sql`transaction_id`)}
        ) entry join transactions on transactions.id = entry.transaction_id
         where ${where}
         order by entry.at desc, entry.transaction_id desc limit ${limit + 1}
      ) record
  ) found
  order by micros desc, id desc limit ${limit + 1}`;

/** Undefined: of all addresses. */
async function addressesOf(reads: Reads, caller: Caller, query: Query): Promise<readonly string[] | undefined> {
  const { walletAddress, externalUserId } = query;
  const address = walletAddress === undefined ? undefined : readAnyAddress(walletAddress);
  if (externalUserId === undefined) return address === undefined ? undefined : [address];
  const wallets = await walletsOfUser(reads, { ...caller, externalUserId }, MAX_WALLETS);
  const owned: readonly string[] = wallets.map((wallet) => wallet.address);
  return address === undefined ? owned : owned.filter((each) => each === address);
}

function readAnyAddress(text: string): StarknetAddress | string {
  const evm = parseEvmAddress(text);
  if (evm.ok) return evm.value;
  const address = parseStarknetAddress(text);
  return address.ok ? address.value : refuse('query.walletAddress', address.reason);
}

async function search(deps: ListDeps, caller: Caller, text: string): Promise<string[]> {
  const records = await find(deps, caller, text);
  return records.map(({ id }) => id);
}

function filtersOf({ type, status, token, skuId, ...times }: Query, ids: readonly string[] | undefined): Sql {
  const { from, before } = readTimeRange(times);
  return [
    ids === undefined ? sql`` : sql`and id = any(${ids})`,
    type === undefined ? sql`` : sql`and type = ${type}`,
    status === undefined ? sql`` : sql`and status = ${status}`,
    token === undefined ? sql`` : sql`and token = ${token}`,
    skuId === undefined ? sql`` : sql`and type = 'SKU_PURCHASE' and sku_id = ${skuId}`,
    from === undefined ? sql`` : sql`and created_at >= ${from}`,
    before === undefined ? sql`` : sql`and created_at < ${before}`,
  ].reduce((all, filter) => sql`${all} ${filter}`);
}
