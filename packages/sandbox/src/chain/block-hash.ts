import { createHash } from 'node:crypto';

/** Whole bytes of a digest that always fit a felt. */
const HEX_DIGITS = 62;

/**
 * Unique for a block and the chain before it. Not the hash of the protocol, whose commitments nobody checks in
 * development and which would cost more than the transactions do.
 */
export function blockHash(block: {
  readonly parent: string;
  readonly number: number;
  readonly timestamp: number;
  readonly version: number;
}): string {
  const text = `${block.parent}/${block.number}/${block.timestamp}/${block.version}`;
  const digits = createHash('sha256').update(text).digest('hex').slice(0, HEX_DIGITS);
  return `0x${digits.replace(/^0+(?=.)/, '')}`;
}
