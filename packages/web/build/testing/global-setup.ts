import { loadPages } from '../pages.ts';

/** Builds the pages before the tests, so that no test server builds them while it starts. */
export default async function setup(): Promise<void> {
  await loadPages((line) => process.stderr.write(`${line}\n`)).catch((error: unknown) => {
    // Most tests need no page; those that do start a server, which reports the same error.
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  });
}
