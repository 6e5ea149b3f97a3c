import { type Db, type Sql, sql } from '@svc/store';
import { nextStates, type RelayState } from './relay.ts';

/** The state of a relay, which nobody else changes before this transaction ends. */
export async function lockState(tx: Db, id: string): Promise<RelayState> {
  const row = await tx.one<{ state: RelayState }>(sql`select state from relays where id = ${id} for update`);
  if (!row) throw new Error(`There is no relay ${id}.`);
  return row.state;
}

export interface Step {
  readonly from: RelayState;
  readonly to: RelayState;
  /** What else changes with the state. */
  readonly set?: Sql;
}

/** False when the relay is not where the step begins, or when no way leads from there. */
export async function changeState(tx: Db, id: string, { from, to, set }: Step): Promise<boolean> {
  if (!nextStates[from].includes(to)) return false;
  const changed = await tx.run(sql`
    update relays set state = ${to}, updated_at = now() ${set ? sql`, ${set}` : sql``}
     where id = ${id} and state = ${from}`);
  return changed === 1;
}
