import { parseSolanaAddress, type SolanaAddress } from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import type { Burn } from '../bridge/bridge.ts';
import type { BurnFacts } from '../bridge/follow-burn.ts';
import { type Redeem, redeemColumns } from './redeem.ts';

export interface BridgeFacts extends BurnFacts {
  /** The order as it was sent; the bridge's message is compared with it. */
  readonly sender?: string;
  readonly maxFee?: string;
  readonly fast?: boolean;
  /** Burned after the redeem had failed and its share was released: it keeps its status until the mint. */
  readonly late?: boolean;
}

export interface BridgedRedeem extends Redeem {
  readonly relayId: string | null;
  readonly spent: boolean;
  readonly facts: BridgeFacts;
  readonly bridge: bigint;
  readonly fast: boolean;
}

const columns = sql`
  redeem.*, coalesce(facts, '{}') as facts, gifts.bridge_micros as bridge, gifts.cctp_fast as fast`;

const solanaRedeems = (which: Sql): Sql => sql`
  select ${columns}
    from (select ${redeemColumns}, relay_id as "relayId", spent, bridge as facts from gift_redeems
           where destination_chain = 'solana' and ${which}) as redeem
    join gifts on gifts.id = redeem."giftId"`;

export function findBridged(db: Pick<Reads, 'one'>, id: string): Promise<BridgedRedeem | undefined> {
  return db.one<BridgedRedeem>(solanaRedeems(sql`id = ${id}`));
}

/** Locks the gift first, in the same order as everywhere. */
export async function lockBridged(tx: Db, which: Sql): Promise<BridgedRedeem | undefined> {
  await tx.rows(sql`
    select id from gifts where id in (select gift_id from gift_redeems where ${which}) order by id for no key update`);
  await tx.rows(sql`select id from gift_redeems where ${which} for no key update`);
  return tx.one<BridgedRedeem>(solanaRedeems(which));
}

export async function addFacts(tx: Db, id: string, facts: BridgeFacts): Promise<void> {
  await tx.run(sql`
    update gift_redeems set bridge = coalesce(bridge, '{}') || ${JSON.stringify(facts)}::jsonb, updated_at = now()
     where id = ${id}`);
}

export function burnOf(redeem: BridgedRedeem): Burn {
  const { facts, transactionHash, amount } = redeem;
  if (
    transactionHash === null ||
    facts.sender === undefined ||
    facts.maxFee === undefined ||
    facts.fast === undefined
  ) {
    throw new Error(`Redeem ${redeem.id} has no burn.`);
  }
  const maxFee = BigInt(facts.maxFee);
  const order = { amount: amount + maxFee, maxFee, owner: ownerOf(redeem), fast: facts.fast };
  return { hash: transactionHash, sender: BigInt(facts.sender), order };
}

export function ownerOf({ id, address }: Pick<Redeem, 'id' | 'address'>): SolanaAddress {
  const owner = parseSolanaAddress(address);
  if (!owner.ok) throw new Error(`The address of redeem ${id} ${owner.reason}.`);
  return owner.value;
}
