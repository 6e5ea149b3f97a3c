import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anyGiftStep as anyStep, GiftModel as Model, GiftPerformer as Performer } from '../../testing/gift-models.ts';
import { useGifts } from '../../testing/gifts.ts';
import { findBrokenInvariants } from '../../testing/ledger.ts';

const fixture = useGifts();
const RUNS = 25;

it('after any sequence of making, redeeming, changing, expiring and deleting, credits are where a plain model has them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 30, maxLength: 60, size: 'max' }), async (steps) => {
      const model = new Model();
      const real = new Performer(fixture, await fixture.caller(Model.DOLLARS));
      for (const step of steps) {
        expect(await real.apply(step), JSON.stringify(step)).toBe(model.apply(step));
        expect(await real.credits()).toEqual(model.credits());
      }
      expect(await real.gifts()).toEqual(model.gifts());
    }),
    { numRuns: RUNS },
  );
  expect(await findBrokenInvariants(fixture.db)).toEqual([]);
}, 120_000);
