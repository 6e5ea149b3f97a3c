import { describe, expect, it } from 'vitest';
import { failure } from '../../testing/fake-client.ts';
import { defaultRuntime } from './client.ts';

/** Longer than any test: only the abort ends it. */
const NEVER_MS = 2 ** 30;

describe('sleeping', () => {
  it('ends by itself', async () => {
    await expect(defaultRuntime.sleep(0)).resolves.toBeUndefined();
  });

  it("ends with the caller's reason if aborted before or meanwhile", async () => {
    const reason = new Error('enough');
    expect(await failure(defaultRuntime.sleep(NEVER_MS, AbortSignal.abort(reason)))).toBe(reason);
    const stop = new AbortController();
    const sleeping = failure(defaultRuntime.sleep(NEVER_MS, stop.signal));
    stop.abort(reason);
    expect(await sleeping).toBe(reason);
  });
});

describe('random bytes', () => {
  it('have the requested length and differ each time', () => {
    const [one, other] = [defaultRuntime.randomBytes(32), defaultRuntime.randomBytes(32)];
    expect(one).toHaveLength(32);
    expect(one).not.toEqual(other);
  });
});
