import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { insertAttempt, readAttempt, sendAttempt } from '../attempts.ts';
import { lockState } from '../change-state.ts';
import { feeOf, raisedFee } from '../fees.ts';
import { isOpen } from '../relay.ts';
import { fillerCalls, readCalls, type StoredCalls } from '../relayed-calls.ts';
import { signTransaction, unsigned } from '../sign.ts';
import type { OpenRelay } from './open-relays.ts';
import { ageMs, type View } from './view.ts';

/** Blocks come every few seconds: what has not been included by then waits for a better price. */
export const RAISE_AFTER_MS = 30_000;
/** By then it pays about four times as much; more would not help. */
const MAX_RAISES = 5;

/**
 * Signs the relay's calls again under the same nonce, for more money, so that the chain takes one or the other. When the wallet
 * would refuse the execution as expired, something that does nothing takes its place, and those behind it can go on. Answers
 * whether a node took it.
 */
export async function raiseFee(view: View, relay: OpenRelay): Promise<boolean> {
  const { db, chain, key, log, now } = view;
  const { newest } = relay;
  const kind = (await view.time()) >= relay.notAfter ? 'FILLER' : 'BUMP';
  const replacesExecution = kind === 'FILLER' && newest.kind !== 'FILLER';
  if (!replacesExecution && ageMs(view, newest.createdAt) < RAISE_AFTER_MS) return false;
  if (relay.attempts.filter((attempt) => attempt.kind === kind).length >= MAX_RAISES) return false;
  const about = { account: view.account, relayId: relay.id, nonce: String(relay.nonce), replaces: toHex(newest.hash) };
  if (!key) {
    log.error(about, 'a relay is stuck, and the key of its account is not configured');
    return false;
  }
  const before = await readAttempt(db, chain.chainId, newest.hash);
  const calls = kind === 'FILLER' ? fillerCalls(key.address, view.strk) : await callsOf(view, relay);
  const transaction = { chainId: chain.chainId, sender: key.address, nonce: relay.nonce, calls };
  const estimate = await chain.estimate(unsigned(transaction));
  // What would revert now is sent all the same: its receipt is the truth, and our view may be old.
  const fee = raisedFee(feeOf(before.transaction), estimate.ok ? estimate : undefined);
  const signed = await signTransaction(view.crypto, key, transaction, fee);
  const stored = await db.tx(async (tx) => {
    if (!isOpen(await lockState(tx, relay.id))) return false;
    await insertAttempt(tx, chain.chainId, relay.id, kind, signed, new Date(now()));
    // The hash that callers are told stays the one of their execution.
    if (kind === 'BUMP') await tx.run(sql`update relays set hash = ${toHex(signed.hash)} where id = ${relay.id}`);
    return true;
  });
  if (!stored) return false;
  log.warn({ ...about, kind, hash: toHex(signed.hash) }, 'a relay is replaced');
  return (await sendAttempt(db, chain, relay.id, signed, now)).outcome === 'sent';
}

async function callsOf({ db }: View, { id }: OpenRelay) {
  const row = await db.one<{ content: StoredCalls }>(sql`select content from relays where id = ${id}`);
  if (!row) throw new Error(`The relay ${id} is gone.`);
  return readCalls(row.content);
}
