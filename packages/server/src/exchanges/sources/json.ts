import { RateSourceError } from '../rate-source.ts';

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
// TypeScript does not know the third argument of the reviver yet; every Node that runs this does.
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

/** Reads JSON with every number as the text that was sent, so that no digit of a rate passes through a double. */
export function parseExactJson(text: string): unknown {
  try {
    return parseWithSource(text, (_key, value, { source }) => (typeof value === 'number' ? source : value));
  } catch {
    throw new RateSourceError('unreadable', 'The answer is not JSON.');
  }
}

/**
 * The text at a path, or undefined where there is none.
 *
 * @example textAt({ datos: [{ dato: '18.5' }] }, 'datos', 0, 'dato') // '18.5'
 */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string | undefined {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string | number, unknown>)[key];
  }
  return typeof found === 'string' ? found : undefined;
}
