import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { newOwner, useDatabase } from '../../testing/database.ts';
import { contextOfJob, silent } from '../../testing/jobs.ts';
import { aRecord, wrongCounts } from '../../testing/transactions.ts';
import { Networks } from '../chains/networks.ts';
import { enqueue } from '../jobs/job.ts';
import { transactionJobs } from './module.ts';
import { confirmJob } from './record-send.ts';
import { insertRecords } from './record-store.ts';

const records = useDatabase();
const networks = new Networks({ starknet: undefined, evmRpcUrls: {} }, undefined);
const jobs = () => transactionJobs({ db: records.db(), networks, log: silent });
const run = (task: string, payload: unknown = {}) => {
  return jobs().handlers[task]?.(payload as never, contextOfJob());
};
const waiting = () =>
  records.db().rows<{ key: string; payload: unknown }>(sql`
    select key, payload from jobs where task = 'confirm-transaction' and failed_at is null order by key collate "C"`);

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

  it('delete unused function names', async () => {
    const { organizationId } = await newOwner(records.db());
    await records.db().run(sql`
      insert into function_names (organization_id, selector, name, used_at)
      values (${organizationId}, '0x1', 'old', now() - interval '2 days')`);
    await run('forget-function-names');
    expect(await records.db().rows(sql`select from function_names`)).toEqual([]);
  });

  it('confirm a transfer, and wait for a chain that is not configured any more', async () => {
    const [record] = await insertRecords(records.db(), [aRecord(await newOwner(records.db()))]);
    await run('confirm-transaction', { id: record?.id });
    expect(await waiting()).toContainEqual({ key: record?.id, payload: { id: record?.id, looks: 1 } });
  });

  it('that a sweep requeues name their organisation, also one that waits without', async () => {
    const owner = await newOwner(records.db());
    const [record] = await insertRecords(records.db(), [aRecord(owner)]);
    const tenants = () => records.db().rows(sql`select tenant from jobs where key = ${record?.id}`);
    await run('sweep-unconfirmed-transactions');
    expect(await tenants()).toEqual([{ tenant: owner.organizationId }]);
    await records.db().run(sql`update jobs set tenant = null where key = ${record?.id}`);
    await enqueue(records.db(), confirmJob({ id: `${record?.id}`, organizationId: owner.organizationId }));
    expect(await tenants()).toEqual([{ tenant: owner.organizationId }]);
  });

  it('requeue recorded transfers without a job, and no others', async () => {
    const owner = await newOwner(records.db());
    const stored = await insertRecords(records.db(), [
      aRecord(owner),
      aRecord(owner),
      aRecord(owner),
      aRecord(owner, { relayId: 'rel_1' }),
      aRecord(owner, { type: 'RECEIVE' }),
      aRecord(owner, { status: 'SUCCESS' }),
      aRecord(owner, { transactionHash: undefined }),
    ]);
    const [lost, watched, setAside] = stored.map(({ id }) => id);
    for (const id of [watched, setAside]) {
      await enqueue(records.db(), { task: 'confirm-transaction', key: `${id}`, payload: { id, missingSince: 7 } });
    }
    await records.db().run(sql`update jobs set failed_at = now() where key = ${setAside}`);
    await run('sweep-unconfirmed-transactions');
    const own = new Set(stored.map(({ id }) => id));
    expect((await waiting()).filter(({ key }) => own.has(key))).toEqual([
      { key: lost, payload: { id: lost } },
      { key: watched, payload: { id: watched, missingSince: 7 } },
      { key: setAside, payload: { id: setAside } },
    ]);
  });
});
