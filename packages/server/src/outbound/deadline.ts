/**
 * Runs `work` until it ends, `timeoutMs` have passed (throws what `onTimeout` makes) or the caller's signal aborts (throws its
 * reason). The signal that `work` gets is always aborted in the end, so whatever hangs on it is let go.
 */
export async function withDeadline<T>(
  timeoutMs: number,
  onTimeout: () => Error,
  caller: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  caller?.throwIfAborted();
  const end = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    end.signal.addEventListener('abort', () => reject(end.signal.reason), { once: true });
  });
  const timer = setTimeout(() => end.abort(onTimeout()), timeoutMs);
  const onCallerAbort = () => end.abort(caller?.reason);
  caller?.addEventListener('abort', onCallerAbort, { once: true });
  try {
    return await Promise.race([ended, work(end.signal)]);
  } finally {
    clearTimeout(timer);
    caller?.removeEventListener('abort', onCallerAbort);
    end.abort();
  }
}
