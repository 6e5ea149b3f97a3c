import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import type { Estimate } from '../../chains/starknet/chain.ts';
import { type AttemptKind, insertAttempt, readAttempt, sendAttempt } from '../attempts.ts';
import { lockState } from '../change-state.ts';
import { covers, type Fee, feeOf, firstFee, maxFeeOf, raisedFee } from '../fees.ts';
import { isOpen } from '../relay.ts';
import { fillerCalls } from '../relayed-calls.ts';
import { signTransaction, unsigned } from '../sign.ts';
import type { OpenRelay } from './open-relays.ts';
import { callsOf } from './relay-calls.ts';
import { ageMs, type View } from './view.ts';

/** Blocks come every few seconds: what has not been included by then waits for a better price. */
export const RAISE_AFTER_MS = 30_000;
/** By then it pays about four times as much; more would not help, unless prices have risen further. */
export const MAX_RAISES = 5;

/**
 * Signs the relay's calls again under the same nonce, for more money, so that the chain takes one or the other. When the wallet
 * would refuse the execution as expired, something that does nothing takes its place, and those behind it can go on. Answers
 * whether a node took it.
 */
export async function raiseFee(view: View, relay: OpenRelay): Promise<boolean> {
  const { newest } = relay;
  const isOver = newest.kind === 'FILLER' || (await view.time()) >= relay.notAfter;
  if (isOver && newest.kind !== 'FILLER') return fillNonce(view, relay);
  if (ageMs(view, newest.createdAt) < RAISE_AFTER_MS) return false;
  return replace(view, relay, isOver ? 'FILLER' : 'BUMP');
}

/** Gives the relay's nonce to something that does nothing. Whichever of the two the chain takes, it takes one. */
export function fillNonce(view: View, relay: OpenRelay): Promise<boolean> {
  return replace(view, relay, 'FILLER');
}

async function replace(view: View, relay: OpenRelay, kind: AttemptKind): Promise<boolean> {
  const { db, chain, key, log } = view;
  const { newest } = relay;
  const about = { account: view.account, relayId: relay.id, nonce: String(relay.nonce), replaces: toHex(newest.hash) };
  if (!key) {
    log.error(about, 'a relay is stuck, and the key of its account is not configured');
    return false;
  }
  const before = feeOf((await readAttempt(db, chain.chainId, newest.hash)).transaction);
  const calls = kind === 'FILLER' ? fillerCalls(key.address, view.strk) : await callsOf(db, relay.id);
  const transaction = { chainId: chain.chainId, sender: key.address, nonce: relay.nonce, calls };
  const answer = await chain.estimate(unsigned(transaction));
  // What would revert now is sent all the same: its receipt is the truth, and our view may be old.
  const estimate = answer.ok ? answer : undefined;
  const count = relay.attempts.filter((attempt) => attempt.kind === kind).length;
  if (count >= MAX_RAISES && (!estimate || covers(before, estimate))) return false;
  const fee = nextFee(relay, kind, before, estimate);
  if (kind === 'BUMP' && view.maxFeeFri !== undefined && maxFeeOf(fee) > view.maxFeeFri) {
    log.error({ ...about, maxFeeFri: String(view.maxFeeFri) }, 'a relay is stuck, and more is not paid for one');
    return false;
  }
  const signed = await signTransaction(view.crypto, key, transaction, fee);
  const stored = await db.tx(async (tx) => {
    if (!isOpen(await lockState(tx, relay.id))) return false;
    await insertAttempt(tx, chain.chainId, relay.id, kind, signed, view.at);
    // The hash that callers are told stays the one of their execution.
    if (kind === 'BUMP') await tx.run(sql`update relays set hash = ${toHex(signed.hash)} where id = ${relay.id}`);
    return true;
  });
  if (!stored) return false;
  log.warn({ ...about, kind, hash: toHex(signed.hash) }, 'a relay is replaced');
  return (await sendAttempt(db, chain, relay.id, signed)).outcome === 'sent';
}

/** Where nothing waits at a node that would have to be outbid, doing nothing is had for its own price. */
function nextFee({ attempts }: OpenRelay, kind: AttemptKind, before: Fee, estimate: Estimate | undefined): Fee {
  const isUnheard = attempts.every(({ takenAt, kind }) => takenAt === undefined && kind !== 'FILLER');
  return kind === 'FILLER' && isUnheard && estimate ? firstFee(estimate) : raisedFee(before, estimate);
}
