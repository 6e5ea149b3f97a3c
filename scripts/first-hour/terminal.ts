import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

const STOP_LIMIT_MS = 30_000;
const LAST_LINES = 40;

export type Env = Readonly<Record<string, string | undefined>>;

/** Commands in a terminal: a process group of their own, which Ctrl-C ends as a whole. */
export class Terminal {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #output = '';

  constructor(name: string, commands: string, { cwd, env }: { readonly cwd: string; readonly env: Env }) {
    this.name = name;
    this.#child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', commands], {
      cwd,
      env: env as NodeJS.ProcessEnv,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
        this.#child.emit('text');
      });
    }
    this.#ended = once(this.#child, 'close').then(([code]) => code as number | null);
    this.#ended.catch(() => undefined);
  }

  get output(): string {
    return this.#output;
  }

  /** Waits until the output has what is looked for. */
  async shows(pattern: RegExp, limitMs: number): Promise<RegExpExecArray> {
    const signal = AbortSignal.timeout(limitMs);
    const hasEnded = this.#ended.then(() => true);
    for (;;) {
      const found = pattern.exec(this.#output);
      if (found) return found;
      const waits = [once(this.#child, 'text', { signal }).then(() => false), hasEnded];
      const isOver = await Promise.race(waits).catch(() => {
        throw this.#failure(`did not show ${pattern} within ${limitMs / 1_000} s`);
      });
      const last = isOver ? pattern.exec(this.#output) : undefined;
      if (last) return last;
      if (isOver) throw this.#failure(`ended without showing ${pattern}`);
    }
  }

  /** Waits for the end; anything but success is an error. */
  async succeeds(limitMs: number): Promise<string> {
    const timer = AbortSignal.timeout(limitMs);
    const late = once(timer, 'abort').then(() => 'late' as const);
    const code = await Promise.race([this.#ended, late]);
    if (code === 'late') throw this.#failure(`was not done after ${limitMs / 1_000} s`);
    if (code !== 0) throw this.#failure(`ended with code ${code}`);
    return this.#output;
  }

  /** Ctrl-C, and an end by force where that is not enough. True where it was enough. */
  async stop(): Promise<boolean> {
    this.#signal('SIGINT');
    // Closed once no process of the group can write any more.
    const isEnded = await Promise.race([this.#ended.then(() => true), pause(STOP_LIMIT_MS, false, { ref: false })]);
    if (!isEnded) this.#signal('SIGKILL');
    return isEnded;
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, signal);
    } catch {
      // The group is gone.
    }
  }

  #failure(what: string): Error {
    const last = this.#output.trimEnd().split('\n').slice(-LAST_LINES).join('\n');
    return new Error(`${this.name} ${what}. Its last lines:\n${last}`);
  }
}
