import { selector, toHex } from '@svc/starknet';
import type { CurvePoint } from '@svc/starknet/private-balance';
import type { Client } from '../client/client.ts';
import { SvcConnectionError, SvcPrivateBalanceError } from '../client/errors.ts';
import { isObject } from '../client/values.ts';
import { type Ask, readFelt, readFelts, withNode } from '../node/rpc.ts';
import type { Pool } from './pool.ts';

export interface PoolEvent {
  readonly keys: readonly bigint[];
  readonly data: readonly bigint[];
  readonly transactionHash: string;
  readonly blockNumber: number;
}

export const eventKeys = {
  fund: selector('FundEvent'),
  transfer: selector('TransferEvent'),
  rollover: selector('RolloverEvent'),
  withdraw: selector('WithdrawEvent'),
  ragequit: selector('RagequitEvent'),
} as const;

/** The keys of an event are its name, then one or two accounts (`to` before `from`), then a nonce. */
type Filter = readonly (readonly bigint[])[];

const CHUNK = 500;
/** 50,000 events of one account: more than a wallet makes. */
const MAX_CHUNKS = 100;

/** What happened to an account: its own operations and transfers to it, then its own transfers. */
export async function readEvents(
  client: Client,
  pool: Pool,
  { x, y }: CurvePoint,
  { fromBlock, nonce }: { readonly fromBlock: number; readonly nonce?: bigint | undefined },
): Promise<PoolEvent[]> {
  const end = nonce === undefined ? [] : [[nonce]];
  const names = Object.values(eventKeys).filter((name) => nonce === undefined || name !== eventKeys.transfer);
  const own: Filter = [names, [x], [y], ...end];
  const sent: Filter = [[eventKeys.transfer], [], [], [x], [y], ...end];
  return withNode(client, async (ask) => [
    ...(await readAll(ask, pool.address, own, fromBlock)),
    ...(await readAll(ask, pool.address, sent, fromBlock)),
  ]);
}

async function readAll(ask: Ask, pool: bigint, keys: Filter, fromBlock: number): Promise<PoolEvent[]> {
  const filter = {
    address: toHex(pool),
    keys: keys.map((choices) => choices.map(toHex)),
    from_block: { block_number: fromBlock },
    to_block: 'latest',
    chunk_size: CHUNK,
  };
  const events: PoolEvent[] = [];
  let token: string | undefined;
  for (let chunk = 0; chunk < MAX_CHUNKS; chunk++) {
    const next = token === undefined ? {} : { continuation_token: token };
    const answer = await ask('starknet_getEvents', { filter: { ...filter, ...next } }, readChunk);
    if (!answer.ok) throw new SvcConnectionError('invalid_answer', `The pool's events were refused: ${answer.reason}`);
    events.push(...answer.value.events);
    token = answer.value.token;
    if (token === undefined) return events;
  }
  throw new SvcConnectionError(
    'invalid_answer',
    'The account has more events than can be read: name a later fromBlock.',
  );
}

function readChunk(result: unknown): { events: PoolEvent[]; token: string | undefined } | undefined {
  if (!isObject(result) || !Array.isArray(result.events)) return undefined;
  const { continuation_token: token } = result;
  const events = result.events.map(readEvent);
  if (!events.every((event) => event !== undefined)) return undefined;
  return { events, token: typeof token === 'string' ? token : undefined };
}

function readEvent(event: unknown): PoolEvent | undefined {
  if (!isObject(event)) return undefined;
  const { transaction_hash, block_number } = event;
  const [keys, data, hash] = [readFelts(event.keys), readFelts(event.data), readFelt(transaction_hash)];
  if (!keys || !data || hash === undefined || typeof block_number !== 'number') return undefined;
  return { keys, data, transactionHash: toHex(hash), blockNumber: block_number };
}

/** Throws `POOL_BUSY` while the account's last operation is too young. */
export async function requireIdle(client: Client, pool: Pool, account: CurvePoint, nonce: bigint): Promise<void> {
  const { lagBlocks } = pool;
  if (lagBlocks === 0 || nonce === 0n) return;
  const head = await withNode(client, (ask) => ask('starknet_blockNumber', [], readBlockNumber));
  if (!head.ok) throw new SvcConnectionError('invalid_answer', `The newest block was refused: ${head.reason}`);
  const fromBlock = Math.max(0, head.value - lagBlocks);
  const [last] = await readEvents(client, pool, account, { fromBlock, nonce: nonce - 1n });
  // The next block is one after the head.
  const blocksToWait = last === undefined ? 0 : last.blockNumber + lagBlocks - head.value;
  if (blocksToWait > 0) throw poolBusy(blocksToWait);
}

const readBlockNumber = (value: unknown) => (Number.isSafeInteger(value) ? Number(value) : undefined);

export function poolBusy(blocksToWait: number | undefined, cause?: unknown): SvcPrivateBalanceError {
  const wait = blocksToWait === undefined ? 'a few more blocks' : `${blocksToWait} more blocks`;
  const message = `The account's last operation is too young for the next one: wait for ${wait}.`;
  return new SvcPrivateBalanceError('POOL_BUSY', message, { blocksToWait, cause });
}
