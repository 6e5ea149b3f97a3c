import { type Db, sql } from '@svc/store';
import { expect } from 'vitest';
import { eventually } from './eventually.ts';
import type { Sandbox } from './sandbox.ts';

const SETTLE_MS = 60_000;

/** Waits until nothing is under way any more. */
export async function settled(db: Db, patienceMs = SETTLE_MS): Promise<void> {
  const open = () =>
    db.rows<object>(sql`
      select id, account, nonce, state, hash from relays where state in ('STORED', 'SENT')
      union all
      select id, null, null, status, transaction_hash from transactions where status in ('PENDING', 'PROCESSING')`);
  expect(await eventually(open, (rows) => rows.length === 0, patienceMs)).toEqual([]);
}

interface Row {
  readonly account: string;
  readonly nonces: bigint[];
  readonly next_nonce: bigint;
}

/** Every nonce was used once, without a gap, and what is stored of each relay is what the chain says of its transaction. */
export async function auditRelays(db: Db, sandbox: Sandbox): Promise<void> {
  const accounts = await db.rows<Row>(sql`
    select account, array_agg(nonce order by nonce) as nonces, next_nonce
      from relays join relayer_accounts on address = account and relayer_accounts.chain_id = relays.chain_id
     group by account, next_nonce`);
  for (const { account, nonces, next_nonce } of accounts) {
    const first = nonces[0] ?? 0n;
    expect(nonces).toEqual(nonces.map((_, index) => first + BigInt(index)));
    expect(next_nonce).toBe(first + BigInt(nonces.length));
    const { result } = await sandbox.rpc('getNonce', ['latest', account]);
    expect(BigInt(String(result))).toBe(next_nonce);
  }
  for (const { id, state, chain } of await compareRelays(db, sandbox)) {
    expect({ id, state, chain }).toEqual({ id, state, chain: state });
  }
}

interface Compared {
  readonly id: string;
  /** What is stored of it. */
  readonly state: string;
  /** What the chain says, in the same words. */
  readonly chain: string | undefined;
}

/**
 * A voided relay keeps the hash that its caller knows; what has its place on the chain is what used up its nonce, whether that
 * reverted or not.
 */
export async function compareRelays(db: Db, sandbox: Sandbox): Promise<Compared[]> {
  const relays = await db.rows<{ id: string; state: string; hashes: string[] }>(sql`
    select id, state, case when state = 'VOIDED'
             then array(select hash from relay_attempts where relay_id = relays.id and kind = 'FILLER')
             else array[hash] end as hashes
      from relays`);
  return Promise.all(
    relays.map(async ({ id, state, hashes }) => {
      const found = await Promise.all(hashes.map((hash) => executionOf(sandbox, hash)));
      const chain = found.find((status) => status !== undefined);
      return { id, state, chain: state === 'VOIDED' && chain !== undefined ? 'VOIDED' : chain };
    }),
  );
}

async function executionOf(sandbox: Sandbox, hash: string): Promise<string | undefined> {
  const { result } = await sandbox.rpc('getTransactionReceipt', [hash]);
  return ((result ?? {}) as { execution_status?: string }).execution_status;
}
