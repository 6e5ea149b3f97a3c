type Run = (...values: unknown[]) => Promise<unknown>;

const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (...source: string[]) => Run;

/** Runs JavaScript that may use `await`, use names of `scope` and redeclare them. */
export async function runExample(code: string, scope: Readonly<Record<string, unknown>>): Promise<void> {
  const run = new AsyncFunction(...Object.keys(scope), `'use strict'; {\n${code}\n}`);
  await run(...Object.values(scope));
}
