import { randomBytes } from 'node:crypto';
import type { Database } from '@svc/store';
import { countHistory } from '../../packages/server/src/transactions/history.ts';
import type { NewRecord } from '../../packages/server/src/transactions/record.ts';
import { insertRecords, type RecordOwner } from '../../packages/server/src/transactions/record-store.ts';

const WRITERS = 8;
const ROUNDS = 5;
const ROUND_MS = 1_500;

export interface Stored {
  /** A second, median of the rounds. */
  readonly toOneWallet: number;
  readonly toMany: number;
  readonly countedPerSecond: number;
}

export async function storeRecords(db: Database, owner: RecordOwner): Promise<Stored> {
  const shop = newFelt();
  const rates: Record<'one' | 'many', number[]> = { one: [], many: [] };
  for (let round = -1; round < ROUNDS; round++) {
    for (const side of round % 2 ? (['one', 'many'] as const) : (['many', 'one'] as const)) {
      const rate = await write(db, () => transfer(owner, side === 'one' ? shop : newFelt()));
      if (round >= 0) rates[side].push(rate);
    }
  }
  const startedAt = performance.now();
  const entries = await countHistory(db);
  return {
    toOneWallet: median(rates.one),
    toMany: median(rates.many),
    countedPerSecond: (entries / (performance.now() - startedAt)) * 1000,
  };
}

async function write(db: Database, next: () => NewRecord): Promise<number> {
  const startedAt = performance.now();
  let stored = 0;
  const writer = async () => {
    while (performance.now() - startedAt < ROUND_MS) {
      await db.tx((tx) => insertRecords(tx, [next()]));
      stored++;
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  return (stored / (performance.now() - startedAt)) * 1000;
}

function transfer(owner: RecordOwner, destinationAddress: string): NewRecord {
  const now = new Date();
  return {
    ...owner,
    apiPublicKey: 'pk_dev_bench',
    type: 'RECEIVE',
    subType: 'TRANSFER',
    chain: 'STARKNET',
    transactionHash: newFelt(),
    eventIndex: 0,
    relayId: undefined,
    callIndex: undefined,
    senderAddress: newFelt(),
    destinationAddress,
    contractAddress: undefined,
    contractName: undefined,
    functionName: 'transfer',
    functionSelector: undefined,
    token: 'USDC',
    tokenAddress: undefined,
    amount: 1_000_000n,
    status: 'SUCCESS',
    blockNumber: 1,
    senderWalletId: undefined,
    destinationWalletId: undefined,
    createdAt: now,
    confirmedAt: now,
  };
}

const newFelt = (): string => `0x0${randomBytes(32).toString('hex').slice(1)}`;

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
