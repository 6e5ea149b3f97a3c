const LOOK_EVERY_MS = 50;
/** Workers look every second; on a busy machine several seconds pass. */
const WAIT_LIMIT_MS = 90_000;

/** Reads until what was read fits; the last thing read is answered even when it never did, for the test to show. */
export async function eventually<T>(
  read: () => Promise<T>,
  fits: (value: T) => boolean,
  patienceMs = WAIT_LIMIT_MS,
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const value = await read();
    if (fits(value) || performance.now() > deadline) return value;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
