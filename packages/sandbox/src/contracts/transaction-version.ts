import type { Frame } from './frame.ts';

/** Added to the version of a transaction that is only estimated, so that its signature is good for nothing else. */
const QUERY_OFFSET = 1n << 128n;

export function isQuery(frame: Frame): boolean {
  return frame.transaction.version >= QUERY_OFFSET;
}

export function isVersion3(frame: Frame): boolean {
  return frame.transaction.version % QUERY_OFFSET === 3n;
}
