import { type EvmAddress, parseEvmAddress } from '@svc/protocol';
import { type Address, erc20Abi, type Log, parseEventLogs } from 'viem';
import type { EvmTransfer } from './chain.ts';

interface Moved {
  readonly from: Address;
  readonly to: Address | null;
  readonly value: bigint;
}

interface Outcome {
  readonly status: 'success' | 'reverted';
  readonly logs: Log<bigint, number, false>[];
}

/** What a transaction moved. A failed one moved nothing, whatever it was meant to. */
export function transfersOf(transaction: Moved, receipt: Outcome): EvmTransfer[] {
  if (receipt.status !== 'success') return [];
  const { from, to, value } = transaction;
  const coin = to && value > 0n ? [transfer(null, from, to, value, null)] : [];
  // Strict: logs that only look like a token's, with other topics or data, are left out.
  const logs = parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs: receipt.logs, strict: true });
  const places = new Map(receipt.logs.map(({ logIndex }, place) => [logIndex, place]));
  return [
    ...coin,
    ...logs.map(({ address, args, logIndex }) =>
      transfer(address, args.from, args.to, args.value, places.get(logIndex) ?? logIndex),
    ),
  ].filter((found) => found !== undefined);
}

/** Mints and burns name the zero address, which nobody has: they are no transfers between two. */
function transfer(
  token: Address | null,
  from: Address,
  to: Address,
  amount: bigint,
  logIndex: number | null,
): EvmTransfer | undefined {
  const parties = [from, to].map(normal);
  const [sender, recipient] = parties;
  const contract = token === null ? null : normal(token);
  if (!sender || !recipient || contract === undefined) return undefined;
  return { token: contract, from: sender, to: recipient, amount, logIndex };
}

function normal(address: Address): EvmAddress | undefined {
  const parsed = parseEvmAddress(address);
  return parsed.ok ? parsed.value : undefined;
}
