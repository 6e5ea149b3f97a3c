import { expect, it } from 'vitest';
import { Throttle } from './attestation-client.ts';

/** A clock that advances with pauses only. */
function handClock() {
  const clock = { ms: 1_000, pauses: [] as number[] };
  const pace = new Throttle({
    now: () => clock.ms,
    pause: async (ms) => {
      clock.pauses.push(ms);
    },
  });
  return { clock, pace };
}

it('the first request starts at once, later ones a tenth of a second apart', async () => {
  const { clock, pace } = handClock();
  expect(await Promise.all([pace.take(), pace.take(), pace.take()])).toEqual([true, true, true]);
  expect(clock.pauses).toEqual([100, 200]);
});

it('a request that would wait longer than ten seconds is refused and takes no slot', async () => {
  const { clock, pace } = handClock();
  const all = await Promise.all(Array.from({ length: 150 }, () => pace.take()));
  expect(all.filter((taken) => taken)).toHaveLength(101);
  clock.ms += 10_100;
  expect(await pace.take()).toBe(true);
});

it('after a refusal no request starts for five minutes', async () => {
  const { clock, pace } = handClock();
  pace.block();
  clock.ms += 299_999;
  expect(await pace.take()).toBe(false);
  clock.ms += 1;
  expect(await pace.take()).toBe(true);
});

it('a refusal also stops requests that wait already', async () => {
  const { pace } = handClock();
  const waiting = [pace.take(), pace.take()];
  pace.block();
  expect(await Promise.all(waiting)).toEqual([true, false]);
});
