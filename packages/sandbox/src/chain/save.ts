import { type Db, sql } from '@svc/store';
import type { Draft } from './draft.ts';

/** Stores a draft in one statement: one way to the database, whatever the number of transactions. */
export async function save(tx: Db, draft: Draft): Promise<void> {
  const { head } = draft;
  await tx.run(sql`
    with new_blocks as (
      insert into sandbox.blocks (number, hash, parent_hash, timestamp, version)
      select number, hash, parent_hash, timestamp, version
        from jsonb_to_recordset(${JSON.stringify(draft.blocks)}::jsonb)
          as row(number integer, hash text, parent_hash text, timestamp bigint, version integer)
    ), new_transactions as (
      insert into sandbox.transactions (version, hash, block_number, index, transaction, execution_status, revert_reason,
        actual_fee, l1_gas, l1_data_gas, l2_gas, contract_address)
      select version, hash, block_number, index, transaction, execution_status, revert_reason,
        actual_fee, l1_gas, l1_data_gas, l2_gas, contract_address
        from json_to_recordset(${JSON.stringify(draft.transactions)}::json)
          as row(version integer, hash text, block_number integer, index integer, transaction json,
            execution_status text, revert_reason text, actual_fee text, l1_gas bigint, l1_data_gas bigint,
            l2_gas bigint, contract_address text)
    ), new_events as (
      insert into sandbox.events (version, index, from_address, keys, data)
      select version, index, from_address, keys, data
        from jsonb_to_recordset(${JSON.stringify(draft.events)}::jsonb)
          as row(version integer, index integer, from_address text, keys text[], data text[])
    ), new_state as (
      insert into sandbox.state (contract, slot, version, value)
      select contract, slot, version, value
        from jsonb_to_recordset(${JSON.stringify(draft.state)}::jsonb)
          as row(contract text, slot text, version integer, value text)
    ), new_classes as (
      insert into sandbox.classes (hash, definition)
      select hash, definition from json_to_recordset(${JSON.stringify(draft.classes)}::json)
          as row(hash text, definition json)
      on conflict do nothing
    )
    update sandbox.chain set
      number = ${head.number}, hash = ${head.hash}, timestamp = ${head.timestamp},
      sealed_version = ${head.sealedVersion}, version = ${head.version}, reorganisations = ${head.reorganisations},
      block_seconds = ${head.blockSeconds}, time_offset_seconds = ${head.timeOffsetSeconds},
      l1_after_blocks = ${head.l1AfterBlocks}, queued = ${head.queued},
      opened_at = ${head.open ? new Date(head.open.openedAt) : null},
      open_timestamp = ${head.open?.timestamp ?? null}, open_transactions = ${head.open?.transactions ?? 0}`);
}
