import { isObject } from '../client/is-object.ts';
import { readFelt, readFelts } from './read-felts.ts';

/** As a node spells it; `keys[0]` is the selector of the event's name. */
export interface TransactionEvent {
  readonly from_address: string;
  readonly keys: readonly string[];
  readonly data: readonly string[];
}

/** What of a receipt this library reads. */
export interface Receipt {
  readonly executionStatus: string;
  readonly finalityStatus: string;
  readonly revertReason: string | undefined;
  readonly events: readonly TransactionEvent[];
  readonly blockNumber: number | undefined;
}

/** Undefined for what is not a receipt, or that of another transaction. */
export function readReceipt(hash: bigint, result: unknown): Receipt | undefined {
  if (!isObject(result) || readFelt(result.transaction_hash) !== hash) return undefined;
  const { execution_status, finality_status, revert_reason, block_number } = result;
  const events = readEvents(result.events);
  if (typeof execution_status !== 'string' || typeof finality_status !== 'string' || !events) return undefined;
  return {
    executionStatus: execution_status,
    finalityStatus: finality_status,
    revertReason: typeof revert_reason === 'string' ? revert_reason : undefined,
    events,
    blockNumber: typeof block_number === 'number' ? block_number : undefined,
  };
}

function readEvents(value: unknown): TransactionEvent[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const events = value.map(readEvent);
  return events.every((event) => event !== undefined) ? events : undefined;
}

function readEvent(value: unknown): TransactionEvent | undefined {
  if (!isObject(value)) return undefined;
  const { from_address, keys, data } = value;
  const whole = readFelt(from_address) !== undefined && readFelts(keys) && readFelts(data);
  return whole ? ({ from_address, keys, data } as unknown as TransactionEvent) : undefined;
}
