import type { Crypto } from './crypto.ts';
import { type Lane, Lanes } from './lanes.ts';
import type { Operations } from './operations.ts';
import { CryptoThread, CryptoUnavailableError, type Task } from './thread.ts';

const ENTRY = new URL('./entry.ts', import.meta.url);

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
