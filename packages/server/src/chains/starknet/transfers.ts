import { selector } from '@svc/starknet';
import type { ChainEvent } from './chain.ts';

export interface Transfer {
  readonly token: bigint;
  readonly from: bigint;
  readonly to: bigint;
  /** In the token's smallest unit. */
  readonly amount: bigint;
}

export const TRANSFER_SELECTOR = selector('Transfer');
const WORD_BOUND = 2n ** 128n;

/** The ERC-20 transfer in an event, or undefined: newer tokens put both parties among the keys, older ones into the data. */
export function readTransfer({ from: token, keys, data }: ChainEvent): Transfer | undefined {
  const [kind, ...indexed] = keys;
  if (kind !== TRANSFER_SELECTOR) return undefined;
  if (!(indexed.length === 2 && data.length === 2) && !(indexed.length === 0 && data.length === 4)) return undefined;
  const [from, to, low, high] = [...indexed, ...data];
  if (from === undefined || to === undefined || low === undefined || high === undefined) return undefined;
  // Anyone can deploy a contract whose events only look like a token's.
  if (low >= WORD_BOUND || high >= WORD_BOUND) return undefined;
  return { token, from, to, amount: low + high * WORD_BOUND };
}

export interface FoundTransfer extends Transfer {
  /** Its event's place in the receipt. */
  readonly eventIndex: number;
}

export function transfersIn(receipt: { readonly events: readonly ChainEvent[] }): FoundTransfer[] {
  return receipt.events.flatMap((event, eventIndex) => {
    const transfer = readTransfer(event);
    return transfer ? [{ ...transfer, eventIndex }] : [];
  });
}
