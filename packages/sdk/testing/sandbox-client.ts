import { type Client, createClient, type Runtime } from '../src/client/client.ts';
import type { SandboxService } from './sandbox-service.ts';

export interface TestClock {
  nowMs: number;
}

/** A client without retries, whose sleeping only moves the clock on. */
export function sandboxClient({ baseUrl }: Pick<SandboxService, 'baseUrl'>, clock: TestClock): Client {
  const runtime: Runtime = {
    now: () => clock.nowMs,
    sleep: async (ms) => {
      clock.nowMs += ms;
    },
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
  };
  const options = {
    baseUrl,
    publicKey: `pk_dev_${'a'.repeat(32)}`,
    secretKey: `sk_dev_${'b'.repeat(32)}`,
    maxRetries: 0,
  };
  return createClient(options, runtime);
}
