import { loadPages } from '../pages.ts';

/** The pages are built before the tests, so that no server of theirs has to build them while it starts. */
export default async function setup(): Promise<void> {
  await loadPages((line) => process.stderr.write(`${line}\n`)).catch((error: unknown) => {
    // Most tests need no page; those that do start a server, which says the same.
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  });
}
