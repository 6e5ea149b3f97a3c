import type { UsdMicros } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { newId } from '../ids.ts';
import type { LedgerOwner } from './entries.ts';
import { insufficientCredits } from './hold.ts';

/** As many gifts as are made at once: the environment's other money operations wait meanwhile. */
const MAX_HOLDS_AT_ONCE = 500;

export interface HoldWanted {
  readonly amount: UsdMicros;
  readonly reference: string;
}

/** Reserves all of these or throws `insufficient_credits` and reserves none. Answers the holds' ids in the order given. */
export async function holdMany(
  tx: Db,
  { organizationId, environment }: LedgerOwner,
  wanted: readonly HoldWanted[],
): Promise<string[]> {
  if (wanted.length === 0) return [];
  if (wanted.length > MAX_HOLDS_AT_ONCE)
    throw new RangeError(`At most ${MAX_HOLDS_AT_ONCE} holds can be taken at once.`);
  const ids = wanted.map(() => newId('led'));
  const amounts = wanted.map(({ amount }) => amount);
  const references = wanted.map(({ reference }) => reference);
  const row = await tx.one<{ funds: UsdMicros | null }>(sql`
    select ledger_hold_many(${organizationId}, ${environment}, ${ids}, ${amounts}, ${references}) as funds`);
  const funds = row?.funds ?? undefined;
  if (funds === undefined) throw new Error(`Organisation ${organizationId} has no environment ${environment}.`);
  const needed = amounts.reduce((sum, amount) => sum + amount, 0n);
  if (needed > funds) throw insufficientCredits(needed, funds);
  return ids;
}
