import { Worker } from 'node:worker_threads';
import { accountDeployment, type Deployment } from '@svc/starknet';
import type { Crypto, Job, Operations, Tell } from './crypto.ts';

const ENTRY = new URL('./thread-entry.ts', import.meta.url);

export interface CryptoPool extends Crypto {
  /** How long the threads have worked on jobs, all together; a job counts when it ends. */
  busyMs(): number;
}

/** Threads start with the first jobs, and do not keep the process alive. */
export function startCrypto({ threads }: { readonly threads: number }, entry = ENTRY): CryptoPool {
  const pool = new ThreadPool(threads, entry);
  return {
    signInvoke: (...args) => pool.run('signInvoke', args, 'urgent'),
    checkExecution: (...args) => pool.run('checkExecution', args),
    executionHash: (...args) => pool.run('executionHash', args),
    contractAddress: (...args) => pool.run('contractAddress', args),
    accountAddresses: (...args) => pool.run('accountAddresses', args),
    busyMs: () => pool.busyMs,
    stop: () => pool.stop(),
  };
}

/** The jobs wait here, not in the threads, so that an urgent one waits for no more than what is in hand. */
class ThreadPool {
  readonly #limit: number;
  readonly #entry: URL;
  readonly #waiting = new Lanes<Task>();
  readonly #threads = new Set<CryptoThread>();
  #stopped = false;
  busyMs = 0;

  constructor(limit: number, entry: URL) {
    if (!Number.isSafeInteger(limit) || limit < 1) throw new RangeError('Cryptography needs at least one thread');
    this.#limit = limit;
    this.#entry = entry;
  }

  run<Name extends keyof Operations>(operation: Name, args: Parameters<Operations[Name]>, lane: Lane = 'ordinary') {
    return new Promise<ReturnType<Operations[Name]>>((resolve, reject) => {
      if (this.#stopped) return reject(new CryptoUnavailableError('Cryptography was stopped'));
      const task: Task = { job: { operation, args }, resolve: resolve as (answer: unknown) => void, reject };
      if (!this.#waiting.add(lane, task)) {
        return reject(new CryptoUnavailableError('Cryptography has too much to do'));
      }
      this.#handOut();
      this.#growIfNeeded();
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#rejectWaiting('Cryptography was stopped');
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  #handOut(): void {
    for (const thread of this.#threads) {
      while (thread.free) {
        const task = this.#waiting.next();
        if (!task) return;
        thread.give(task);
      }
    }
  }

  #growIfNeeded(): void {
    if (this.#stopped || this.#waiting.size === 0 || this.#threads.size >= this.#limit) return;
    const thread = new CryptoThread(this.#entry, {
      free: () => this.#handOut(),
      worked: (ms) => {
        this.busyMs += ms;
      },
      gone: (...death) => this.#lost(...death),
    });
    this.#threads.add(thread);
  }

  /** One that never started is tried again with the next job only, so that a broken start cannot go round in circles. */
  #lost(thread: CryptoThread, started: boolean, reason: Error | undefined): void {
    this.#threads.delete(thread);
    if (started) this.#growIfNeeded();
    else if (this.#threads.size === 0) this.#rejectWaiting('No thread for cryptography could start', reason);
  }

  #rejectWaiting(message: string, cause?: Error): void {
    const options = cause ? { cause } : {};
    for (const { reject } of this.#waiting.clear()) reject(new CryptoUnavailableError(message, options));
  }
}

/** The tables and the remembered keys take some 20 MB; a thread that runs away is ended and replaced. */
const MAX_MEMORY_MB = 256;

export interface Task {
  readonly job: Job;
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

/** Not the fault of what was asked: nothing was done, and asking again is safe. */
export class CryptoUnavailableError extends Error {
  override readonly name = 'CryptoUnavailableError';
}

export interface ThreadEvents {
  /** Ready for the next job. */
  free(): void;
  worked(ms: number): void;
  /** Dead. `started` says whether it was ever ready; the reason matters when it was not. */
  gone(thread: CryptoThread, started: boolean, reason: Error | undefined): void;
}

/** One worker thread with at most one job in hand. */
export class CryptoThread {
  readonly #worker: Worker;
  readonly #events: ThreadEvents;
  #started = false;
  #inHand: Task | undefined;
  #reason: Error | undefined;

  constructor(entry: URL, events: ThreadEvents) {
    this.#events = events;
    this.#worker = new Worker(entry, {
      // The flags of the process that starts it (a test runner's, say) are not meant for it.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
    });
    this.#worker.on('message', (message: Tell) => this.#told(message));
    this.#worker.on('error', (error) => {
      this.#reason = error instanceof Error ? error : undefined;
    });
    this.#worker.on('exit', () => this.#gone());
    this.#worker.unref();
  }

  get free(): boolean {
    return this.#started && !this.#inHand;
  }

  /** Only when it is free. */
  give(task: Task): void {
    try {
      this.#worker.postMessage(task.job);
      this.#inHand = task;
    } catch {
      // Such an error shows the value that cannot be copied, which could be a key.
      task.reject(new TypeError(`${task.job.operation}: the arguments cannot be copied to a thread`));
    }
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #told(message: Tell): void {
    if (message.kind === 'ready') this.#started = true;
    else {
      const task = this.#inHand;
      this.#inHand = undefined;
      this.#events.worked(message.ms);
      if (message.kind === 'done') task?.resolve(message.answer);
      else task?.reject(new Error(`${task.job.operation}: ${message.message}`));
    }
    this.#events.free();
  }

  #gone(): void {
    // Without the reason: what a job threw could show its key.
    this.#inHand?.reject(new CryptoUnavailableError(`${this.#inHand.job.operation}: the thread ended during the job`));
    this.#inHand = undefined;
    this.#events.gone(this, this.#started, this.#reason);
  }
}

/** Some seconds of work in each lane: whoever came later would have gone away before the answer. */
export const MAX_WAITING = 2_000;

export type Lane = 'urgent' | 'ordinary';

/** What waits: the urgent first, otherwise in order. The lanes have a bound each, so a flood in one leaves the other open. */
export class Lanes<Item> {
  readonly #lanes: Record<Lane, Item[]> = { urgent: [], ordinary: [] };

  get size(): number {
    return this.#lanes.urgent.length + this.#lanes.ordinary.length;
  }

  /** False when the lane is full. */
  add(lane: Lane, item: Item): boolean {
    if (this.#lanes[lane].length >= MAX_WAITING) return false;
    this.#lanes[lane].push(item);
    return true;
  }

  next(): Item | undefined {
    return this.#lanes.urgent.shift() ?? this.#lanes.ordinary.shift();
  }

  /** Everything that waits, which then waits no longer. */
  clear(): Item[] {
    return [...this.#lanes.urgent.splice(0), ...this.#lanes.ordinary.splice(0)];
  }
}

type Addresses = Pick<Crypto, 'contractAddress' | 'accountAddresses'>;

/** An owner signs within the hour; a quarter of a kilobyte each. */
const MAX_REMEMBERED = 10_000;

/**
 * Keeps addresses that were calculated: creating a wallet asks for the one that preparing it asked for before, and going to a
 * thread and back costs the thread that serves requests more than looking it up.
 */
export function rememberAddresses<T extends Addresses>(crypto: T, limit = MAX_REMEMBERED): T {
  const known = new Map<string, bigint>();
  const keep = (deployment: Deployment, address: bigint) => {
    known.set(keyOf(deployment), address);
    // A map keeps the order of insertion, so its first key is the oldest.
    const oldest = known.keys().next();
    if (known.size > limit && !oldest.done) known.delete(oldest.value);
  };
  const contractAddress = async (deployment: Deployment) => {
    const address = known.get(keyOf(deployment)) ?? (await crypto.contractAddress(deployment));
    keep(deployment, address);
    return address;
  };
  const accountAddresses = async (classHashes: readonly bigint[], publicKey: bigint) => {
    const addresses = await crypto.accountAddresses(classHashes, publicKey);
    for (const [index, classHash] of classHashes.entries()) {
      const address = addresses[index];
      if (address !== undefined) keep(accountDeployment(classHash, publicKey), address);
    }
    return addresses;
  };
  return { ...crypto, contractAddress, accountAddresses };
}

function keyOf({ deployer, salt, classHash, constructorCalldata }: Deployment): string {
  return [deployer, salt, classHash, ...constructorCalldata].join();
}
