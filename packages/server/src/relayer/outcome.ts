import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, sentTogether, sql } from '@svc/store';
import type { Block, Receipt } from '../chains/starknet/chain.ts';
import { storableText } from '../util/text.ts';
import { type Cost, correctBudgets } from './budget.ts';
import { executesForOthers, isOpen, nextStates, type Relay, type RelayKind, type RelayState } from './relay.ts';
import { lockStates, traceRelay } from './relay-store.ts';

export interface RelayOutcome {
  readonly relayId: string;
  readonly kind: RelayKind;
  readonly environment: Environment;
  readonly account: bigint;
  readonly result: 'SUCCEEDED' | 'REVERTED' | 'VOIDED';
  /** Of the included transaction, which may be a fee bump or a third party's. */
  readonly hash: bigint | undefined;
  readonly revertReason: string | undefined;
  readonly receipt: Receipt | undefined;
  readonly confirmedAt: Date | undefined;
}

/** Runs in the transaction that stores the outcome, and again with another one after a reorganisation or a third party's execution. */
export type OutcomeHandler = (tx: Db, outcome: RelayOutcome) => Promise<void>;
export type OutcomeHandlers = Readonly<Record<RelayKind, OutcomeHandler>>;

export interface Included {
  readonly receipt: Receipt;
  readonly block: Block;
  readonly filler: boolean;
}

const MAX_REASON_LENGTH = 2_000;

type EndedRelay = Pick<Relay, 'id' | 'environment' | 'kind' | 'wallet'>;

/**
 * Without `included` another transaction consumed the relay's nonce. `own` is what our account paid for, null for nothing: a third
 * party may have executed the relay.
 */
export interface Ending {
  readonly relay: EndedRelay;
  readonly included: Included | undefined;
  readonly own: Included | null | undefined;
}

/** False when the relay has ended already. */
export function recordOutcome(
  db: Db,
  outcomes: OutcomeHandlers,
  relay: EndedRelay,
  included: Included | undefined,
  own: Included | null | undefined = included,
): Promise<boolean> {
  const step = { name: 'relay receipt', hash: included?.receipt.transactionHash, sinceStored: true };
  return traceRelay(db, relay.id, step, () => db.tx((tx) => storeOutcome(tx, outcomes, relay, included, own)));
}

export async function storeOutcome(
  tx: Db,
  outcomes: OutcomeHandlers,
  relay: EndedRelay,
  included: Included | undefined,
  own: Included | null | undefined = included,
): Promise<boolean> {
  return (await storeOutcomes(tx, outcomes, [{ relay, included, own }])) === 1;
}

/** Of one budget. Answers how many had not ended yet. */
export async function storeOutcomes(tx: Db, outcomes: OutcomeHandlers, endings: readonly Ending[]): Promise<number> {
  const states = await lockStates(
    tx,
    endings.map(({ relay }) => relay.id),
  );
  const open = endings.filter(({ relay }) => isOpen(stateOf(states, relay.id)));
  const ended = open.map(({ relay, included, own }) => ({ relay, own, included, outcome: outcomeOf(relay, included) }));
  // Sent together and run in this order: budgets before the rows of the handlers, as where a relay is stored.
  await sentTogether([
    endRelays(
      tx,
      ended.map(({ included, own, outcome }) => ({ ...outcome, block: included?.block, fee: own?.receipt.fee ?? 0n })),
    ),
    correctBudgets(
      tx,
      new Map(ended.flatMap((each) => (executesForOthers(each.relay.kind) ? [[each.relay.id, costOf(each)]] : []))),
    ),
    ...ended.map(async ({ relay: { kind }, outcome }) => {
      if (kind !== 'gap') await outcomes[kind](tx, { ...outcome, kind });
    }),
  ]);
  return ended.length;
}

export interface EndOfRelay {
  readonly relayId: string;
  readonly result: RelayState;
  readonly hash: bigint | undefined;
  readonly revertReason: string | undefined;
  readonly block: Pick<Block, 'number' | 'hash'> | undefined;
  readonly fee: bigint;
}

/** They are locked. */
export async function endRelays(tx: Db, ends: readonly EndOfRelay[]): Promise<void> {
  if (ends.length === 0) return;
  const rows = ends.map(({ relayId, result, hash, revertReason, block, fee }) => ({
    id: relayId,
    state: result,
    before: statesBefore(result),
    hash: hash === undefined ? undefined : toHex(hash),
    block_number: block?.number,
    block_hash: block && toHex(block.hash),
    revert_reason: revertReason,
    fee: String(fee),
  }));
  const ids = ends.map(({ relayId }) => relayId);
  await tx.run(sql`
    update relays
       set state = ended.state, hash = coalesce(ended.hash, relays.hash), block_number = ended.block_number,
           block_hash = ended.block_hash, revert_reason = ended.revert_reason, fee = ended.fee, first_since = null,
           missing_since = null, refused_since = null, looked_at = null, outcome_failures = 0, updated_at = now()
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as ended (
             id text, state text, before text[], hash text, block_number bigint, block_hash text, revert_reason text, fee numeric)
     where relays.id = any (${ids}) and relays.id = ended.id and relays.state = any (ended.before)`);
}

const statesBefore = (to: RelayState): string[] =>
  Object.entries(nextStates).flatMap(([from, next]) => (next.includes(to) ? [from] : []));

function stateOf(states: ReadonlyMap<string, RelayState>, id: string): RelayState {
  const state = states.get(id);
  if (!state) throw new Error(`There is no relay ${id}.`);
  return state;
}

function costOf({ own, outcome }: Pick<Ending, 'own'> & { readonly outcome: Pick<RelayOutcome, 'result'> }): Cost {
  const fri = own?.receipt.fee ?? 0n;
  const isOurs = own?.filler === false;
  const reverted = isOurs && own.receipt.status === 'REVERTED';
  const paysPool = isOurs && own.receipt.status !== 'REVERTED';
  return { fri, counts: outcome.result !== 'VOIDED' || fri > 0n, reverted, paysPool };
}

function outcomeOf(relay: EndedRelay, included: Included | undefined): Omit<RelayOutcome, 'kind'> {
  const about = { relayId: relay.id, environment: relay.environment, account: relay.wallet };
  if (!included || included.filler) {
    const nothing = { hash: undefined, revertReason: undefined, receipt: undefined, confirmedAt: undefined };
    return { ...about, result: 'VOIDED', ...nothing };
  }
  const { receipt, block } = included;
  return {
    ...about,
    result: receipt.status === 'REVERTED' ? 'REVERTED' : 'SUCCEEDED',
    hash: receipt.transactionHash,
    revertReason: receipt.revertReason === undefined ? undefined : storable(receipt.revertReason),
    receipt,
    confirmedAt: block.timestamp,
  };
}

function storable(reason: string): string {
  const text = storableText(reason, reason.length);
  return text.length > MAX_REASON_LENGTH ? `…${text.slice(1 - MAX_REASON_LENGTH)}`.toWellFormed() : text;
}
