import {
  decodeOutsideExecution,
  LEGACY_UDC_ADDRESS,
  type OutsideExecution,
  selector,
  toHex,
  UDC_ADDRESS,
} from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import type { StarknetNetwork } from '../chains/networks.ts';
import {
  type BlockId,
  type EmittedEvent,
  type EventFilter,
  type Receipt,
  readTransfer,
  type StarknetChain,
  TRANSFER_SELECTOR,
  type Transfer,
  transfersIn,
} from '../chains/starknet/chain.ts';
import { code } from '../chains/starknet/rpc-answers.ts';
import { executesForOthers } from './relay.ts';
import { callsOf } from './relay-store.ts';
import type { OpenRelay } from './worker/context.ts';

/** What the chain is asked about a relay. Anyone who has the signature may execute it, so receipts of our own do not tell all. */
export interface RelayedExecution {
  readonly relayId: string;
  readonly wallet: bigint;
  /** Undefined where the wallet is only deployed. */
  readonly execution: OutsideExecution | undefined;
  /** Whether the wallet is deployed with it. */
  readonly deploys: boolean;
  readonly notAfter: Date;
  /** A block before it was asked for, where one is known. */
  readonly fromBlock: number | undefined;
}

/** On a chain where nothing happens no block comes after the window; then our clock decides, this much later. */
const IDLE_CHAIN_MS = 3_600_000;
/** Far more blocks than an execution's window has. */
const MAX_BLOCKS_BACK = 2 ** 20;

/** The wallet is of a class that does not say which nonces it has spent. */
export class NonceUnreadableError extends Error {
  override readonly name = 'UntoldError';
}

/**
 * Whether it was executed, as of a block: the wallet has spent its nonce, which it does once, or stands where it was to be
 * deployed. This does not depend on what anybody says.
 */
export async function isExecuted(
  chain: StarknetChain,
  { wallet, execution }: RelayedExecution,
  at: BlockId,
): Promise<boolean> {
  if (!execution) return (await chain.classHashAt(wallet, at)) !== undefined;
  const question = { to: wallet, entrypoint: 'is_valid_outside_execution_nonce', calldata: [execution.nonce] };
  const answer = await chain.call(question, at);
  if (answer.ok && answer.felts.length === 1) return answer.felts[0] === 0n;
  if (!answer.ok && answer.code === code.contractNotFound) return false;
  throw new NonceUnreadableError(`${toHex(wallet)} does not tell whether it has spent a nonce`);
}

/** The block in which it was executed, given that it is done at `head`. Undefined: it was, long before we were asked. */
export async function findExecutionBlock(
  chain: StarknetChain,
  deed: RelayedExecution,
  head: number,
): Promise<number | undefined> {
  const before = await blockBefore(chain, deed, head);
  if (before === undefined) return undefined;
  let [undone, done] = [before, head];
  while (done - undone > 1) {
    const middle = undone + Math.floor((done - undone) / 2);
    if (await isExecuted(chain, deed, middle)) done = middle;
    else undone = middle;
  }
  return done;
}

/** A block as of which it was not done. */
async function blockBefore(chain: StarknetChain, deed: RelayedExecution, head: number): Promise<number | undefined> {
  if (deed.fromBlock !== undefined) {
    const first = Math.min(deed.fromBlock, head);
    return (await isExecuted(chain, deed, first)) ? undefined : first;
  }
  for (let back = 1; back <= MAX_BLOCKS_BACK; back *= 2) {
    const block = Math.max(0, head - back);
    if (!(await isExecuted(chain, deed, block))) return block;
    if (block === 0) return undefined;
  }
  return undefined;
}

/** Whether a transaction of this block can be the one that executed it. */
export async function wasExecutedIn(chain: StarknetChain, deed: RelayedExecution, block: number): Promise<boolean> {
  if (!(await isExecuted(chain, deed, block))) return false;
  return block === 0 || !(await isExecuted(chain, deed, block - 1));
}

/** Whether the wallet refuses it from this block on. */
export async function isWindowClosed(
  network: StarknetNetwork,
  { notAfter }: RelayedExecution,
  head: number,
): Promise<boolean> {
  const block = await network.chain.block(head);
  if (block && block.timestamp >= notAfter) return true;
  return (await network.time()).getTime() - notAfter.getTime() > IDLE_CHAIN_MS;
}

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
export async function findExecutingTransaction(
  db: Db,
  chain: StarknetChain,
  deed: RelayedExecution,
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

function tracesOf({ wallet, execution, deploys }: RelayedExecution): Trace[] {
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

function transfersOf({ wallet, execution }: RelayedExecution): Transfer[] {
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

/** What the chain can be asked about a relay; of one that is not executed for anybody else, nothing. */
export async function executionOfRelay(
  db: Db,
  { id, kind, wallet, notAfter }: Pick<OpenRelay, 'id' | 'kind' | 'wallet' | 'notAfter'>,
): Promise<RelayedExecution | undefined> {
  if (!executesForOthers(kind)) return undefined;
  const calls = await callsOf(db, id);
  const execution = decodeOutsideExecution(calls.at(-1)?.calldata ?? [])?.execution;
  if (!execution) throw new Error(`The execution of the relay ${id} cannot be read.`);
  return { relayId: id, wallet, execution, deploys: calls.length > 1, notAfter, fromBlock: undefined };
}
