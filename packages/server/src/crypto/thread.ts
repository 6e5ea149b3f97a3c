import { Worker } from 'node:worker_threads';
import type { Job, Tell } from './messages.ts';

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
