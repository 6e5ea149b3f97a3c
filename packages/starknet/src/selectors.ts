import { starknetKeccak } from './hashes.ts';
import { remember } from './remember.ts';

/** Names come from requests too: room for every entrypoint in use, none for a flood of made-up or endless ones. */
const MAX_REMEMBERED = 1_000;
const MAX_REMEMBERED_LENGTH = 100;
const remembered = remember(MAX_REMEMBERED, starknetKeccak);

/** The number by which a contract's function, event or plain storage variable is addressed. */
export function selector(name: string): bigint {
  if (name === '__default__' || name === '__l1_default__') return 0n;
  return name.length > MAX_REMEMBERED_LENGTH ? starknetKeccak(name) : remembered(name);
}
