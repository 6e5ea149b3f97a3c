import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { newId } from '../src/util/ids.ts';
import type { IndexerFixture } from './indexer.ts';

/** A relay that ended in a block. */
export async function settledRelay({ db, chain }: IndexerFixture, number: number, hash: bigint): Promise<string> {
  const id = newId('rly');
  await db.run(sql`
    insert into relays (id, environment, chain_id, kind, purpose, message_hash, wallet, not_after, account, nonce, content, state,
      hash, block_number, block_hash)
    values (${id}, 'development', ${toHex(chain.chainId)}, 'calls', ${id}, '0x1', '0x2', now(), ${id}, 0, '{}',
      'SUCCEEDED', '0x3', ${number}, ${toHex(hash)})`);
  return id;
}

export async function stateOfRelay({ db }: IndexerFixture, id: string): Promise<string | undefined> {
  return (await db.one<{ state: string }>(sql`select state from relays where id = ${id}`))?.state;
}
