/** How fast workers notice what no notification tells them. */
export interface Timing {
  /** Between two looks for jobs that have become due, recurring tasks and jobs of workers that died. */
  readonly lookMs: number;
  /** A worker that the others cannot see for this long interrupts what it runs. */
  readonly lostAfterMs: number;
  /** The jobs of a worker that was gone for this long are taken over: later than it would interrupt them itself. */
  readonly takeOverAfterMs: number;
}

export const DEFAULT_TIMING: Timing = { lookMs: 1_000, lostAfterMs: 1_500, takeOverAfterMs: 3_000 };
