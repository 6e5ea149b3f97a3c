/** A small generator of numbers that are the same for the same seed, everywhere. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const pick = <T>(next: () => number, items: readonly T[]): T => {
  const item = items[Math.floor(next() * items.length)];
  if (item === undefined) throw new Error('There is nothing to pick from.');
  return item;
};

/** How many seeds a suite runs: a few as a rule, as many as wanted by `SVC_SEEDS`. */
export const seedCount = (usual: number): number => Number(process.env.SVC_SEEDS ?? usual);
