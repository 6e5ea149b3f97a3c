import { toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import { isSolanaWallet } from '../../bridge/token-account.ts';
import type { StoredRelay } from '../../relayer/sponsor.ts';
import { failRedeem, REDEEMS_CHANNEL } from '../end-redeem.ts';
import { type BridgedRedeem, type BridgeFacts, lockBridged, ownerOf } from './bridged-redeem.ts';
import type { BridgingParts } from './parts.ts';
import { BURNED_WITHIN_MS } from './patience.ts';

/** One for ever: a redeem is burned by one transaction or by none, however often this is tried. */
export const burnPurpose = (redeemId: string): string => `burn ${redeemId}`;

/**
 * Burns a redeem's amount and what the gift has reserved for the bridge's fee, so that at least the amount arrives. It is BRIDGING from
 * the moment in which its transaction is stored. Before that, whatever speaks against it ends it and gives its share back.
 */
export async function burn(parts: BridgingParts, redeem: BridgedRedeem, at: Date): Promise<void> {
  const { bridge, payer } = parts;
  const { id, environment, amount, bridge: maxFee, fast } = redeem;
  const against = await reasonAgainst(parts, redeem, at);
  if (against !== undefined) return giveUp(parts, id, against);
  const sender = payer.manager(environment);
  const calls = bridge.burnCalls(environment, { amount: amount + maxFee, maxFee, owner: ownerOf(redeem), fast });
  const facts: BridgeFacts = { sender: toHex(sender), maxFee: String(maxFee), fast };
  const answer = await payer.pay({ environment, kind: 'burn', purpose: burnPurpose(id), calls }, (tx, relay) =>
    storeBurn(tx, id, relay, facts),
  );
  if (!answer.ok) await giveUp(parts, id, `The burn would be reverted: ${answer.reason}`);
}

async function reasonAgainst(parts: BridgingParts, redeem: BridgedRedeem, at: Date): Promise<string | undefined> {
  const { environment, amount, bridge: maxFee, fast, createdAt } = redeem;
  if (at.getTime() - createdAt.getTime() > BURNED_WITHIN_MS) return 'It could not be burned in time.';
  if (!isSolanaWallet(ownerOf(redeem))) return 'Nobody can have the key of this address: it is no wallet.';
  const fee = await parts.bridge.fee(environment, amount + maxFee, fast);
  // The bridge would not mint what does not pay for it, and there would be no way back.
  return fee > maxFee ? `The bridge takes ${fee} at present, and ${maxFee} is reserved for it.` : undefined;
}

async function storeBurn(tx: Db, id: string, { id: relayId, hash }: StoredRelay, facts: BridgeFacts): Promise<void> {
  if (hash === undefined) throw new Error('A burn has no hash.');
  const stored = await tx.run(sql`
    update gift_redeems
       set status = 'BRIDGING', relay_id = ${relayId}, transaction_hash = ${toHex(hash)},
           bridge = ${JSON.stringify(facts)}::jsonb, updated_at = now()
     where id = ${id} and status = 'PENDING' and relay_id is null`);
  if (stored !== 1) throw new Error(`Redeem ${id} has ended or is burned already.`);
  await tx.run(sql`select pg_notify(${REDEEMS_CHANNEL}, ${id})`);
}

async function giveUp({ db, log }: BridgingParts, id: string, reason: string): Promise<void> {
  const gaveUp = await db.tx(async (tx) => {
    const redeem = await lockBridged(tx, sql`id = ${id}`);
    if (redeem?.status !== 'PENDING' || redeem.relayId !== null) return false;
    await failRedeem(tx, id, reason);
    return true;
  });
  if (gaveUp) log.warn({ redeemId: id, reason }, 'a redeem to Solana was given back before anything was burned');
}
