export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

/** Lets so many pieces of work run at the same time; the others wait in the order in which they came. */
export function createSemaphore(most: number): Semaphore {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // The place goes to the next one directly, so nobody who comes later slips in between.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

/** Enough to hide a node's distance, few enough not to be taken for an attack. */
const AT_ONCE = 8;

/** Does the work for all items, a few at a time. */
export async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += AT_ONCE) {
    await Promise.all(items.slice(start, start + AT_ONCE).map(work));
  }
}
