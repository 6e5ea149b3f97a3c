import { connect, sql } from '@svc/store';
import { expect, it } from 'vitest';
import { createQueue } from '../../testing/jobs.ts';
import { withoutPlanCache } from './workers.ts';

it('connections of the workers cache no plans and keep the options of the URL', async () => {
  const { url } = await createQueue();
  const db = connect(withoutPlanCache(`${url}?options=-c%20work_mem%3D5MB`), { max: 1 });
  const settings = await db.one(
    sql`select current_setting('plan_cache_mode') as plans, current_setting('work_mem') as memory`,
  );
  await db.close();
  expect(settings).toEqual({ plans: 'force_custom_plan', memory: '5MB' });
});
