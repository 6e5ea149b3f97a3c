import { Worker } from 'node:worker_threads';
import { accountDeployment, type Deployment } from '@svc/starknet';
import type { Crypto, HeldKey, Job, Operations, SignedFields, SignRequest, ThreadMessage } from './crypto.ts';

const ENTRY = new URL('./thread-entry.ts', import.meta.url);

export interface CryptoPool extends Crypto {
  busyMs(): number;
}

/** Threads start with the first jobs and do not keep the process alive. */
export function startCrypto({ threads }: { readonly threads: number }, entry = ENTRY): CryptoPool {
  const pool = new ThreadPool(threads, entry);
  const signElsewhere = async (key: HeldKey, request: SignRequest): Promise<SignedFields> => {
    const { r, s } = await key.sign(request);
    const isGood = await pool.run('verify', [request.hash, key.publicKey, r, s], 'urgent');
    if (!isGood) throw new Error('The signer answered with a signature that is not of its key.');
    return { hash: request.hash, signature: [r, s] };
  };
  return {
    async signInvoke(fields, key) {
      if (typeof key === 'bigint') return pool.run('signInvoke', [fields, key], 'urgent');
      const hash = await pool.run('invokeHash', [fields], 'urgent');
      return signElsewhere(key, { kind: 'transaction', hash, transaction: fields });
    },
    checkExecution: (...args) => pool.run('checkExecution', args),
    executionHash: (...args) => pool.run('executionHash', args),
    async signExecution(execution, account, chainId, key) {
      if (typeof key === 'bigint') return pool.run('signExecution', [execution, account, chainId, key]);
      const hash = await pool.run('executionHash', [execution, account, chainId]);
      return signElsewhere(key, { kind: 'execution', hash, execution, account, chainId });
    },
    contractAddress: (...args) => pool.run('contractAddress', args),
    accountAddresses: (...args) => pool.run('accountAddresses', args),
    busyMs: () => pool.busyMs,
    stop: () => pool.stop(),
  };
}

/** Jobs wait here, not in the threads, so that an urgent one waits for running jobs only. */
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
      this.#assignTasks();
      this.#startThreadIfNeeded();
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#rejectWaiting('Cryptography was stopped');
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  #assignTasks(): void {
    for (const thread of this.#threads) {
      while (thread.free) {
        const task = this.#waiting.next();
        if (!task) return;
        thread.assign(task);
      }
    }
  }

  #startThreadIfNeeded(): void {
    if (this.#stopped || this.#waiting.size === 0 || this.#threads.size >= this.#limit) return;
    const thread = new CryptoThread(this.#entry, {
      free: () => this.#assignTasks(),
      worked: (ms) => {
        this.busyMs += ms;
      },
      exited: (...exit) => this.#onThreadExit(...exit),
    });
    this.#threads.add(thread);
  }

  /** A thread that never started is replaced with the next job only, to avoid a restart loop. */
  #onThreadExit(thread: CryptoThread, started: boolean, reason: Error | undefined): void {
    this.#threads.delete(thread);
    if (started) this.#startThreadIfNeeded();
    else if (this.#threads.size === 0) this.#rejectWaiting('No thread for cryptography could start', reason);
  }

  #rejectWaiting(message: string, cause?: Error): void {
    const options = cause ? { cause } : {};
    for (const { reject } of this.#waiting.clear()) reject(new CryptoUnavailableError(message, options));
  }
}

const MAX_MEMORY_MB = 256;

export interface Task {
  readonly job: Job;
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

/** Nothing was done; safe to repeat. */
export class CryptoUnavailableError extends Error {
  override readonly name = 'CryptoUnavailableError';
}

export interface ThreadEvents {
  free(): void;
  worked(ms: number): void;
  exited(thread: CryptoThread, started: boolean, reason: Error | undefined): void;
}

export class CryptoThread {
  readonly #worker: Worker;
  readonly #events: ThreadEvents;
  #started = false;
  #current: Task | undefined;
  #reason: Error | undefined;

  constructor(entry: URL, events: ThreadEvents) {
    this.#events = events;
    this.#worker = new Worker(entry, {
      // Flags of the parent, such as a test runner's, are not for the thread.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
    });
    this.#worker.on('message', (message: ThreadMessage) => this.#onMessage(message));
    this.#worker.on('error', (error) => {
      this.#reason = error instanceof Error ? error : undefined;
    });
    this.#worker.on('exit', () => this.#onExit());
    this.#worker.unref();
  }

  get free(): boolean {
    return this.#started && !this.#current;
  }

  assign(task: Task): void {
    try {
      this.#worker.postMessage(task.job);
      this.#current = task;
    } catch {
      // The original error shows the value, which could be a key.
      task.reject(new TypeError(`${task.job.operation}: the arguments cannot be copied to a thread`));
    }
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #onMessage(message: ThreadMessage): void {
    if (message.kind === 'ready') this.#started = true;
    else {
      const task = this.#current;
      this.#current = undefined;
      this.#events.worked(message.ms);
      if (message.kind === 'done') task?.resolve(message.answer);
      else task?.reject(new Error(`${task.job.operation}: ${message.message}`));
    }
    this.#events.free();
  }

  #onExit(): void {
    // No cause: it could show a key.
    this.#current?.reject(
      new CryptoUnavailableError(`${this.#current.job.operation}: the thread ended during the job`),
    );
    this.#current = undefined;
    this.#events.exited(this, this.#started, this.#reason);
  }
}

/** Some seconds of work per lane; later callers would have given up. */
export const MAX_WAITING = 2_000;

export type Lane = 'urgent' | 'ordinary';

/** Urgent first, otherwise FIFO. Each lane has its own bound, so a flood in one leaves the other open. */
export class Lanes<Item> {
  readonly #lanes: Record<Lane, Item[]> = { urgent: [], ordinary: [] };

  get size(): number {
    return this.#lanes.urgent.length + this.#lanes.ordinary.length;
  }

  add(lane: Lane, item: Item): boolean {
    if (this.#lanes[lane].length >= MAX_WAITING) return false;
    this.#lanes[lane].push(item);
    return true;
  }

  next(): Item | undefined {
    return this.#lanes.urgent.shift() ?? this.#lanes.ordinary.shift();
  }

  clear(): Item[] {
    return [...this.#lanes.urgent.splice(0), ...this.#lanes.ordinary.splice(0)];
  }
}

type Addresses = Pick<Crypto, 'contractAddress' | 'accountAddresses'>;

const MAX_CACHED = 10_000;

/** Creating a wallet asks for the address that preparing it computed; a round trip to a thread costs more than a lookup. */
export function cacheAddresses<T extends Addresses>(crypto: T, limit = MAX_CACHED): T {
  const known = new Map<string, bigint>();
  const store = (deployment: Deployment, address: bigint) => {
    known.set(keyOf(deployment), address);
    const oldest = known.keys().next();
    if (known.size > limit && !oldest.done) known.delete(oldest.value);
  };
  const contractAddress = async (deployment: Deployment) => {
    const address = known.get(keyOf(deployment)) ?? (await crypto.contractAddress(deployment));
    store(deployment, address);
    return address;
  };
  const accountAddresses = async (classHashes: readonly bigint[], publicKey: bigint) => {
    const addresses = await crypto.accountAddresses(classHashes, publicKey);
    for (const [index, classHash] of classHashes.entries()) {
      const address = addresses[index];
      if (address !== undefined) store(accountDeployment(classHash, publicKey), address);
    }
    return addresses;
  };
  return { ...crypto, contractAddress, accountAddresses };
}

function keyOf({ deployer, salt, classHash, constructorCalldata }: Deployment): string {
  return [deployer, salt, classHash, ...constructorCalldata].join();
}
