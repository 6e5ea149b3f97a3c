import type { Transfer } from '../../chains/starknet/transfers.ts';
import type { Due } from './store.ts';

/** Those that are paid: each has a transfer to its address, of its amount, that no other has. */
export function matchTransfers(redeems: readonly Due[], transfers: readonly Transfer[]): ReadonlySet<string> {
  const left = new Map<string, number>();
  for (const { to, amount } of transfers) {
    const what = nameOf(to, amount);
    left.set(what, (left.get(what) ?? 0) + 1);
  }
  const paid = redeems.filter(({ address, amount }) => {
    const what = nameOf(BigInt(address), amount);
    const count = left.get(what) ?? 0;
    left.set(what, count - 1);
    return count > 0;
  });
  return new Set(paid.map(({ id }) => id));
}

const nameOf = (to: bigint, amount: bigint): string => `${to} ${amount}`;
