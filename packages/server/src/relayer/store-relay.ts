import type { Environment } from '@svc/protocol';
import { type Call, toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import type { SignedInvoke } from '../chains/starknet/chain.ts';
import { newId } from '../ids.ts';
import { type AttemptKind, insertAttempt } from './attempts.ts';
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

/** Answers its id, or undefined when there is one with this purpose or this nonce already. */
export async function insertRelay(tx: Db, relay: NewRelay): Promise<string | undefined> {
  const row = await tx.one<{ id: string }>(sql`
    insert into relays (id, environment, chain_id, kind, purpose, message_hash, wallet, not_after, account, nonce, content,
      hash)
    values (${newId('rly')}, ${relay.environment}, ${toHex(relay.chainId)}, ${relay.kind}, ${relay.purpose},
      ${toHex(relay.messageHash)}, ${padded(relay.wallet)}, ${relay.notAfter}, ${relay.account}, ${relay.nonce},
      ${JSON.stringify(writeCalls(relay.calls))}::jsonb, ${toHex(relay.signed.hash)})
    on conflict do nothing
    returning id`);
  if (row) await insertAttempt(tx, relay.chainId, row.id, relay.attempt, relay.signed);
  return row?.id;
}
