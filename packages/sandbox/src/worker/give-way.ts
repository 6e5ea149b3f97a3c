import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** As a shell's `nice`: a tenth of the share of a thread that is not so polite, and everything while nobody else wants it. */
const POLITENESS = 10;

/**
 * Lets the threads that serve requests go first when there are more than the cores can run. Linux alone has a priority for each
 * thread and a way to learn its number; elsewhere nothing changes.
 */
export function giveWay(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    if (Number.isSafeInteger(thread) && thread > 0) setPriority(thread, POLITENESS);
  } catch {
    // It was a courtesy.
  }
}
