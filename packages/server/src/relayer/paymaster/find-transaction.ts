import { LEGACY_UDC_ADDRESS, selector, UDC_ADDRESS } from '@svc/starknet';
import type { Db } from '@svc/store';
import type { EmittedEvent, EventFilter, Receipt, StarknetChain } from '../../chains/starknet/chain.ts';
import { readTransfer, TRANSFER_SELECTOR, type Transfer, transfersIn } from '../../chains/starknet/transfers.ts';
import { executionOf } from './evidence.ts';
import { hashesOfOthers, type PaymasterRelay } from './store.ts';

/** A page, and how many of one contract in one block are read: more events than a block holds. */
const PAGE_SIZE = 1_024;
const MAX_PAGES = 10;
/** Of an execution's contracts the first ones leave traces enough. */
const MAX_TARGETS = 10;
/** Transactions of one block that one wallet has to do with. */
const MAX_CANDIDATES = 20;

/**
 * The transaction that executed the relay in the given block, found by the events that the wallet and the contracts it calls leave
 * there. Undefined when there is none, or when there are several that could be it.
 */
export async function findTransaction(
  db: Db,
  chain: StarknetChain,
  relay: PaymasterRelay,
  block: number,
): Promise<Receipt | undefined> {
  const hashes = new Set<bigint>();
  for (const trace of tracesOf(relay)) {
    for (const event of await eventsIn(chain, block, trace)) {
      if (concerns(event, relay.wallet)) hashes.add(event.transactionHash);
    }
  }
  const expected = transfersOf(relay);
  const found: Receipt[] = [];
  for (const hash of [...hashes].slice(0, MAX_CANDIDATES)) {
    const receipt = await chain.receipt(hash);
    if (receipt?.blockNumber === block && receipt.status !== 'REVERTED' && fits(receipt, expected)) found.push(receipt);
  }
  if (found.length <= 1) return found[0];
  const others = await hashesOfOthers(db, relay.id, [...hashes]);
  const own = found.filter(({ transactionHash }) => !others.has(transactionHash));
  return own.length === 1 ? own[0] : undefined;
}

type Trace = Pick<EventFilter, 'address' | 'keys'>;

function tracesOf(relay: PaymasterRelay): Trace[] {
  const { type } = relay.content.request.transaction;
  const called = new Set(executionOf(relay)?.calls.map(({ to }) => to));
  const deployers = type === 'invoke' ? [] : [UDC_ADDRESS, LEGACY_UDC_ADDRESS];
  const targets = [relay.wallet, ...deployers, ...[...called].slice(0, MAX_TARGETS)];
  return [{ keys: [[TRANSFER_SELECTOR], [relay.wallet]] }, ...targets.map((address) => ({ address }))];
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

function transfersOf(relay: PaymasterRelay): Transfer[] {
  const calls = executionOf(relay)?.calls ?? [];
  return calls.flatMap(({ to: token, selector: called, calldata: [to, low, high, ...rest] }) => {
    if (called !== selector('transfer') || to === undefined || low === undefined || high === undefined) return [];
    return rest.length > 0 ? [] : [{ token, from: relay.wallet, to, amount: low + (high << 128n) }];
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
