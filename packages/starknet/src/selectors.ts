import { starknetKeccak } from './hashes.ts';
import { memoize } from './memoize.ts';

/** Names may come from requests: bounds entries and key length. */
const MAX_CACHED = 1_000;
const MAX_CACHED_LENGTH = 100;
const cachedSelector = memoize(MAX_CACHED, starknetKeccak);

export function selector(name: string): bigint {
  if (name === '__default__' || name === '__l1_default__') return 0n;
  return name.length > MAX_CACHED_LENGTH ? starknetKeccak(name) : cachedSelector(name);
}
