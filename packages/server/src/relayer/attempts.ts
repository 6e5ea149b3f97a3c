import { toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import type { SendOutcome, SignedInvoke, StarknetChain } from '../chains/starknet/chain.ts';
import type { RawInvoke } from '../chains/starknet/raw-invoke.ts';

/** `FIRST`: as it was asked for. `BUMP`: the same with a higher fee. `FILLER`: only uses up the nonce. */
export type AttemptKind = 'FIRST' | 'BUMP' | 'FILLER';

export async function insertAttempt(
  tx: Db,
  chainId: bigint,
  relayId: string,
  kind: AttemptKind,
  { hash, transaction }: SignedInvoke,
  at?: Date,
): Promise<void> {
  // Later than those before it, whatever clock they were made by: the newest is the one that pays most.
  await tx.run(sql`
    insert into relay_attempts (chain_id, hash, relay_id, kind, transaction, created_at)
    values (${toHex(chainId)}, ${toHex(hash)}, ${relayId}, ${kind}, ${JSON.stringify(transaction)},
      greatest(coalesce(${at ?? null}::timestamptz, now()), (
        select max(created_at) + interval '1 microsecond' from relay_attempts where relay_id = ${relayId})))
    on conflict (chain_id, hash) do nothing`);
}

/** Somebody else's transaction, which executed the relay: from now on the relay is found by its hash, too. */
export async function insertOther(tx: Db, chainId: bigint, relayId: string, hash: bigint): Promise<void> {
  await tx.run(sql`
    insert into relay_attempts (chain_id, hash, relay_id, kind, transaction, taken_at)
    values (${toHex(chainId)}, ${toHex(hash)}, ${relayId}, 'OTHER', '', now())
    on conflict (chain_id, hash) do nothing`);
}

export async function readAttempt(db: Db, chainId: bigint, hash: bigint): Promise<SignedInvoke> {
  const row = await db.one<{ transaction: string }>(sql`
    select transaction from relay_attempts where chain_id = ${toHex(chainId)} and hash = ${toHex(hash)}`);
  if (!row) throw new Error(`The transaction ${toHex(hash)} is not stored.`);
  return { hash, transaction: JSON.parse(row.transaction) as RawInvoke };
}

/** Sends what is stored, and notes when a node has it. Repeating is harmless: the bytes and the hash are the same. */
export async function sendAttempt(
  db: Db,
  chain: StarknetChain,
  relayId: string,
  signed: SignedInvoke,
): Promise<SendOutcome> {
  const outcome = await chain.send(signed);
  if (outcome.outcome === 'sent') {
    await db.run(sql`
      with taken as (
        update relay_attempts set taken_at = now()
         where chain_id = ${toHex(chain.chainId)} and hash = ${toHex(signed.hash)} and taken_at is null)
      update relays set state = 'SENT', updated_at = now() where id = ${relayId} and state = 'STORED'`);
  }
  return outcome;
}
