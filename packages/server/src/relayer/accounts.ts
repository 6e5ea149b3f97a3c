import { ApiError, type Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Database, type Db, type Reads, type Sql, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { padAddress, type StarknetChain } from '../chains/starknet/chain.ts';
import type { Crypto, HeldKey, SigningKey } from '../crypto/crypto.ts';
import type { JobLog } from '../jobs/job.ts';
import type { DefaultLimits } from './budget.ts';
import { syncNextNonce } from './unknown-nonces.ts';

const STRK = 10n ** 18n;
export const LOW_BALANCE = 50n * STRK;
/** Some dozens of gifts: leaves the operator time to send more. */
export const LOW_USDC = 100_000_000n;
/** Nodes require a multiple of the fee as balance. */
export const EMPTY_BALANCE = 1n * STRK;
/** More than an account processes in the minutes a request may wait. */
export const MAX_OPEN_RELAYS = 2_000;

export interface TakenNonce {
  readonly account: string;
  readonly nonce: bigint;
}

export async function nextNonces(
  reads: Reads,
  chainId: bigint,
  accounts: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await reads.rows<{ address: string; next_nonce: bigint }>(sql`
    select address, next_nonce from relayer_accounts
     where chain_id = ${toHex(chainId)} and address = any (${accounts}) and next_nonce is not null`);
  return new Map(rows.map(({ address, next_nonce }) => [address, next_nonce]));
}

const enoughFor = (maxFee: bigint): bigint => (maxFee > EMPTY_BALANCE ? maxFee : EMPTY_BALANCE);

/** Takes the next nonces of the least busy account, locks it and answers the first. Undefined: all are busy or short of STRK. */
export async function takeNonces(
  tx: Db,
  chainId: bigint,
  accounts: readonly string[],
  maxFee: bigint,
  count = 1,
): Promise<TakenNonce | undefined> {
  const takeOf = (whenLocked: Sql) =>
    tx.one<TakenNonce>(sql`
      with chosen as materialized (
        select own.chain_id, own.address
          from relayer_accounts as own
         cross join lateral (
           select own.next_nonce - coalesce(min(nonce), own.next_nonce) as count from relays
            where chain_id = own.chain_id and account = own.address and state in ('STORED', 'SENT') and looked_at is null) as open
         where own.chain_id = ${toHex(chainId)} and own.address = any (${accounts}) and own.next_nonce is not null
           and open.count + ${count}::bigint <= ${MAX_OPEN_RELAYS}::bigint
           and coalesce(own.balance >= ${enoughFor(maxFee)}::numeric, true)
         order by open.count, own.next_nonce
         limit 1
           for update of own ${whenLocked})
      update relayer_accounts as own set next_nonce = own.next_nonce + ${count}::bigint
        from chosen where own.chain_id = chosen.chain_id and own.address = chosen.address
      returning own.address as account, own.next_nonce - ${count}::bigint as nonce`);
  return (await takeOf(sql`skip locked`)) ?? takeOf(sql``);
}

export async function canPay(db: Db, chainId: bigint, accounts: readonly string[], maxFee: bigint): Promise<boolean> {
  const row = await db.one(sql`
    select from relayer_accounts
     where chain_id = ${toHex(chainId)} and address = any (${accounts})
       and coalesce(balance >= ${enoughFor(maxFee)}::numeric, true)
     limit 1`);
  return row !== undefined;
}

export async function storeBalance(db: Db, chainId: bigint, account: string, balance: bigint): Promise<void> {
  await db.run(sql`
    insert into relayer_accounts (chain_id, address, balance, balance_read_at)
    values (${toHex(chainId)}, ${account}, ${balance}, now())
    on conflict (chain_id, address) do update set balance = excluded.balance, balance_read_at = excluded.balance_read_at`);
}

export async function storeUsdc(db: Db, chainId: bigint, account: string, usdc: bigint): Promise<void> {
  await db.run(sql`
    update relayer_accounts set usdc = ${usdc} where chain_id = ${toHex(chainId)} and address = ${account}`);
}

/** For estimates, whose nonce is far ahead of the account's: so long ago it may have been read. */
const READY_MS = 1_000;

export interface ReadyAccount {
  readonly sender: bigint;
  readonly nonce: bigint;
}

export interface AccountPool {
  /** One that stands on the chain, and its nonce of the last second. */
  ready(db: Database, chain: StarknetChain, keys: readonly RelayerKey[]): Promise<ReadyAccount>;
}

/** Compares each account's nonce with the chain's at its first use: the database may be an old backup. */
export function createAccountPool(setting: 'RELAYER_ACCOUNTS' | 'MANAGER_ACCOUNT'): AccountPool {
  const synced = new Set<string>();
  const syncing = new Map<string, Promise<void>>();
  const lately = new WeakMap<readonly RelayerKey[], { readonly account: ReadyAccount; readonly until: number }>();
  const nameOf = (chain: StarknetChain, account: string) => `${toHex(chain.chainId)} ${account}`;
  const compare = async (db: Database, chain: StarknetChain, account: string) => {
    const nonce = await chain.nonceAt(BigInt(account));
    if (nonce === undefined) return;
    await syncNextNonce(db, chain.chainId, account, nonce);
    synced.add(nameOf(chain, account));
  };
  /** Requests of the same moment share one comparison. */
  const sync = (db: Database, chain: StarknetChain, account: string) => {
    const name = nameOf(chain, account);
    const running = syncing.get(name) ?? compare(db, chain, account).finally(() => syncing.delete(name));
    syncing.set(name, running);
    return running;
  };
  return {
    async ready(db, chain, keys) {
      const recent = lately.get(keys);
      if (recent && performance.now() < recent.until) return recent.account;
      const accounts = keys.map(({ address }) => padAddress(address));
      const known = await nextNonces(db.reads, chain.chainId, accounts);
      const unknown = accounts.filter((account) => !known.has(account) || !synced.has(nameOf(chain, account)));
      await Promise.all(unknown.map((account) => sync(db, chain, account)));
      const [first] = unknown.length === 0 ? known : await nextNonces(db.reads, chain.chainId, accounts);
      if (first) {
        const account = { sender: BigInt(first[0]), nonce: first[1] };
        lately.set(keys, { account, until: performance.now() + READY_MS });
        return account;
      }
      const message = `No account that pays stands on the chain. ${setting} names ${accounts.join(', ')}.`;
      throw new ApiError('chain_not_configured', message);
    },
  };
}

/** An account and what signs for it. */
export type RelayerKey = { readonly address: bigint } & ({ readonly privateKey: bigint } | { readonly held: HeldKey });

export const signingKeyOf = (key: RelayerKey): SigningKey => ('held' in key ? key.held : key.privateKey);

export interface RelayerDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet' | 'token'>;
  readonly crypto: Crypto;
  readonly keys: (environment: Environment) => readonly RelayerKey[];
  readonly managerKey?: ((environment: Environment) => RelayerKey | undefined) | undefined;
  /** They send and replace what they have begun, and begin nothing. */
  readonly drainingKeys?: ((environment: Environment) => readonly RelayerKey[]) | undefined;
  /** Owns the deposit addresses; without it the manager's key does. */
  readonly depositKey?: ((environment: Environment) => SigningKey | undefined) | undefined;
  readonly maxFeeFri?: bigint | undefined;
  readonly sponsorLimits?: DefaultLimits | undefined;
  readonly now?: () => number;
}

export function allKeys(deps: RelayerDeps, environment: Environment): readonly RelayerKey[] {
  const manager = deps.managerKey?.(environment);
  const draining = deps.drainingKeys?.(environment) ?? [];
  return [...deps.keys(environment), ...(manager ? [manager] : []), ...draining];
}

interface Deps extends RelayerDeps {
  readonly log: JobLog;
}

export async function readBalances(deps: Deps, environment: Environment): Promise<void> {
  const token = deps.networks.token(environment, 'STARKNET', 'STRK');
  const strk = BigInt(token?.address ?? 0);
  for (const key of allKeys(deps, environment)) {
    const account = padAddress(key.address);
    await readBalance(deps, environment, key, strk).catch((error: unknown) =>
      deps.log.warn({ environment, account, err: error }, 'relayer balance not readable'),
    );
  }
  await readManagerBalance(deps, environment).catch((error: unknown) =>
    deps.log.warn({ environment, err: error }, 'manager USDC balance not readable'),
  );
}

/** Logs what is unknown once, when it is found. */
export async function checkNonce(
  { db, log }: Pick<Deps, 'db' | 'log'>,
  { chainId }: StarknetChain,
  account: string,
  nonce: bigint,
): Promise<void> {
  const unknown = await syncNextNonce(db, chainId, account, nonce);
  if (unknown === 0) return;
  log.error({ account, nonce: String(nonce), unknown }, 'account has transactions that the database does not know');
}

/** One read for each account. An account that cannot be read now is compared before its first use. */
export async function checkNonces(deps: Deps, environment: Environment): Promise<void> {
  const { chain } = deps.networks.starknet(environment);
  const check = async ({ address }: RelayerKey) => {
    const [account, nonce] = [padAddress(address), await chain.nonceAt(address)];
    if (nonce !== undefined) await checkNonce(deps, chain, account, nonce);
  };
  await Promise.all(
    allKeys(deps, environment).map((key) =>
      check(key).catch((error: unknown) =>
        deps.log.warn({ environment, account: padAddress(key.address), err: error }, 'account nonce not readable'),
      ),
    ),
  );
}

async function readManagerBalance({ db, networks, managerKey }: Deps, environment: Environment): Promise<void> {
  const manager = managerKey?.(environment);
  const usdc = networks.token(environment, 'STARKNET', 'USDC');
  if (!manager || !usdc) return;
  const { chain } = networks.starknet(environment);
  const balance = await chain.balanceOf(BigInt(usdc.address ?? 0), manager.address);
  await storeUsdc(db, chain.chainId, padAddress(manager.address), balance);
}

async function readBalance(
  { db, networks, log }: Deps,
  environment: Environment,
  { address }: RelayerKey,
  strk: bigint,
): Promise<void> {
  const { chain } = networks.starknet(environment);
  const account = padAddress(address);
  const [balance, nonce] = await Promise.all([chain.balanceOf(strk, address), chain.nonceAt(address)]);
  await storeBalance(db, chain.chainId, account, balance);
  // Detects a key used elsewhere before a relay gets a spent nonce.
  if (nonce !== undefined) await checkNonce({ db, log }, chain, account, nonce);
  const about = { environment, account, balanceFri: String(balance) };
  if (balance < EMPTY_BALANCE) log.error(about, 'relayer account out of STRK, it gets no new relays');
  else if (balance < LOW_BALANCE) log.warn(about, 'relayer account low on STRK');
}
