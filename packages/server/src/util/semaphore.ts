export type Semaphore = <T>(task: () => Promise<T>) => Promise<T>;

export interface SemaphoreLimits {
  readonly limit: number;
  readonly maxQueued: number;
}

export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

export function createSemaphore({ limit, maxQueued }: SemaphoreLimits): Semaphore {
  const queue: (() => void)[] = [];
  let running = 0;
  return async (task) => {
    if (running < limit) running += 1;
    else if (queue.length < maxQueued) await new Promise<void>((resolve) => queue.push(resolve));
    else throw new QueueFullError(`${limit} tasks run and ${queue.length} wait already`);
    try {
      return await task();
    } finally {
      // The slot passes to the next task directly, so a later one cannot overtake it.
      const next = queue.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

const BATCH_SIZE = 8;

export async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += BATCH_SIZE) {
    await Promise.all(items.slice(start, start + BATCH_SIZE).map(work));
  }
}
