import { toHex } from '@svc/starknet';
import type { Block } from '../../chains/starknet/chain.ts';
import { reasonOf } from '../../jobs/job.ts';
import { type Included, settle } from '../settle.ts';
import { executedElsewhere } from './executed-elsewhere.ts';
import { note, type OpenRelay } from './open-relays.ts';
import { ageMs, type View } from './view.ts';

/** Reads of one look at the same time: enough to keep a node busy, few enough to be polite. */
const AT_ONCE = 8;
/** A node may tell nonces before receipts, or be behind another one; after so long it is neither. */
const DISPLACED_AFTER_MS = 300_000;

/** `LATER`: it is on the chain, but its block may still change, or it cannot be read now. `UNKNOWN`: none of its transactions is there. */
type Found = Included | 'LATER' | 'UNKNOWN';

/** Stores the end of relays whose nonces are used. Answers whether there was one. */
export async function settleIncluded(view: View, relays: readonly OpenRelay[]): Promise<boolean> {
  const blocks = new Map<number, Promise<Block | undefined>>();
  const blockAt = (number: number) => {
    const block = blocks.get(number) ?? view.chain.block(number);
    blocks.set(number, block);
    return block;
  };
  let settled = false;
  for (let start = 0; start < relays.length; start += AT_ONCE) {
    const some = relays.slice(start, start + AT_ONCE);
    const all = await Promise.all(some.map(async (relay) => ({ relay, found: await find(view, relay, blockAt) })));
    for (const { relay, found } of all) settled = (await end(view, relay, found)) || settled;
  }
  return settled;
}

type BlockAt = (number: number) => Promise<Block | undefined>;

/** One that cannot be read must not hold up the others. */
function find(view: View, relay: OpenRelay, blockAt: BlockAt): Promise<Found> {
  return read(view, relay, blockAt).catch((error: unknown) => {
    view.log.warn({ relayId: relay.id, reason: reasonOf(error) }, 'the end of a relay could not be read');
    return 'LATER';
  });
}

async function read({ chain }: View, { attempts }: OpenRelay, blockAt: BlockAt): Promise<Found> {
  for (const { hash, kind } of attempts) {
    const receipt = await chain.receipt(hash);
    if (!receipt) continue;
    if (!receipt.accepted || receipt.blockNumber === undefined) return 'LATER';
    const block = await blockAt(receipt.blockNumber);
    return block && block.hash === receipt.blockHash ? { receipt, block, filler: kind === 'FILLER' } : 'LATER';
  }
  return 'UNKNOWN';
}

async function end(view: View, relay: OpenRelay, found: Found): Promise<boolean> {
  const { db, outcomes, log } = view;
  if (found === 'LATER') return false;
  try {
    if (found === 'UNKNOWN' && !(await isDisplaced(view, relay))) return false;
    const own = found === 'UNKNOWN' ? undefined : found;
    const other = isExecution(own) ? 'NO' : await executedElsewhere(view, relay);
    if (other === 'UNTOLD') return false;
    return await settle(db, outcomes, relay, other === 'NO' ? own : other);
  } catch (error) {
    // One that cannot be stored must not hold up the others.
    log.error({ relayId: relay.id, reason: reasonOf(error) }, 'the end of a relay could not be stored');
    return false;
  }
}

const isExecution = (own: Included | undefined): boolean =>
  own !== undefined && !own.filler && own.receipt.status !== 'REVERTED';

async function isDisplaced(view: View, relay: OpenRelay): Promise<boolean> {
  const { chain, account, log } = view;
  const { id, nonce, missingSince, attempts } = relay;
  if (!missingSince) await note(view, id, 'missing');
  if (!missingSince || ageMs(view, missingSince) < DISPLACED_AFTER_MS) return false;
  const used = (await chain.nonceAt(BigInt(account))) ?? 0n;
  const known = await Promise.all(attempts.map(({ hash }) => chain.transactionStatus(hash)));
  if (used <= nonce || known.some(({ status }) => status !== 'NOT_RECEIVED')) return false;
  const hashes = attempts.map(({ hash }) => toHex(hash));
  log.error({ account, relayId: id, nonce: String(nonce), hashes }, 'the nonce of a relay was used by somebody else');
  return true;
}
