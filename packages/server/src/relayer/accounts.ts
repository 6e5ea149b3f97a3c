import { ApiError, type Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Database, type Db, type Reads, type Sql, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import { padAddress, type StarknetChain } from '../chains/starknet/chain.ts';
import type { Crypto } from '../crypto/crypto.ts';
import type { JobLog } from '../jobs/job.ts';
import { errorText } from '../util/text.ts';

/** STRK has 18 decimals. */
const STRK = 10n ** 18n;
/** Some hundred transactions: time for the operator to send more. */
export const LOW_BALANCE = 50n * STRK;
/** Less is not worth the risk that a transaction is refused: nodes want the balance to cover several times its fee. */
export const EMPTY_BALANCE = 1n * STRK;
/** More than an account gets through in the minutes that a request may wait. */
export const MAX_OPEN_RELAYS = 2_000;

export interface TakenNonce {
  readonly account: string;
  readonly nonce: bigint;
}

/** The nonce that each account gives out next; accounts that are not there yet are missing. */
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

/** Moves the next nonce to where the chain is, never back; what was given out already is not given out again. */
export async function raiseNextNonce(db: Db, chainId: bigint, account: string, chainNonce: bigint): Promise<void> {
  await db.run(sql`
    insert into relayer_accounts as known (chain_id, address, next_nonce)
    values (${toHex(chainId)}, ${account}, greatest(${chainNonce}::bigint, (
      select max(nonce) + 1 from relays where chain_id = ${toHex(chainId)} and account = ${account})))
    on conflict (chain_id, address) do update set next_nonce = excluded.next_nonce
     where known.next_nonce is null or known.next_nonce < excluded.next_nonce`);
}

/** A node takes a transaction only while the balance covers the most that it may cost, so an account keeps at least this. */
const enoughFor = (maxFee: bigint): bigint => (maxFee > EMPTY_BALANCE ? maxFee : EMPTY_BALANCE);

/**
 * Takes the next nonce of the account with the least under way, and with it the row's lock until the transaction ends. Undefined
 * when none may take more: all have too much under way, or less money than this may cost.
 */
export async function takeNonce(
  tx: Db,
  chainId: bigint,
  accounts: readonly string[],
  maxFee: bigint,
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
           and open.count < ${MAX_OPEN_RELAYS}::bigint and coalesce(own.balance >= ${enoughFor(maxFee)}::numeric, true)
         order by open.count, own.next_nonce
         limit 1
           for update of own ${whenLocked})
      update relayer_accounts as own set next_nonce = own.next_nonce + 1
        from chosen where own.chain_id = chosen.chain_id and own.address = chosen.address
      returning own.address as account, own.next_nonce - 1 as nonce`);
  return (await takeOf(sql`skip locked`)) ?? takeOf(sql``);
}

/** Whether one of the accounts has the money for it, as far as we know. */
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

/** What the account that pays out has to pay with. */
export async function storeUsdc(db: Db, chainId: bigint, account: string, usdc: bigint): Promise<void> {
  await db.run(sql`
    update relayer_accounts set usdc = ${usdc} where chain_id = ${toHex(chainId)} and address = ${account}`);
}

export interface AccountPool {
  /** An account that stands on the chain, and the nonce that it would use next. */
  ready(db: Database, chain: StarknetChain, keys: readonly RelayerKey[]): Promise<{ sender: bigint; nonce: bigint }>;
}

/**
 * Sees to it that accounts have nonces to give out. The chain is asked once for each account, at the first use, because the
 * database may come from a backup.
 */
export function createAccountPool(setting: 'RELAYER_ACCOUNTS' | 'MANAGER_ACCOUNT'): AccountPool {
  const asked = new Set<string>();
  const nameOf = (chain: StarknetChain, account: string) => `${toHex(chain.chainId)} ${account}`;
  const ask = async (db: Database, chain: StarknetChain, account: string) => {
    const nonce = await chain.nonceAt(BigInt(account));
    if (nonce === undefined) return;
    await raiseNextNonce(db, chain.chainId, account, nonce);
    asked.add(nameOf(chain, account));
  };
  return {
    async ready(db, chain, keys) {
      const accounts = keys.map(({ address }) => padAddress(address));
      const known = await nextNonces(db.reads, chain.chainId, accounts);
      const unknown = accounts.filter((account) => !known.has(account) || !asked.has(nameOf(chain, account)));
      await Promise.all(unknown.map((account) => ask(db, chain, account)));
      const [first] = unknown.length === 0 ? known : await nextNonces(db.reads, chain.chainId, accounts);
      if (first) return { sender: BigInt(first[0]), nonce: first[1] };
      const message = `No account that pays stands on the chain. ${setting} names ${accounts.join(', ')}.`;
      throw new ApiError('chain_not_configured', message);
    },
  };
}

/** A funded account of the service, from its configuration. */
export interface RelayerKey {
  readonly address: bigint;
  readonly privateKey: bigint;
}

export interface RelayerDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet' | 'token'>;
  readonly crypto: Crypto;
  /** Those that pay for others' gas. */
  readonly keys: (environment: Environment) => readonly RelayerKey[];
  /** The one that pays out, if there is one. */
  readonly managerKey?: ((environment: Environment) => RelayerKey | undefined) | undefined;
  /** The most that one transaction may be estimated to cost, in FRI, and that a raise may offer; without it there is no limit. */
  readonly maxFeeFri?: bigint | undefined;
  readonly now?: () => number;
}

/** All accounts whose transactions are looked after. */
export function allKeys({ keys, managerKey }: RelayerDeps, environment: Environment): readonly RelayerKey[] {
  const manager = managerKey?.(environment);
  return manager ? [...keys(environment), manager] : keys(environment);
}

interface Deps extends RelayerDeps {
  readonly log: JobLog;
}

/** Stores what the accounts have that pay, and warns while there is still time. */
export async function readBalances(deps: Deps, environment: Environment): Promise<void> {
  const token = deps.networks.token(environment, 'STARKNET', 'STRK');
  const strk = BigInt(token?.address ?? 0);
  for (const key of allKeys(deps, environment)) {
    const account = padAddress(key.address);
    await readBalance(deps, environment, key, strk).catch((error: unknown) =>
      deps.log.warn({ account, reason: errorText(error) }, 'the balance of a relayer account could not be read'),
    );
  }
  await readManagerBalance(deps, environment).catch((error: unknown) =>
    deps.log.warn({ environment, reason: errorText(error) }, 'what the manager has in USDC could not be read'),
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
  // A key that was used elsewhere is noticed here, before a relay gets a nonce that is gone.
  if (nonce !== undefined) await raiseNextNonce(db, chain.chainId, account, nonce);
  const about = { environment, account, balanceFri: String(balance) };
  if (balance < EMPTY_BALANCE) log.error(about, 'a relayer account is out of STRK and pays for nothing more');
  else if (balance < LOW_BALANCE) log.warn(about, 'a relayer account is low on STRK');
}
