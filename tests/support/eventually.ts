const POLL_MS = 50;
/** Workers poll every second; on a busy machine several seconds pass. */
const WAIT_LIMIT_MS = 90_000;

/** Polls until a value fits; at the limit it answers the last value. */
export async function eventually<T>(
  read: () => Promise<T>,
  fits: (value: T) => boolean,
  limitMs = WAIT_LIMIT_MS,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const value = await read();
    if (fits(value) || performance.now() > deadline) return value;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
