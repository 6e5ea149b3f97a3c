import type { Environment } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import type { Block, Receipt } from '../chains/starknet/chain.ts';
import { storableText } from '../util/text.ts';
import { isOpen, type Relay, type RelayKind } from './relay.ts';
import { changeState, lockState } from './relay-store.ts';

/**
 * How a relay ended. `SUCCEEDED` and `REVERTED` are what the chain says of the transaction, `receipt` has its events. `VOIDED`: it
 * was not executed, and we will not try again.
 */
export interface RelayOutcome {
  readonly relayId: string;
  readonly kind: RelayKind;
  readonly environment: Environment;
  /** The wallet whose execution it is. */
  readonly account: bigint;
  readonly result: 'SUCCEEDED' | 'REVERTED' | 'VOIDED';
  /** Of the transaction that is on the chain; not the first one's when the fee had to be raised or somebody else was faster. */
  readonly hash: bigint | undefined;
  readonly revertReason: string | undefined;
  readonly receipt: Receipt | undefined;
  /** Of the block. */
  readonly confirmedAt: Date | undefined;
}

/**
 * Runs in the transaction that stores the outcome. It can come again: the same after a crash, and a different one after the chain
 * was reorganised, or when somebody else executed what had failed for us.
 */
export type OutcomeHandler = (tx: Db, outcome: RelayOutcome) => Promise<void>;
export type OutcomeHandlers = Readonly<Record<RelayKind, OutcomeHandler>>;

/** What the chain shows, and in which block. */
export interface Included {
  readonly receipt: Receipt;
  readonly block: Block;
  /** Whether the transaction only used up the nonce. */
  readonly filler: boolean;
}

/** Contracts choose the words of a revert, and a reason for people needs no more than this. */
const MAX_REASON_LENGTH = 2_000;

export interface Settled {
  readonly id: string;
  readonly environment: Environment;
  readonly kind: Relay['kind'];
  readonly wallet: bigint;
}

/**
 * Stores how a relay ended and tells whoever asked for it, in one transaction. Without `included` it was displaced: its nonce is
 * used by something else. False when it has ended already.
 */
export async function recordOutcome(
  db: Db,
  outcomes: OutcomeHandlers,
  relay: Settled,
  included: Included | undefined,
): Promise<boolean> {
  const outcome = outcomeOf(relay, included);
  const block = included && {
    number: included.block.number,
    hash: toHex(included.block.hash),
  };
  return db.tx(async (tx) => {
    const from = await lockState(tx, relay.id);
    if (!isOpen(from)) return false;
    // A voided relay keeps the hash that its caller knows.
    const set = sql`hash = coalesce(${outcome.hash === undefined ? null : toHex(outcome.hash)}, hash),
      block_number = ${block?.number ?? null}, block_hash = ${block?.hash ?? null},
      revert_reason = ${outcome.revertReason ?? null}, first_since = null, missing_since = null,
      refused_since = null, looked_at = null, outcome_failures = 0`;
    await changeState(tx, relay.id, { from, to: outcome.result, set });
    if (relay.kind !== 'gap') await outcomes[relay.kind](tx, { ...outcome, kind: relay.kind });
    return true;
  });
}

function outcomeOf(relay: Settled, included: Included | undefined): Omit<RelayOutcome, 'kind'> {
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

/** Of a long reason the end stays, where the innermost words stand. */
function storable(reason: string): string {
  const text = storableText(reason, reason.length);
  return text.length > MAX_REASON_LENGTH ? `…${text.slice(1 - MAX_REASON_LENGTH)}`.toWellFormed() : text;
}
