import { createHash } from 'node:crypto';
import { type Database, sql } from '@svc/store';
import { genesis } from '../contracts/genesis.ts';
import { blockHash } from './block-hash.ts';
import { stateRows } from './rows.ts';

/** The live network takes hours for it; here it is a number of blocks that tests can reach. */
const DEFAULT_L1_AFTER_BLOCKS = 100;

/**
 * Makes block 0 where there is none. Contracts that a newer program brings are added to it, and what is there already
 * stays as it is, so that a chain outlives upgrades.
 */
export async function begin(db: Database, now: () => number): Promise<void> {
  const rows = stateRows(0, genesis(), () => 0n);
  const digest = createHash('sha256').update(JSON.stringify(rows)).digest('hex');
  const known = await db.one<{ genesis: string }>(sql`select genesis from sandbox.chain`);
  if (known?.genesis === digest) return;
  await db.tx(async (tx) => {
    const timestamp = Math.floor(now() / 1000);
    const hash = blockHash({ parent: '0x0', number: 0, timestamp, version: 0 });
    await tx.run(sql`
      insert into sandbox.chain (number, hash, timestamp, sealed_version, version, l1_after_blocks, genesis)
      values (0, ${hash}, ${timestamp}, 0, 0, ${DEFAULT_L1_AFTER_BLOCKS}, ${digest})
      on conflict (only_one) do update
        set genesis = excluded.genesis,
            -- Others must not trust what they remember of the contracts that are new.
            version = chain.version + 1,
            sealed_version = case when chain.open_transactions = 0 then chain.version + 1 else chain.sealed_version end,
            reorganisations = chain.reorganisations + 1
        where chain.genesis <> excluded.genesis`);
    await tx.run(sql`
      insert into sandbox.blocks (number, hash, parent_hash, timestamp, version)
      values (0, ${hash}, '0x0', ${timestamp}, 0) on conflict do nothing`);
    await tx.run(sql`
      insert into sandbox.state (contract, slot, version, value)
      select contract, slot, 0, value from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as row(contract text, slot text, value text)
      on conflict do nothing`);
  });
}
