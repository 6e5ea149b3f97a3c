type Run = (...values: unknown[]) => Promise<unknown>;

const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (...source: string[]) => Run;

/** Runs plain JavaScript that may `await`, and may name what is in `scope`, or declare the same name anew. */
export async function runExample(code: string, scope: Readonly<Record<string, unknown>>): Promise<void> {
  const run = new AsyncFunction(...Object.keys(scope), `'use strict'; {\n${code}\n}`);
  await run(...Object.values(scope));
}
