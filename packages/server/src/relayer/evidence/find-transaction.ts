import { LEGACY_UDC_ADDRESS, selector, toHex, UDC_ADDRESS } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import type { EmittedEvent, EventFilter, Receipt, StarknetChain } from '../../chains/starknet/chain.ts';
import { readTransfer, TRANSFER_SELECTOR, type Transfer, transfersIn } from '../../chains/starknet/transfers.ts';
import type { Deed } from './evidence.ts';

/** A page, and how many of one contract in one block are read: more events than a block holds. */
const PAGE_SIZE = 1_024;
const MAX_PAGES = 10;
/** Of an execution's contracts the first ones leave traces enough. */
const MAX_TARGETS = 10;
/** Transactions of one block that one wallet has to do with. */
const MAX_CANDIDATES = 20;

/**
 * The transaction that executed it in the given block, found by the events that the wallet and the contracts it calls leave
 * there. Undefined when there is none, or when there are several that could be it.
 */
export async function findTransaction(
  db: Db,
  chain: StarknetChain,
  deed: Deed,
  block: number,
): Promise<Receipt | undefined> {
  const hashes = new Set<bigint>();
  for (const trace of tracesOf(deed)) {
    for (const event of await eventsIn(chain, block, trace)) {
      if (concerns(event, deed.wallet)) hashes.add(event.transactionHash);
    }
  }
  const expected = transfersOf(deed);
  const found: Receipt[] = [];
  for (const hash of [...hashes].slice(0, MAX_CANDIDATES)) {
    const receipt = await chain.receipt(hash);
    if (receipt?.blockNumber === block && receipt.status !== 'REVERTED' && fits(receipt, expected)) found.push(receipt);
  }
  if (found.length <= 1) return found[0];
  const others = await hashesOfOthers(db, deed.relayId, [...hashes]);
  const own = found.filter(({ transactionHash }) => !others.has(transactionHash));
  return own.length === 1 ? own[0] : undefined;
}

/** Of these transactions those that other relays have for theirs. */
async function hashesOfOthers(db: Db, id: string, hashes: readonly bigint[]): Promise<Set<bigint>> {
  const rows = await db.rows<{ hash: string }>(sql`
    select hash from relay_attempts
     where chain_id = (select chain_id from relays where id = ${id})
       and hash = any(${hashes.map(toHex)}) and relay_id <> ${id}`);
  return new Set(rows.map(({ hash }) => BigInt(hash)));
}

type Trace = Pick<EventFilter, 'address' | 'keys'>;

function tracesOf({ wallet, execution, deploys }: Deed): Trace[] {
  const called = new Set(execution?.calls.map(({ to }) => to));
  const deployers = deploys ? [UDC_ADDRESS, LEGACY_UDC_ADDRESS] : [];
  const targets = [wallet, ...deployers, ...[...called].slice(0, MAX_TARGETS)];
  return [{ keys: [[TRANSFER_SELECTOR], [wallet]] }, ...targets.map((address) => ({ address }))];
}

async function eventsIn(chain: StarknetChain, block: number, trace: Trace): Promise<EmittedEvent[]> {
  const events: EmittedEvent[] = [];
  let continuation: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await chain.events({ ...trace, fromBlock: block, toBlock: block, limit: PAGE_SIZE, continuation });
    events.push(...answer.events);
    continuation = answer.continuation;
    if (continuation === undefined) break;
  }
  return events;
}

/** Not what others send to the wallet, which they may do in any block. */
function concerns(event: EmittedEvent, wallet: bigint): boolean {
  const transfer = readTransfer(event);
  if (transfer) return transfer.from === wallet;
  return event.from === wallet || event.keys.includes(wallet) || event.data.includes(wallet);
}

function transfersOf({ wallet, execution }: Deed): Transfer[] {
  const calls = execution?.calls ?? [];
  return calls.flatMap(({ to: token, selector: called, calldata: [to, low, high, ...rest] }) => {
    if (called !== selector('transfer') || to === undefined || low === undefined || high === undefined) return [];
    return rest.length > 0 ? [] : [{ token, from: wallet, to, amount: low + (high << 128n) }];
  });
}

/** One of them is enough: some account classes skip a call that fails. */
function fits(receipt: Receipt, expected: readonly Transfer[]): boolean {
  if (expected.length === 0) return true;
  return transfersIn(receipt).some((found) =>
    expected.some(
      ({ token, from, to, amount }) =>
        found.token === token && found.from === from && found.to === to && found.amount === amount,
    ),
  );
}
