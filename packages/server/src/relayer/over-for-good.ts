import { toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import type { Receipt, StarknetChain } from '../chains/starknet/chain.ts';
import type { AttemptKind } from './attempts.ts';

interface Row {
  readonly account: string;
  readonly nonce: bigint;
  readonly block_number: bigint | null;
  readonly attempts: readonly { readonly hash: string; readonly kind: AttemptKind }[];
}

/**
 * Whether a relay of our own that ended without being executed can never be executed any more. All its transactions have one
 * nonce, so that is certain once a block that is accepted on L1 has used it up, and for something else: for a transaction that
 * reverted, for a filler, or for a stranger's.
 */
export async function isOverForGood(db: Db, chain: StarknetChain, relayId: string): Promise<boolean> {
  const relay = await findEnded(db, chain.chainId, relayId);
  if (!relay) return false;
  const last = await chain.block('l1_accepted');
  if (!last) return false;
  const used = await chain.nonceAt(BigInt(relay.account), last.number);
  if (used === undefined || used <= relay.nonce) return false;
  for (const { hash, kind } of relay.attempts) {
    const receipt = await chain.receipt(BigInt(hash));
    if (receipt) return isHarmless(receipt, kind) && stands(receipt, last.number);
  }
  // Where we have seen it in a block, a node that does not know it any more is behind or elsewhere.
  return relay.block_number === null;
}

function findEnded(db: Db, chainId: bigint, relayId: string): Promise<Row | undefined> {
  return db.one<Row>(sql`
    select account, nonce, block_number, (
             select json_agg(json_build_object('hash', hash, 'kind', kind))
               from relay_attempts where relay_id = relays.id and kind <> 'OTHER') as attempts
      from relays
     where id = ${relayId} and chain_id = ${toHex(chainId)} and account is not null and state in ('REVERTED', 'VOIDED')`);
}

const isHarmless = ({ status }: Receipt, kind: AttemptKind): boolean => status === 'REVERTED' || kind === 'FILLER';

const stands = ({ accepted, blockNumber }: Receipt, last: number): boolean =>
  accepted && blockNumber !== undefined && blockNumber <= last;
