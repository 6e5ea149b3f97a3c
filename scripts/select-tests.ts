import path from 'node:path';

/** A test file that a change can affect, and its tier: a project of vitest.config.ts. */
export interface TestFile {
  readonly file: string;
  readonly tier: string;
}

export interface Selection {
  readonly run: readonly string[];
  readonly left: readonly string[];
}

/** Seconds that a test file takes on two cores, on average. */
const SECONDS: Readonly<Record<string, number>> = { unit: 0.3, db: 1.3, 'db-isolated': 2 };
/** Files of the slower tiers start a service each. */
const SLOW_SECONDS = 10;

/**
 * Fills the budget with the tests closest to the change: test files that changed themselves, then those of the changed
 * folders, then the others, fast tiers first. Slower tiers than `db` count only where the test file itself changed.
 */
export function selectTests(
  related: readonly TestFile[],
  changed: readonly string[],
  budgetSeconds: number,
): Selection {
  const folders = new Set(changed.map((file) => path.posix.dirname(file)));
  const distance = ({ file }: TestFile) => {
    if (changed.includes(file)) return 0;
    return folders.has(path.posix.dirname(file)) ? 1 : 2;
  };
  const candidates = related
    .map((test) => ({ ...test, distance: distance(test), seconds: SECONDS[test.tier] ?? SLOW_SECONDS }))
    .filter(({ distance, tier }) => distance === 0 || tier in SECONDS)
    .sort((a, b) => a.distance - b.distance || a.seconds - b.seconds || a.file.localeCompare(b.file));
  const run: string[] = [];
  let seconds = 0;
  for (const test of candidates) {
    seconds += test.seconds;
    if (seconds > budgetSeconds && run.length > 0) break;
    run.push(test.file);
  }
  return { run, left: related.map(({ file }) => file).filter((file) => !run.includes(file)) };
}
