import { randomBytes } from 'node:crypto';
import { type Database, type Db, type Reads, sql } from '@svc/store';
import type { TestDatabase } from '@svc/store/testing';
import { afterAll, beforeAll } from 'vitest';
import type { NewRecord } from '../src/transactions/record.ts';
import type { RecordOwner } from '../src/transactions/record-store.ts';
import { newId } from '../src/util/ids.ts';
import { serverDatabase } from './database.ts';

/** A database for the tests of one file; `db()` answers it once they run. */
export function testRecords(): { db: () => Database } {
  let database: TestDatabase | undefined;
  beforeAll(async () => {
    database = await serverDatabase();
  });
  afterAll(() => database?.drop());
  return {
    db: () => {
      if (!database) throw new Error('The database of the tests is not there yet.');
      return database.db;
    },
  };
}

/** A new organisation with both of its environments; answers one of them. */
export async function newOwner(db: Db, environment: RecordOwner['environment'] = 'development'): Promise<RecordOwner> {
  const organizationId = newId('org');
  await db.run(sql`insert into organizations (id, name) values (${organizationId}, 'Test')`);
  await db.run(sql`
    insert into environments (organization_id, environment)
    values (${organizationId}, 'production'), (${organizationId}, 'development')`);
  return { organizationId, environment };
}

/** A new address or hash in its normal form. */
export const newFelt = (): string => `0x0${randomBytes(32).toString('hex').slice(1)}`;

/** A transfer from one stranger to another, but for what is given. */
export function aRecord(owner: RecordOwner, given: Partial<NewRecord> = {}): NewRecord {
  return {
    ...owner,
    apiPublicKey: 'pk_dev_test',
    type: 'SEND',
    subType: 'TRANSFER',
    chain: 'STARKNET',
    transactionHash: newFelt(),
    eventIndex: undefined,
    relayId: undefined,
    callIndex: undefined,
    senderAddress: newFelt(),
    destinationAddress: newFelt(),
    contractAddress: undefined,
    contractName: undefined,
    functionName: 'transfer',
    functionSelector: undefined,
    token: 'USDC',
    tokenAddress: newFelt(),
    amount: 2_500_000n,
    status: 'PENDING',
    blockNumber: undefined,
    senderWalletId: undefined,
    destinationWalletId: undefined,
    createdAt: new Date('2026-03-14T15:09:26.535Z'),
    confirmedAt: undefined,
    ...given,
  };
}

/** What the purchase that a transfer paid for is stored as: all that tells it from the transfer is its type. */
export function purchaseOf(payment: NewRecord): NewRecord {
  const { organizationId, environment, chain, transactionHash, senderAddress, destinationAddress } = payment;
  const { token, tokenAddress, amount } = payment;
  return aRecord(
    { organizationId, environment },
    {
      ...{ type: 'SKU_PURCHASE', subType: undefined, functionName: undefined, chain, transactionHash },
      ...{ senderAddress, destinationAddress, token, tokenAddress, amount },
      ...{ skuId: 'agua', skuReference: '1', skuPurchaseAmount: '46.25', skuPurchaseCurrency: 'MXN' },
    },
  );
}

/** Histories whose counts and uncounted entries do not add up to their entries, place by place. */
export function wrongCounts(reads: Reads): Promise<unknown[]> {
  return reads.rows(sql`
    with entry as (
      select history, name as function_name, created_at, transaction_id, uncounted.transaction_id is null as counted
        from transaction_history left join transaction_history_uncounted uncounted
          using (history, created_at, transaction_id)
        cross join lateral unnest(array['', transaction_history.function_name]) as name
       where name is not null
    ),
    place as (
      select *, lead(from_created_at, 1, 'infinity') over list as end_at, lead(from_id, 1, '') over list as end_id
        from transaction_history_counts
      window list as (partition by history, function_name order by from_created_at, from_id)
    )
    select entry.history, entry.function_name, place.from_created_at, place.entries, count(*) as real
      from entry full join place
        on place.history = entry.history and place.function_name = entry.function_name
       and (entry.created_at, entry.transaction_id) >= (place.from_created_at, place.from_id)
       and (entry.created_at, entry.transaction_id) < (place.end_at, place.end_id)
     where entry.counted or entry.history is null
     group by 1, 2, 3, 4, place.from_id
    having place.entries is distinct from count(*) or entry.history is null
     limit 10`);
}
