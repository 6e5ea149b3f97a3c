import { selector, toHex } from '@svc/starknet';
import {
  type CipherBalance,
  type CurvePoint,
  decodeRolloverEvent,
  decodeTransferEvent,
  decryptHint,
  encrypts,
  formatPrivateAddress,
  isPoint,
  publicPoint,
} from '@svc/starknet/private-balance';
import type { Client } from '../client/client.ts';
import { SvcConnectionError, SvcPrivateBalanceError } from '../client/errors.ts';
import { isObject } from '../client/values.ts';
import { type Ask, readFelt, readFelts, withNode } from '../node/rpc.ts';
import { type PrivateKeys, readViewingKey } from './keys.ts';
import { formatAmount, openPool, type Pool } from './pool.ts';
import { Prover } from './prover.ts';

interface PoolEvent {
  readonly keys: readonly bigint[];
  readonly data: readonly bigint[];
  readonly transactionHash: string;
  readonly blockNumber: number;
}

const eventKeys = {
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
async function readEvents(
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

export interface PrivateHistoryItem {
  /** `ROLLOVER` adds what was received to the balance. */
  readonly type: 'SHIELD' | 'UNSHIELD' | 'SENT' | 'RECEIVED' | 'ROLLOVER';
  /** In whole tokens; null if it cannot be decrypted. */
  readonly amount: string | null;
  /** The other private account of a transfer, or the address that got unshielded tokens. */
  readonly counterparty: string | null;
  readonly transactionHash: string;
  readonly blockNumber: number;
}

export interface HistoryParams {
  readonly keys: Pick<PrivateKeys, 'viewingKey'>;
  /** Default: the first block. */
  readonly fromBlock?: number | undefined;
}

/**
 * What happened to a private account, newest first. The events are read from a node, and the amounts of transfers are
 * decrypted here.
 *
 * @example
 * const keys = await svc.privateBalance.deriveKeys({ encryptKey, wallet });
 * for (const { type, amount } of await svc.privateBalance.history({ keys })) console.log(type, amount);
 */
export async function history(client: Client, { keys, fromBlock = 0 }: HistoryParams): Promise<PrivateHistoryItem[]> {
  const privateKey = readViewingKey(keys);
  const pool = await openPool(client);
  const own = publicPoint(privateKey);
  const events = await readEvents(client, pool, own, { fromBlock });
  const prover = new Prover(client);
  try {
    const items: PrivateHistoryItem[] = [];
    /** Received since the last rollover. */
    let waiting = 0n;
    for (const event of events) {
      const shown = await show(event, { pool, privateKey, own, prover, waiting });
      if (!shown) continue;
      const { type, counterparty, units } = shown;
      if (type === 'RECEIVED') waiting += units ?? 0n;
      if (type === 'ROLLOVER') waiting = 0n;
      const amount = units === undefined ? null : formatAmount(pool, units);
      const { transactionHash, blockNumber } = event;
      items.push({ type, amount, counterparty, transactionHash, blockNumber });
    }
    return items.sort((a, b) => b.blockNumber - a.blockNumber);
  } finally {
    prover.end();
  }
}

interface Account {
  readonly pool: Pool;
  readonly privateKey: bigint;
  readonly own: CurvePoint;
  readonly prover: Prover;
}

/** What the hints of transfers since the last rollover add up to. */
export async function sumReceived(client: Client, account: Account): Promise<bigint> {
  const { pool, own } = account;
  const events = await readEvents(client, pool, own, { fromBlock: 0 });
  const toOwn = events.filter(({ keys }) => keys[1] === own.x && keys[2] === own.y);
  const rollover = toOwn.findLastIndex(({ keys }) => keys[0] === eventKeys.rollover);
  let sum = 0n;
  for (const event of toOwn.slice(rollover + 1).filter(({ keys }) => keys[0] === eventKeys.transfer)) {
    sum += (await showTransfer(event, account))?.units ?? 0n;
  }
  return sum;
}

type Shown = Pick<PrivateHistoryItem, 'type' | 'counterparty'> & { readonly units: bigint | undefined };

async function show(event: PoolEvent, account: Account & { readonly waiting: bigint }): Promise<Shown | undefined> {
  const { keys, data } = event;
  const [amount, to] = data;
  switch (keys[0]) {
    case eventKeys.fund:
      return { type: 'SHIELD', counterparty: null, units: amount };
    case eventKeys.withdraw:
    case eventKeys.ragequit:
      return { type: 'UNSHIELD', counterparty: to === undefined ? null : toHex(to), units: amount };
    case eventKeys.rollover: {
      const cipher = decodeRolloverEvent(data);
      return cipher && { type: 'ROLLOVER', counterparty: null, units: await decrypt(cipher, account, account.waiting) };
    }
    case eventKeys.transfer:
      return showTransfer(event, account);
    default:
      return undefined;
  }
}

async function showTransfer({ keys, data }: PoolEvent, account: Account): Promise<Shown | undefined> {
  const { pool, privateKey, own } = account;
  const [, toX = 0n, toY = 0n, fromX = 0n, fromY = 0n, nonce = 0n] = keys;
  const isReceived = toX === own.x && toY === own.y;
  const other = isReceived ? { x: fromX, y: fromY } : { x: toX, y: toY };
  const transfer = decodeTransferEvent(data);
  if (!transfer || !isPoint(other)) return undefined;
  const cipher = isReceived ? transfer.transferBalance : transfer.transferBalanceSelf;
  const hint = await decryptHint({ privateKey, publicKey: other, pool: pool.address, nonce }, transfer.hintTransfer);
  const units = await decrypt(cipher, account, hint);
  return { type: isReceived ? 'RECEIVED' : 'SENT', counterparty: formatPrivateAddress(other), units };
}

/** A right hint is checked here at once. A search is for the worker. */
export async function decrypt(
  cipher: CipherBalance,
  { privateKey, pool: { bits }, prover }: Pick<Account, 'privateKey' | 'pool' | 'prover'>,
  hint: bigint | undefined,
): Promise<bigint | undefined> {
  if (hint !== undefined && encrypts(cipher, privateKey, hint)) return hint;
  return prover.run('decrypt', { cipher, privateKey, bits, hint });
}
