import { describe, expect, it } from 'vitest';
import { isDatabaseUnavailable } from './client.ts';

describe('a database', () => {
  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'timeout expired',
    'Query read timeout',
  ])('is unavailable where the driver says: %s', (message) => {
    expect(isDatabaseUnavailable(new Error(message))).toBe(true);
  });

  it('is not unavailable because of another fault', () => {
    expect(isDatabaseUnavailable(new Error('The rate window was not stored.'))).toBe(false);
    expect(isDatabaseUnavailable('Query read timeout')).toBe(false);
  });
});
