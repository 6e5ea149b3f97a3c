/** Time and chance, from one place, so that tests turn them. */
export interface Runtime {
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  randomBytes(count: number): Uint8Array<ArrayBuffer>;
}

export const defaultRuntime: Runtime = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      if (signal?.aborted) stop();
      else signal?.addEventListener('abort', stop, { once: true });
    }),
  randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
};
