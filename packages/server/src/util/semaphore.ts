import { currentTenant } from '@svc/store';

/** First in, first out for each tenant; tenants take turns. What has no tenant counts as one. */
export class TurnQueue<T> {
  /** The first tenant is the next. */
  readonly #items = new Map<string | undefined, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(tenant: string | undefined, item: T): void {
    const own = this.#items.get(tenant);
    if (own) own.push(item);
    else this.#items.set(tenant, [item]);
    this.#size += 1;
  }

  shift(): T | undefined {
    const [next] = this.#items;
    if (!next) return undefined;
    const [tenant, own] = next;
    const item = own.shift();
    this.#size -= 1;
    this.#items.delete(tenant);
    if (own.length > 0) this.#items.set(tenant, own);
    return item;
  }

  /** The last item of the tenant with the most, where this tenant has fewer even with one more. */
  displaceFor(tenant: string | undefined): T | undefined {
    let longest: T[] = [];
    for (const own of this.#items.values()) if (own.length > longest.length) longest = own;
    if (longest.length <= (this.#items.get(tenant)?.length ?? 0) + 1) return undefined;
    this.#size -= 1;
    return longest.pop();
  }
}

/** Tasks of a tenant, by default the current one, start in their order; tenants take turns. */
export type Semaphore = <T>(task: () => Promise<T>, tenant?: string) => Promise<T>;

export interface SemaphoreLimits {
  readonly limit: number;
  readonly maxQueued: number;
}

export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

/** A full queue refuses the tenant that has the most in it. */
export function createSemaphore({ limit, maxQueued }: SemaphoreLimits): Semaphore {
  const queue = new TurnQueue<PromiseWithResolvers<void>>();
  let running = 0;
  const full = () => new QueueFullError(`${limit} tasks run and ${queue.size} wait already`);
  const wait = (tenant: string | undefined): Promise<void> => {
    if (queue.size >= maxQueued) {
      const displaced = queue.displaceFor(tenant);
      if (!displaced) throw full();
      displaced.reject(full());
    }
    const turn = Promise.withResolvers<void>();
    queue.push(tenant, turn);
    return turn.promise;
  };
  return async (task, tenant = currentTenant()) => {
    if (running < limit) running += 1;
    else await wait(tenant);
    try {
      return await task();
    } finally {
      // The slot passes to the next task directly, so a later one cannot overtake it.
      const next = queue.shift();
      if (next) next.resolve();
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
