import { type Call, decodeOutsideExecution } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import type { Deed } from '../evidence/evidence.ts';
import { executesForOthers } from '../relay.ts';
import { readCalls, type StoredCalls } from '../relayed-calls.ts';
import type { OpenRelay } from './open-relays.ts';

/** What an account executes for a relay. */
export async function callsOf(db: Db, relayId: string): Promise<Call[]> {
  const row = await db.one<{ content: StoredCalls }>(sql`select content from relays where id = ${relayId}`);
  if (!row) throw new Error(`The relay ${relayId} is gone.`);
  return readCalls(row.content);
}

/** What the chain can be asked about a relay; of one that is not executed for anybody else, nothing. */
export async function deedOf(
  db: Db,
  { id, kind, wallet, notAfter }: Pick<OpenRelay, 'id' | 'kind' | 'wallet' | 'notAfter'>,
): Promise<Deed | undefined> {
  if (!executesForOthers(kind)) return undefined;
  const calls = await callsOf(db, id);
  const execution = decodeOutsideExecution(calls.at(-1)?.calldata ?? [])?.execution;
  if (!execution) throw new Error(`The execution of the relay ${id} cannot be read.`);
  return { relayId: id, wallet, execution, deploys: calls.length > 1, notAfter, fromBlock: undefined };
}
