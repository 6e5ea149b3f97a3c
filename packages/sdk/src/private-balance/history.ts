import { toHex } from '@svc/starknet';
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
import { eventKeys, type PoolEvent, readEvents } from './events.ts';
import { type PrivateKeys, readViewingKey } from './keys.ts';
import { formatAmount, openPool, type Pool } from './pool.ts';
import { Prover } from './prover.ts';

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
