import { toHex } from '@svc/starknet';
import { type Reads, sql } from '@svc/store';
import type { StateReader } from '../execution/types.ts';
import { CLASS, CLASSES, NONCE } from './rows.ts';
import type { StateCache } from './state-cache.ts';

/** The state as it was at a version: from memory where it holds that version, else from the database. */
export function stateAt(reads: Reads, cache: StateCache, version: number): StateReader {
  const read = async (contract: string, slot: string): Promise<bigint> => {
    const known = cache.get(version, contract, slot);
    if (known !== undefined) return known;
    const row = await reads.one<{ value: string }>(sql`
      select value from sandbox.state
       where contract = ${contract} and slot = ${slot} and version <= ${version} order by version desc limit 1`);
    const value = row ? BigInt(row.value) : 0n;
    cache.remember(version, contract, slot, value);
    return value;
  };
  return {
    storageAt: (address, key) => read(toHex(address), toHex(key)),
    classHashAt: (address) => read(toHex(address), CLASS),
    nonceAt: (address) => read(toHex(address), NONCE),
    isDeclared: async (classHash) => (await read(CLASSES, toHex(classHash))) !== 0n,
  };
}
