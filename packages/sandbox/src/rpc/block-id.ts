import { toHex } from '@svc/starknet';
import { FieldError, readFelt, readInteger, readObject } from '../chain/fields.ts';
import { type Block, type BlockId, findBlock } from '../chain/find-block.ts';
import type { CallContext } from './context.ts';
import { rpcErrors } from './rpc-error.ts';

/** The largest number that the database's column holds. */
const MAX_NUMBER = 2 ** 31 - 1;

export function readBlockId(value: unknown, name = 'block_id'): BlockId {
  // `pending` is the name of older clients.
  if (value === 'pending') return 'pre_confirmed';
  if (value === 'latest' || value === 'pre_confirmed' || value === 'l1_accepted') return value;
  if (typeof value === 'string')
    throw new FieldError(`${name} must be latest, pre_confirmed, l1_accepted or an object`);
  const { block_hash, block_number } = readObject(value, name);
  if ((block_hash === undefined) === (block_number === undefined)) {
    throw new FieldError(`${name} must have either block_hash or block_number`);
  }
  if (block_hash !== undefined) return { hash: toHex(readFelt(block_hash, `${name}.block_hash`)) };
  const number = readInteger(block_number, `${name}.block_number`, 0, Number.MAX_SAFE_INTEGER);
  return { number: Math.min(number, MAX_NUMBER) };
}

/** The block that a parameter names, or error 24. */
export async function blockOf(context: CallContext, value: unknown, name?: string): Promise<Block> {
  const block = await findBlock(context.reads, context.head, readBlockId(value, name), context.now());
  if (!block) throw rpcErrors.blockNotFound();
  return block;
}
