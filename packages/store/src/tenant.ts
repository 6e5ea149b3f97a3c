import { AsyncLocalStorage } from 'node:async_hooks';

const tenants = new AsyncLocalStorage<string>();

/** Everything that `work` does, also later, counts for this tenant. */
export const runAs = <T>(tenant: string, work: () => T): T => tenants.run(tenant, work);

export const currentTenant = (): string | undefined => tenants.getStore();

/** Longer than the database works on what one tenant may have queued; below the timeout of usual clients. */
const MAX_WAIT_MS = 25_000;
/** What waits holds its request in memory. */
const MAX_WAITING = 500;

export interface WaitLimits {
  readonly maxWaitMs?: number;
  readonly maxWaiting?: number;
}

/** One tenant asks for more than its share. Nothing was sent to the database. */
export class TenantBusyError extends Error {
  override readonly name = 'TenantBusyError';

  constructor() {
    super('The tenant has too many requests under way.');
  }
}

interface Waiting {
  begin(): void;
}

interface Use {
  running: number;
  readonly waiting: Waiting[];
}

/** At most so many at once for each tenant, in order. Work without a tenant is not limited. */
export class TenantShares {
  readonly #share: number;
  readonly #maxWaitMs: number;
  readonly #maxWaiting: number;
  readonly #uses = new Map<string, Use>();

  constructor(share: number, { maxWaitMs = MAX_WAIT_MS, maxWaiting = MAX_WAITING }: WaitLimits = {}) {
    this.#share = share;
    this.#maxWaitMs = maxWaitMs;
    this.#maxWaiting = maxWaiting;
  }

  async take(tenant: string | undefined): Promise<() => void> {
    if (tenant === undefined) return () => {};
    const use = this.#useOf(tenant);
    if (use.running < this.#share) use.running += 1;
    else await this.#wait(use);
    return () => this.#giveBack(tenant, use);
  }

  #useOf(tenant: string): Use {
    const known = this.#uses.get(tenant);
    if (known) return known;
    const use: Use = { running: 0, waiting: [] };
    this.#uses.set(tenant, use);
    return use;
  }

  #wait(use: Use): Promise<void> {
    if (use.waiting.length >= this.#maxWaiting) throw new TenantBusyError();
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        begin: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        use.waiting.splice(use.waiting.indexOf(waiting), 1);
        reject(new TenantBusyError());
      }, this.#maxWaitMs);
      use.waiting.push(waiting);
    });
  }

  #giveBack(tenant: string, use: Use): void {
    const next = use.waiting.shift();
    if (next) next.begin();
    else use.running -= 1;
    if (use.running === 0) this.#uses.delete(tenant);
  }
}
