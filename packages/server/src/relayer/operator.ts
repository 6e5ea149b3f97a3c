import {
  type Environment,
  formatTokenAmount,
  type OperatorAccount,
  type OperatorRelay,
  type ReconciledTransaction,
} from '@svc/protocol';
import { sign, starknetKeccak, toHex, VALID } from '@svc/starknet';
import { type Database, type Reads, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { padAddress } from '../chains/starknet/chain.ts';
import { type CursorPageOf, type CursorQuery, microsOf, type Place, readCursor, toCursorPage } from '../http/call.ts';
import { EMPTY_BALANCE, LOW_BALANCE, LOW_USDC, type RelayerKey } from './accounts.ts';
import { STRK_DECIMALS } from './budget.ts';
import type { ReconciledNonce, ShownPayment } from './reconcile-accounts.ts';
import type { AttemptKind } from './relay-store.ts';

export interface AccountsDeps {
  readonly db: Database;
  readonly networks: Networks;
  readonly relayers: Readonly<Record<Environment, readonly RelayerKey[]>>;
  readonly managers: Readonly<Record<Environment, RelayerKey | undefined>>;
  readonly draining: Readonly<Record<Environment, readonly RelayerKey[]>>;
}

type Role = OperatorAccount['role'];

/** Reads the chain for each of them at once: a deployment has some dozens at most. */
export async function listAccounts(deps: AccountsDeps): Promise<OperatorAccount[]> {
  const environments = deps.networks.environments();
  const accounts = await Promise.all(environments.map((environment) => accountsOf(deps, environment)));
  return accounts.flat();
}

async function accountsOf(deps: AccountsDeps, environment: Environment): Promise<OperatorAccount[]> {
  const { paymentAddress } = deps.networks.starknet(environment);
  const manager = deps.managers[environment];
  const named: [Role, bigint][] = [
    ...(manager ? [['MANAGER', manager.address] as [Role, bigint]] : []),
    ...[...deps.relayers[environment], ...deps.draining[environment]].map(({ address }): [Role, bigint] => [
      'RELAYER',
      address,
    ]),
    ['PAYMENT', BigInt(paymentAddress)],
  ];
  const stored = await storedAccounts(deps, environment);
  return Promise.all(
    named.map(async ([role, address]) => {
      const known = stored.get(padAddress(address)) ?? NOT_STORED;
      const onChain = await readAccount(deps, environment, address).catch(() => undefined);
      return {
        environment,
        role,
        address: padAddress(address),
        state: stateOf(role, onChain, known.unreconciled),
        strk: onChain ? formatTokenAmount(onChain.strk, STRK_DECIMALS) : null,
        usdc: onChain ? formatTokenAmount(onChain.usdc, onChain.usdcDecimals) : null,
        chainNonce: onChain?.nonce?.toString() ?? null,
        nextNonce: known.next_nonce?.toString() ?? null,
        classHash: onChain?.classHash === undefined ? null : toHex(onChain.classHash),
        openRelays: known.open,
        oldestOpenSeconds: known.oldest ?? 0,
        unreconciled: known.unreconciled,
      };
    }),
  );
}

export interface KeyState {
  readonly environment: Environment;
  readonly role: 'RELAYER' | 'MANAGER';
  readonly address: string;
  /** The account takes its signatures. */
  readonly isValid: boolean;
}

/** Of no transaction or message. */
const KEY_CHECK_HASH = starknetKeccak('svc checks that a key signs for its account');

/** Of deployed accounts: each is asked whether it takes a signature of its key. */
export async function listKeyStates(deps: Omit<AccountsDeps, 'db'>): Promise<KeyState[]> {
  const keys = deps.networks.environments().flatMap((environment) => {
    const manager = deps.managers[environment];
    return [
      ...(manager ? [{ environment, role: 'MANAGER' as const, key: manager }] : []),
      ...deps.relayers[environment].map((key) => ({ environment, role: 'RELAYER' as const, key })),
    ];
  });
  const states = await Promise.all(
    keys.map(async ({ environment, role, key }) => {
      const { address } = key;
      const { chain } = deps.networks.starknet(environment);
      if ((await chain.classHashAt(address)) === undefined) return [];
      const { r, s } =
        'held' in key
          ? await key.held.sign({ kind: 'check', hash: KEY_CHECK_HASH })
          : sign(KEY_CHECK_HASH, key.privateKey);
      const calldata = [KEY_CHECK_HASH, 2n, r, s];
      const answer = await chain.call({ to: address, entrypoint: 'is_valid_signature', calldata });
      const isValid = answer.ok && answer.felts[0] === VALID;
      return [{ environment, role, address: padAddress(address), isValid }];
    }),
  );
  return states.flat();
}

interface StoredAccount {
  readonly address: string;
  readonly next_nonce: bigint | null;
  readonly open: number;
  readonly oldest: number | null;
  readonly unreconciled: number;
}

const NOT_STORED = { next_nonce: null, open: 0, oldest: null, unreconciled: 0 };

async function storedAccounts({ db, networks }: AccountsDeps, environment: Environment) {
  const chainId = toHex(networks.starknet(environment).chain.chainId);
  const rows = await db.lists.rows<StoredAccount>(sql`
    select own.address, own.next_nonce, under_way.open, under_way.oldest, (
             select count(*)::integer from unknown_nonces
              where chain_id = own.chain_id and account = own.address and resolution is null) as unreconciled
      from relayer_accounts as own
     cross join lateral (
       select count(*)::integer as open, extract(epoch from now() - min(created_at))::float8 as oldest from relays
        where chain_id = own.chain_id and account = own.address and state in ('STORED', 'SENT')) as under_way
     where own.chain_id = ${chainId}`);
  return new Map(rows.map((row) => [row.address, row]));
}

interface AccountOnChain {
  readonly strk: bigint;
  readonly usdc: bigint;
  readonly usdcDecimals: number;
  readonly nonce: bigint | undefined;
  readonly classHash: bigint | undefined;
}

async function readAccount(
  { networks }: AccountsDeps,
  environment: Environment,
  address: bigint,
): Promise<AccountOnChain> {
  const { chain } = networks.starknet(environment);
  const balance = (token: 'STRK' | 'USDC') =>
    chain.balanceOf(BigInt(networks.token(environment, 'STARKNET', token)?.address ?? 0), address);
  const usdcDecimals = networks.token(environment, 'STARKNET', 'USDC')?.decimals ?? 0;
  const [strk, usdc, classHash] = await Promise.all([balance('STRK'), balance('USDC'), chain.classHashAt(address)]);
  const nonce = classHash === undefined ? undefined : await chain.nonceAt(address);
  return { strk, usdc, usdcDecimals, nonce, classHash };
}

/** The worst that holds. What is paid to the payment address is not spent by this service. */
export function stateOf(
  role: Role,
  onChain: Pick<AccountOnChain, 'strk' | 'usdc' | 'classHash'> | undefined,
  unreconciled: number,
): OperatorAccount['state'] {
  if (unreconciled > 0) return 'UNRECONCILED';
  if (!onChain) return 'UNREADABLE';
  if (role === 'PAYMENT') return 'OK';
  if (onChain.classHash === undefined) return 'NOT_DEPLOYED';
  if (onChain.strk < EMPTY_BALANCE || (role === 'MANAGER' && onChain.usdc === 0n)) return 'EMPTY';
  return onChain.strk < LOW_BALANCE || (role === 'MANAGER' && onChain.usdc < LOW_USDC) ? 'LOW' : 'OK';
}

interface RelayRow extends Place {
  readonly environment: Environment;
  readonly organization_id: string | null;
  readonly kind: string;
  readonly state: 'STORED' | 'SENT';
  readonly account: string | null;
  readonly nonce: bigint | null;
  readonly wallet: string;
  readonly hash: string | null;
  readonly refused_since: Date | null;
  readonly missing_since: Date | null;
  readonly created_at: Date;
}

interface AttemptRow {
  readonly relay_id: string;
  readonly hash: string;
  readonly kind: AttemptKind | 'OTHER';
  readonly taken_at: Date | null;
  readonly created_at: Date;
}

export async function listOpenRelays(reads: Reads, query: CursorQuery): Promise<CursorPageOf<OperatorRelay>> {
  const { limit, after } = readCursor(query);
  const newer = after
    ? sql`and (created_at, id) > ('epoch'::timestamptz + ${after.micros}::bigint * interval '1 microsecond', ${after.id})`
    : sql``;
  const rows = await reads.rows<RelayRow>(sql`
    select id, ${microsOf(sql`created_at`)} as micros, environment, organization_id, kind, state, account, nonce, wallet, hash,
           refused_since, missing_since, created_at
      from relays where state in ('STORED', 'SENT') ${newer}
     order by created_at, id limit ${limit + 1}`);
  const attempts = await reads.rows<AttemptRow>(sql`
    select relay_id, hash, kind, taken_at, created_at from relay_attempts
     where relay_id = any (${rows.map(({ id }) => id)}) order by created_at, hash`);
  const ofRelay = Map.groupBy(attempts, ({ relay_id }) => relay_id);
  return toCursorPage(rows, limit, (row) => toRelay(row, ofRelay.get(row.id) ?? []));
}

const toTime = (date: Date | null): string | null => date?.toISOString() ?? null;

const toRelay = (row: RelayRow, attempts: readonly AttemptRow[]): OperatorRelay => ({
  id: row.id,
  environment: row.environment,
  organizationId: row.organization_id,
  kind: row.kind,
  state: row.state,
  account: row.account,
  nonce: row.nonce?.toString() ?? null,
  wallet: row.wallet,
  hash: row.hash,
  attempts: attempts.map(({ hash, kind, taken_at, created_at }) => ({
    hash,
    kind,
    acceptedAt: toTime(taken_at),
    createdAt: created_at.toISOString(),
  })),
  refusedSince: toTime(row.refused_since),
  missingSince: toTime(row.missing_since),
  createdAt: row.created_at.toISOString(),
});

interface UnknownRow {
  readonly account: string;
  readonly nonce: bigint;
  readonly hash: string | null;
  readonly unmatched: readonly (ShownPayment & { readonly reason?: string })[];
  readonly found_at: Date;
}

const MAX_UNRECONCILED = 200;

/** As stored; `reconcile` looks them up on the chain. */
export async function listUnreconciled(reads: Reads): Promise<{ open: number; data: ReconciledTransaction[] }> {
  const rows = await reads.rows<UnknownRow>(sql`
    select account, nonce, hash, unmatched, found_at from unknown_nonces
     where resolution is null order by account, nonce limit ${MAX_UNRECONCILED}`);
  const data = rows.map(({ account, nonce, hash, unmatched, found_at }): ReconciledTransaction => {
    const reason = unmatched[0]?.reason ?? null;
    const about = { account, nonce: String(nonce), hash, state: 'OPEN' as const, kind: null, reason };
    return { ...about, payments: unmatched.map(toPayment), foundAt: found_at.toISOString() };
  });
  return { open: rows.length < MAX_UNRECONCILED ? rows.length : await countUnreconciled(reads), data };
}

async function countUnreconciled(reads: Reads): Promise<number> {
  const row = await reads.one<{ count: number }>(sql`
    select count(*)::integer as count from unknown_nonces where resolution is null`);
  return row?.count ?? 0;
}

const toPayment = ({ token, to, amount, of }: ShownPayment) => ({ token, to, amount, of: of ?? null });

export function toReconciled(line: ReconciledNonce): ReconciledTransaction {
  const { account, nonce, hash, state, kind = null, reason = null, payments = [] } = line;
  return { account, nonce, hash, state, kind, reason, payments: payments.map(toPayment), foundAt: null };
}

export interface RelayAttention {
  readonly unreconciled: number;
  readonly lowAccounts: number;
  readonly openRelays: number;
  readonly oldestRelaySeconds: number;
}

/** Balances as last seen; older than ten minutes they say nothing. */
export async function relayAttention(reads: Reads): Promise<RelayAttention> {
  const row = await reads.one<RelayAttention>(sql`
    select (select count(*)::integer from unknown_nonces where resolution is null) as unreconciled,
           (select count(*)::integer from relayer_accounts
             where balance_read_at > now() - interval '10 minutes'
               and (balance < ${LOW_BALANCE}::numeric or usdc < ${LOW_USDC}::numeric)) as "lowAccounts",
           count(*)::integer as "openRelays",
           coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as "oldestRelaySeconds"
      from relays where state in ('STORED', 'SENT')`);
  if (!row) throw new Error('The database does not count relays.');
  return row;
}
