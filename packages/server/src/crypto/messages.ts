import type { Operations } from './operations.ts';

/** To a thread, which has one job at a time. */
export interface Job {
  readonly operation: keyof Operations;
  readonly args: readonly unknown[];
}

/** And back: once that it is ready, then one answer to each job, with the time that the job took. */
export type Tell =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly answer: unknown; readonly ms: number }
  | { readonly kind: 'failed'; readonly message: string; readonly ms: number };
