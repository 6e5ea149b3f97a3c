import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { Networks } from '../chains/networks.ts';
import { transactionJobs } from './jobs.ts';
import { insertRecords } from './records.ts';
import { aRecord, newOwner, testRecords, wrongCounts } from './test-records.ts';

const records = testRecords();
const networks = new Networks({ starknet: undefined, evmRpcUrls: {} }, () => undefined);
const jobs = () => transactionJobs({ db: records.db(), networks });
const run = (task: string, payload: unknown = {}) => {
  const context = { attempt: 1, maxAttempts: 1, jobId: '1', signal: new AbortController().signal };
  return jobs().handlers[task]?.(payload as never, context);
};

describe('the jobs of the history', () => {
  it('have a handler for everything that recurs', () => {
    const { handlers, recurring } = jobs();
    for (const { task } of recurring) expect(Object.keys(handlers)).toContain(task);
  });

  it('count what was recorded', async () => {
    await insertRecords(records.db(), [aRecord(await newOwner(records.db()))]);
    await run('count-transaction-history');
    expect(await records.db().rows(sql`select from transaction_history_uncounted`)).toEqual([]);
    expect(await wrongCounts(records.db())).toEqual([]);
  });

  it('forget names of functions that nobody uses', async () => {
    const { organizationId } = await newOwner(records.db());
    await records.db().run(sql`
      insert into function_names (organization_id, selector, name, used_at)
      values (${organizationId}, '0x1', 'old', now() - interval '2 days')`);
    await run('forget-function-names');
    expect(await records.db().rows(sql`select from function_names`)).toEqual([]);
  });

  it('confirm a transfer, and fail when its chain is not configured any more', async () => {
    const [record] = await insertRecords(records.db(), [aRecord(await newOwner(records.db()))]);
    await expect(run('confirm-transaction', { id: record?.id })).rejects.toThrow('the sandbox, which is off');
  });
});
