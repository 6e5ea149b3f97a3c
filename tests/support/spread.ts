import { random } from './seeds.ts';

/** One of all the cases for a seed: each seed has a stretch of its own, so that enough seeds take every case. */
export function spread<T>(seed: number, seeds: number, cases: readonly T[]): T {
  const from = Math.floor((seed * cases.length) / seeds);
  const to = Math.max(from + 1, Math.floor(((seed + 1) * cases.length) / seeds));
  const chosen = cases[from + Math.floor(random(seed)() * (to - from))];
  if (chosen === undefined) throw new Error('There is no case for this seed.');
  return chosen;
}
