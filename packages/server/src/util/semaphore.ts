import { AsyncLocalStorage } from 'node:async_hooks';
import { currentTenant } from '@svc/store';

interface Some<T> {
  readonly tenant: string | undefined;
  readonly items: readonly T[];
}

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

  /** Of the next tenant that is not passed over. */
  shiftSome(max: number, isPassedOver: (tenant: string | undefined) => boolean): Some<T> | undefined {
    const tenant = this.#items.keys().find((each) => !isPassedOver(each));
    const own = this.#items.get(tenant);
    if (!own || isPassedOver(tenant)) return undefined;
    const items = own.splice(0, max);
    this.#size -= items.length;
    this.#items.delete(tenant);
    if (own.length > 0) this.#items.set(tenant, own);
    return { tenant, items };
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
  const wait = (tenant: string | undefined): Promise<void> => {
    makeRoom(queue, { limit, maxQueued }, tenant);
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

type Rejecting = Pick<PromiseWithResolvers<unknown>, 'reject'>;

function makeRoom(
  queue: TurnQueue<Rejecting>,
  { limit, maxQueued }: SemaphoreLimits,
  tenant: string | undefined,
): void {
  if (queue.size < maxQueued) return;
  const full = new QueueFullError(`${limit} tasks run and ${queue.size} wait already`);
  const displaced = queue.displaceFor(tenant);
  if (!displaced) throw full;
  displaced.reject(full);
}

export type Batcher<T, R> = (item: T, tenant?: string) => Promise<R>;

export interface BatchLimits extends SemaphoreLimits {
  readonly maxTogether: number;
}

/** Answers in the order of its items. */
export type BatchWork<T, R> = (items: readonly T[]) => Promise<readonly PromiseSettledResult<R>[]>;

/** What a tenant asks for while its last batch is worked on makes the next; tenants take turns. A full queue refuses as above. */
export function createBatcher<T, R>(limits: BatchLimits, work: BatchWork<T, R>): Batcher<T, R> {
  interface Entry extends PromiseWithResolvers<R> {
    readonly item: T;
    readonly inItsContext: <A>(task: () => A) => A;
  }
  const queue = new TurnQueue<Entry>();
  const busy = new Set<string | undefined>();
  const run = async (entries: readonly Entry[]) => {
    try {
      const results = await work(entries.map(({ item }) => item));
      for (const [index, { resolve, reject }] of entries.entries()) {
        const result = results[index];
        if (result?.status === 'fulfilled') resolve(result.value);
        else reject(result?.reason);
      }
    } catch (error) {
      for (const { reject } of entries) reject(error);
    }
  };
  const begin = () => {
    while (busy.size < limits.limit) {
      const next = queue.shiftSome(limits.maxTogether, (tenant) => busy.has(tenant));
      const [first] = next?.items ?? [];
      if (!next || !first) return;
      busy.add(next.tenant);
      void first
        .inItsContext(() => run(next.items))
        .finally(() => {
          busy.delete(next.tenant);
          begin();
        });
    }
  };
  return async (item, tenant = currentTenant()) => {
    if (busy.has(tenant) || busy.size >= limits.limit) makeRoom(queue, limits, tenant);
    const entry = { ...Promise.withResolvers<R>(), item, inItsContext: AsyncLocalStorage.snapshot() };
    queue.push(tenant, entry);
    begin();
    return entry.promise;
  };
}

const BATCH_SIZE = 8;

export async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += BATCH_SIZE) {
    await Promise.all(items.slice(start, start + BATCH_SIZE).map(work));
  }
}

interface Gathered<Item, Result> extends PromiseWithResolvers<Result> {
  readonly item: Item;
}

/** What is asked at the same moment for one key, such as a transaction, is run together. All of it fails where it fails. */
export function createGatherer<Key extends object, Item, Result>(
  run: (key: Key, items: readonly Item[]) => Promise<readonly Result[]>,
): (key: Key, item: Item) => Promise<Result> {
  const gathering = new WeakMap<Key, Gathered<Item, Result>[]>();
  const runAll = async (key: Key, all: readonly Gathered<Item, Result>[]) => {
    // All that is asked in this turn comes before.
    await Promise.resolve();
    gathering.delete(key);
    try {
      const results = (
        await run(
          key,
          all.map(({ item }) => item),
        )
      ).values();
      for (const { resolve, reject } of all) {
        const next = results.next();
        if (next.done) reject(new Error('Less was answered than asked.'));
        else resolve(next.value);
      }
    } catch (error) {
      for (const { reject } of all) reject(error);
    }
  };
  return (key, item) => {
    const one = { ...Promise.withResolvers<Result>(), item };
    const open = gathering.get(key);
    if (open) open.push(one);
    else {
      const all = [one];
      gathering.set(key, all);
      void runAll(key, all);
    }
    return one.promise;
  };
}
