import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import type { Block, Receipt } from '../chains/starknet/chain.ts';
import { storableText } from '../util/text.ts';
import { correctBudget } from './budget.ts';
import { executesForOthers, isOpen, type Relay, type RelayKind } from './relay.ts';
import { changeState, lockState, traceRelay } from './relay-store.ts';

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
 * party may have executed the relay. False when the relay has ended already.
 */
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
  const outcome = outcomeOf(relay, included);
  const block = included && {
    number: included.block.number,
    hash: toHex(included.block.hash),
  };
  const fri = own?.receipt.fee ?? 0n;
  const reverted = own?.filler === false && own.receipt.status === 'REVERTED';
  const paysPool = own?.filler === false && own.receipt.status !== 'REVERTED';
  const from = await lockState(tx, relay.id);
  if (!isOpen(from)) return false;
  const set = sql`hash = coalesce(${outcome.hash === undefined ? null : toHex(outcome.hash)}, hash),
    block_number = ${block?.number ?? null}, block_hash = ${block?.hash ?? null},
    revert_reason = ${outcome.revertReason ?? null}, fee = ${fri}::numeric, first_since = null, missing_since = null,
    refused_since = null, looked_at = null, outcome_failures = 0`;
  await changeState(tx, relay.id, { from, to: outcome.result, set });
  // Before the rows of the handlers, as where a relay is stored.
  if (executesForOthers(relay.kind)) {
    const counts = outcome.result !== 'VOIDED' || fri > 0n;
    await correctBudget(tx, relay.id, { fri, counts, reverted, paysPool });
  }
  if (relay.kind !== 'gap') await outcomes[relay.kind](tx, { ...outcome, kind: relay.kind });
  return true;
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
