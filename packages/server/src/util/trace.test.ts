import { expect, it } from 'vitest';
import { isTraced, traced, traceparent } from './trace.ts';

it('where nothing is traced, a step only runs, and nothing is stored with rows', async () => {
  expect(await traced('step', { parent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }, async (span) => span)).toBe(
    undefined,
  );
  expect([isTraced(), traceparent()]).toEqual([false, undefined]);
});
