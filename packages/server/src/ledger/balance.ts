import type { UsdMicros } from '@svc/protocol';
import { type Reads, sql } from '@svc/store';
import type { LedgerOwner } from './entries.ts';

export interface CreditBalance {
  readonly available: UsdMicros;
  /** Reserved by open holds. */
  readonly held: UsdMicros;
  readonly total: UsdMicros;
}

export async function balance(db: Reads, { organizationId, environment }: LedgerOwner): Promise<CreditBalance> {
  const row = await db.one<CreditBalance>(sql`
    select available, held, available + held as total
      from ledger_balances
     where organization_id = ${organizationId} and environment = ${environment}`);
  if (!row) throw new Error(`Organisation ${organizationId} has no environment ${environment}.`);
  return row;
}
