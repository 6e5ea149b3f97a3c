import { describe, expect, it } from 'vitest';
import { SvcApiError, SvcError } from './errors.ts';

describe('an error', () => {
  const root = new TypeError('fetch failed');
  const middle = new Error('middle', { cause: root });
  const top = new SvcApiError('internal_error', 'A sentence.', { status: 500 }, { cause: middle });

  it('is an Error and a SvcError, with a name of its own', () => {
    expect(top).toBeInstanceOf(Error);
    expect(top).toBeInstanceOf(SvcError);
    expect(String(top)).toBe('SvcApiError: A sentence.');
  });

  it('walks to its root cause, or to the first match', () => {
    expect(top.walk()).toBe(root);
    expect(top.walk((error) => error === middle)).toBe(middle);
    expect(top.walk((error) => error instanceof RangeError)).toBeUndefined();
  });

  it('does not walk circular causes forever', () => {
    const one = new SvcError('one', 'one');
    one.cause = new Error('other', { cause: one });
    expect(one.walk((error) => error instanceof RangeError)).toBeUndefined();
  });
});
