import { ApiError } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, type Reads, sql } from '@svc/store';
import type { SignedInvoke, StarknetChain } from '../chains/starknet/chain.ts';
import { queryGauge } from '../http/module.ts';
import type { Checks, GaugeSource } from '../http/monitoring.ts';

/** The account has transactions on the chain that the database does not know: one of them may be the payment that is to be made. */
export class UnreconciledError extends ApiError {
  /** False while it may only be that a node shows nonces before receipts: that clears by itself, mostly within seconds. */
  readonly isCertain: boolean;

  constructor(account: string, isCertain: boolean) {
    super(
      'chain_unavailable',
      isCertain
        ? `Payments of ${account} are stopped: the chain has transactions of it that the database does not know. Nothing was stored or sent. The operator runs: npm run admin -- reconcile`
        : `Payments of ${account} wait until the chain shows what has become of an earlier one. Nothing was stored or sent. Try again later.`,
    );
    this.isCertain = isCertain;
  }
}

/** More at once is taken for a wrong answer of a node. */
const MAX_UNKNOWN = 100_000n;

/**
 * Compares the next nonce with the chain's, raises it, and records every nonce in between: it was used by a transaction that the
 * database does not know. Never moves back: an assigned nonce is not assigned again. An account that is new here starts with the
 * chain's nonce. Answers how many nonces were found.
 */
export async function syncNextNonce(db: Db, chainId: bigint, account: string, chainNonce: bigint): Promise<number> {
  const chain = toHex(chainId);
  const before = await db.one<{ next: bigint | null }>(sql`
    select next_nonce as next from relayer_accounts where chain_id = ${chain} and address = ${account}`);
  if (chainNonce - (before?.next ?? chainNonce) > MAX_UNKNOWN) {
    throw new Error(`A node answers nonce ${chainNonce} for ${account}; the next one is ${before?.next}.`);
  }
  const row = await db.one<{ found: bigint }>(sql`
    with known as materialized (
      select next_nonce from relayer_accounts where chain_id = ${chain} and address = ${account} for update
    ), found as (
      insert into unknown_nonces (chain_id, account, nonce)
      select ${chain}, ${account}, nonce
        from known, generate_series(known.next_nonce, ${chainNonce}::bigint - 1) as nonce
      on conflict do nothing
      returning nonce
    ), raised as (
      insert into relayer_accounts as own (chain_id, address, next_nonce)
      values (${chain}, ${account}, greatest(${chainNonce}::bigint, (
        select max(nonce) + 1 from relays where chain_id = ${chain} and account = ${account})))
      on conflict (chain_id, address) do update set next_nonce = excluded.next_nonce
       where own.next_nonce is null or own.next_nonce < excluded.next_nonce
    )
    select count(*) as found from found`);
  return Number(row?.found ?? 0n);
}

/** The nonce of a relay was used by another transaction. */
export async function recordUnknownNonce(db: Db, chainId: bigint, account: string, nonce: bigint): Promise<void> {
  await db.run(sql`
    insert into unknown_nonces (chain_id, account, nonce) values (${toHex(chainId)}, ${account}, ${nonce})
    on conflict do nothing`);
}

/** The operator has said that the transaction which used the nonce is none of the service's payments. */
export async function isAccepted(reads: Reads, chainId: bigint, account: string, nonce: bigint): Promise<boolean> {
  const row = await reads.one(sql`
    select from unknown_nonces
     where chain_id = ${toHex(chainId)} and account = ${account} and nonce = ${nonce} and resolution = 'ACCEPTED'`);
  return row !== undefined;
}

/**
 * For payments only: what is relayed for wallets happens once by their own nonces. A payment whose nonce seems to be used by an
 * unknown transaction stops the others, too, until it is clear.
 */
export async function requireReconciled(reads: Reads, chainId: bigint, account: string): Promise<void> {
  const chain = toHex(chainId);
  const row = await reads.one<{ recorded: boolean; missing: boolean }>(sql`
    select exists (
             select from unknown_nonces where chain_id = ${chain} and account = ${account} and resolution is null) as recorded,
           exists (
             select from relays
              where chain_id = ${chain} and account = ${account} and state in ('STORED', 'SENT')
                and missing_since is not null) as missing`);
  if (!row || row.recorded || row.missing) throw new UnreconciledError(account, row?.recorded ?? false);
}

export function unreconciledGauge(reads: Reads): GaugeSource {
  const about = {
    name: 'svc_nonces_unreconciled',
    help: 'Nonces of an account that were used by transactions which the database does not know',
    labelNames: ['account'],
  };
  return queryGauge(
    reads,
    about,
    sql`
      select own.address as account, count(unknown.nonce)::integer as value
        from relayer_accounts as own
        left join unknown_nonces as unknown
          on unknown.chain_id = own.chain_id and unknown.account = own.address and unknown.resolution is null
       group by own.address`,
  );
}

export function unreconciledCheck(reads: Reads): Checks {
  return {
    accounts: async () => {
      const open = await reads.one(sql`select from unknown_nonces where resolution is null limit 1`);
      return open === undefined ? 'ok' : 'unreconciled';
    },
  };
}

type NonceAt = (block: number) => Promise<bigint>;

/** Without an index: bisects over the account's nonce. Nonces ascend. Dozens of reads for the first, few after it. */
export async function findTransactions(
  chain: StarknetChain,
  account: bigint,
  nonces: readonly bigint[],
  knownBlock: number | undefined,
): Promise<ReadonlyMap<bigint, SignedInvoke>> {
  const [first] = nonces;
  const found = new Map<bigint, SignedInvoke>();
  if (first === undefined) return found;
  const head = await chain.blockNumber();
  const nonceAt = remember(async (block) => (await chain.nonceAt(account, block)) ?? 0n);
  let before = await blockBefore(nonceAt, first, head, knownBlock);
  let read = -1;
  for (const nonce of nonces) {
    const block = await blockOf(nonceAt, nonce, before, head);
    if (block === undefined) break;
    if (block !== read) {
      for (const invoke of await chain.invokesIn(block, account)) found.set(BigInt(invoke.transaction.nonce), invoke);
    }
    read = block;
    before = block - 1;
  }
  return new Map([...found].filter(([nonce]) => nonces.includes(nonce)));
}

function remember(read: NonceAt): NonceAt {
  const known = new Map<number, Promise<bigint>>();
  return (block) => {
    const answer = known.get(block) ?? read(block);
    known.set(block, answer);
    return answer;
  };
}

/** A block in which the nonce is unused; -1 where it is used from the first block on. */
async function blockBefore(
  nonceAt: NonceAt,
  nonce: bigint,
  head: number,
  knownBlock: number | undefined,
): Promise<number> {
  if (knownBlock !== undefined && knownBlock <= head && (await nonceAt(knownBlock)) <= nonce) return knownBlock;
  for (let back = 1; ; back *= 2) {
    const block = Math.max(0, head - back);
    if ((await nonceAt(block)) <= nonce) return block;
    if (block === 0) return -1;
  }
}

/** Undefined while no sealed block has it. */
async function blockOf(nonceAt: NonceAt, nonce: bigint, before: number, head: number): Promise<number | undefined> {
  let unused = before;
  let used = unused;
  for (let step = 1; ; step *= 2) {
    used = Math.min(head, before + step);
    if ((await nonceAt(used)) > nonce) break;
    if (used === head) return undefined;
    unused = used;
  }
  while (used - unused > 1) {
    const middle = unused + Math.floor((used - unused) / 2);
    if ((await nonceAt(middle)) > nonce) used = middle;
    else unused = middle;
  }
  return used;
}
