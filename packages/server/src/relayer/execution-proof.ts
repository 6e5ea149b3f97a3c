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
import { executesForOthers, type Relay } from './relay.ts';
import { callsOf } from './relay-store.ts';

/** A signed execution. Any holder of the signature can submit it, so our receipts are not proof. */
export interface RelayedExecution {
  readonly relayId: string;
  readonly wallet: bigint;
  readonly execution: OutsideExecution | undefined;
  readonly deploys: boolean;
  readonly notAfter: Date;
  readonly fromBlock: number | undefined;
}

/** An idle chain has no block after the window: then our clock decides, with this margin. */
const IDLE_CHAIN_MS = 3_600_000;
const MAX_BLOCKS_BACK = 2 ** 20;

export class NonceUnreadableError extends Error {
  override readonly name = 'NonceUnreadableError';
}

/** Proof from the chain's state: the wallet has spent the nonce, which it does once, or is deployed. */
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

/** Binary search, given that it is executed at `head`. Undefined when it was executed before the search range. */
export async function findExecutionBlock(
  chain: StarknetChain,
  relayed: RelayedExecution,
  head: number,
): Promise<number | undefined> {
  const before = await blockBefore(chain, relayed, head);
  if (before === undefined) return undefined;
  let [unexecuted, executed] = [before, head];
  while (executed - unexecuted > 1) {
    const middle = unexecuted + Math.floor((executed - unexecuted) / 2);
    if (await isExecuted(chain, relayed, middle)) executed = middle;
    else unexecuted = middle;
  }
  return executed;
}

async function blockBefore(chain: StarknetChain, relayed: RelayedExecution, head: number): Promise<number | undefined> {
  if (relayed.fromBlock !== undefined) {
    const first = Math.min(relayed.fromBlock, head);
    return (await isExecuted(chain, relayed, first)) ? undefined : first;
  }
  for (let back = 1; back <= MAX_BLOCKS_BACK; back *= 2) {
    const block = Math.max(0, head - back);
    if (!(await isExecuted(chain, relayed, block))) return block;
    if (block === 0) return undefined;
  }
  return undefined;
}

export async function wasExecutedIn(chain: StarknetChain, relayed: RelayedExecution, block: number): Promise<boolean> {
  if (!(await isExecuted(chain, relayed, block))) return false;
  return block === 0 || !(await isExecuted(chain, relayed, block - 1));
}

export async function isWindowClosed(
  network: StarknetNetwork,
  { notAfter }: RelayedExecution,
  head: number,
): Promise<boolean> {
  const block = await network.chain.block(head);
  if (block && block.timestamp >= notAfter) return true;
  return (await network.time()).getTime() - notAfter.getTime() > IDLE_CHAIN_MS;
}

const PAGE_SIZE = 1_024;
const MAX_PAGES = 10;
const MAX_TARGETS = 10;
const MAX_CANDIDATES = 20;

/** Searches the block by events of the wallet and the called contracts. Undefined without a match, or with several. */
export async function findExecutingTransaction(
  db: Db,
  chain: StarknetChain,
  relayed: RelayedExecution,
  block: number,
): Promise<Receipt | undefined> {
  const hashes = new Set<bigint>();
  for (const trace of tracesOf(relayed)) {
    for (const event of await eventsIn(chain, block, trace)) {
      if (concerns(event, relayed.wallet)) hashes.add(event.transactionHash);
    }
  }
  const expected = transfersOf(relayed);
  const found: Receipt[] = [];
  for (const hash of [...hashes].slice(0, MAX_CANDIDATES)) {
    const receipt = await chain.receipt(hash);
    if (receipt?.blockNumber === block && receipt.status !== 'REVERTED' && fits(receipt, expected)) found.push(receipt);
  }
  if (found.length <= 1) return found[0];
  const others = await hashesOfOthers(db, relayed.relayId, [...hashes]);
  const own = found.filter(({ transactionHash }) => !others.has(transactionHash));
  return own.length === 1 ? own[0] : undefined;
}

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

/** Incoming transfers do not count: anyone can send one in any block. */
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

/** One match is enough: some account classes skip failing calls. */
function fits(receipt: Receipt, expected: readonly Transfer[]): boolean {
  if (expected.length === 0) return true;
  return transfersIn(receipt).some((found) =>
    expected.some(
      ({ token, from, to, amount }) =>
        found.token === token && found.from === from && found.to === to && found.amount === amount,
    ),
  );
}

export async function executionOfRelay(
  db: Db,
  { id, kind, wallet, notAfter }: Pick<Relay, 'id' | 'kind' | 'wallet' | 'notAfter'>,
): Promise<RelayedExecution | undefined> {
  if (!executesForOthers(kind)) return undefined;
  const calls = await callsOf(db, id);
  if (kind === 'treasury-deployment') {
    return { relayId: id, wallet, execution: undefined, deploys: true, notAfter, fromBlock: undefined };
  }
  const execution = decodeOutsideExecution(calls.at(-1)?.calldata ?? [])?.execution;
  if (!execution) throw new Error(`The execution of the relay ${id} cannot be read.`);
  const deploys = calls.some(({ to }) => to === UDC_ADDRESS || to === LEGACY_UDC_ADDRESS);
  return { relayId: id, wallet, execution, deploys, notAfter, fromBlock: undefined };
}
