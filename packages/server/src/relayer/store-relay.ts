import type { Environment } from '@svc/protocol';
import { type Call, toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import type { SignedInvoke } from '../chains/starknet/chain.ts';
import { newId } from '../ids.ts';
import type { AttemptKind } from './attempts.ts';
import type { Relay } from './relay.ts';
import { writeCalls } from './relayed-calls.ts';
import { padded } from './spelling.ts';

export interface NewRelay {
  readonly environment: Environment;
  readonly chainId: bigint;
  readonly kind: Relay['kind'];
  readonly purpose: string;
  readonly messageHash: bigint;
  readonly wallet: bigint;
  readonly notAfter: Date;
  readonly account: string;
  readonly nonce: bigint;
  readonly calls: readonly Call[];
  readonly attempt: AttemptKind;
  readonly signed: SignedInvoke;
}

/** Stores it with its first attempt. Answers its id, or undefined when there is one with this purpose or this nonce already. */
export async function insertRelay(tx: Db, relay: NewRelay): Promise<string | undefined> {
  const { hash, transaction } = relay.signed;
  const row = await tx.one<{ id: string }>(sql`
    with relay as (
      insert into relays (id, environment, chain_id, kind, purpose, message_hash, wallet, not_after, account, nonce, content,
        hash)
      values (${newId('rly')}, ${relay.environment}, ${toHex(relay.chainId)}, ${relay.kind}, ${relay.purpose},
        ${toHex(relay.messageHash)}, ${padded(relay.wallet)}, ${relay.notAfter}, ${relay.account}, ${relay.nonce},
        ${JSON.stringify(writeCalls(relay.calls))}::jsonb, ${toHex(hash)})
      on conflict do nothing
      returning id, chain_id, hash
    ), attempt as (
      insert into relay_attempts (chain_id, hash, relay_id, kind, transaction)
      select chain_id, hash, id, ${relay.attempt}, ${JSON.stringify(transaction)} from relay
      on conflict (chain_id, hash) do nothing
    )
    select id from relay`);
  return row?.id;
}
