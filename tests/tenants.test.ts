import { sql } from '@svc/store';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { enqueueMany } from '../packages/server/src/jobs/job.ts';
import { startWorkers } from '../packages/server/src/jobs/workers.ts';
import { credit } from '../packages/server/src/ledger/ledger.ts';
import { giftBody, type Organization } from './support/app.ts';
import { send } from './support/client.ts';
import { type AnyService, TestService } from './support/service.ts';

/** Of a pool of five connections an organisation gets two. */
const REQUESTS = 90;

let service: AnyService;
beforeAll(async () => {
  service = await TestService.shared();
});
afterAll(() => service.stop());

async function funded(name: string): Promise<Organization> {
  const organization = await service.organization({ name });
  const owner = { organizationId: organization.id, environment: 'development' } as const;
  await credit(service.db, { ...owner, type: 'GRANT', amount: 1_000_000_000n, reference: name });
  return organization;
}

const bulk = () => ({ name: 'Navidad', amount: 0.01, recipients: [{ email: 'ana@example.com' }] });

it('with 90 bulk requests of one organisation all blocked, another organisation is answered, and the process is ready', async () => {
  const [busy, other] = [await funded('Tienda Lenta'), await funded('Tienda Azul')];
  const blocked = sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const replies = await service.db.tx(async (tx) => {
    await tx.run(sql`select from ledger_balances where organization_id = ${busy.id} for update`);
    const asked = Array.from({ length: REQUESTS }, () => busy.post('/gifts/bulk', bulk()));
    await expect.poll(() => service.db.rows(blocked)).not.toEqual([]);
    const answers = [
      await other.post('/gifts', giftBody()),
      await other.post('/gifts/bulk', bulk()),
      await other.get('/gifts'),
      await other.get('/organization'),
      await send(`${service.server.origin}/readyz`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 200, 200, 200]);
    expect(await service.db.rows(blocked)).not.toEqual([]);
    return asked;
  });
  const statuses = new Set((await Promise.all(replies)).map(({ status }) => status));
  // A lock that is not granted in time is a 429 that can be repeated.
  expect([...statuses].filter((status) => status !== 201 && status !== 429)).toEqual([]);
});

it('with all jobs of one organisation hanging, the job of another runs', async () => {
  const { db, url } = service.database;
  const ended = Promise.withResolvers<void>();
  const ran: string[] = [];
  const handlers = {
    'test-hang': () => ended.promise,
    'test-note': async ({ tenant }: { tenant: string }) => void ran.push(tenant),
  };
  const silent = { info() {}, warn() {}, error() {} };
  const workers = await startWorkers({ url, handlers, concurrency: 4, log: silent });
  await enqueueMany(
    db,
    Array.from({ length: 20 }, () => ({ task: 'test-hang', payload: {}, tenant: 'busy' })),
  );
  await enqueueMany(db, [{ task: 'test-note', payload: { tenant: 'other' }, tenant: 'other' }]);
  await expect.poll(() => ran).toEqual(['other']);
  ended.resolve();
  await workers.stop();
});
