import { sandbox } from '@svc/sandbox';
import { inThisThread } from '../../packages/sandbox/testing/sandbox-server.ts';
import { readConfig } from '../../packages/server/src/config.ts';
import { banner } from '../../packages/server/src/log.ts';
import { type Sandbox, type Service, startService } from '../../packages/server/src/service.ts';

/** Runs services for tests, several in one process: their code is loaded and optimised once. */
export type HostOrder =
  | { readonly id: string; readonly start: Record<string, string>; readonly outputFile: string }
  | { readonly id: string; readonly stop: true };
export interface HostAnswer {
  readonly id: string;
  readonly error?: string;
}

const warm: Sandbox = { ...sandbox, start: (db, report) => sandbox.start(db, report, inThisThread) };
const services = new Map<string, Service>();

async function start(id: string, env: Record<string, string>, outputFile: string): Promise<void> {
  const config = readConfig(env);
  const service = await startService({ ...config, logFormat: 'json' }, config.sandbox ? warm : undefined, outputFile);
  services.set(id, service);
  service.print(banner({ ...service, startedInMs: 0, isTerminal: false }));
}

async function stop(id: string): Promise<void> {
  const service = services.get(id);
  services.delete(id);
  await service?.stop();
  // Flushes what was logged at the end.
  service?.print('');
}

// Each service adds a listener for its log.
process.setMaxListeners(0);
process.on('disconnect', () => process.exit(0));
process.on('message', async (order: HostOrder) => {
  const done = 'start' in order ? start(order.id, order.start, order.outputFile) : stop(order.id);
  const error = await done.then(
    () => undefined,
    (thrown: unknown) => (thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)),
  );
  process.send?.({ id: order.id, ...(error !== undefined && { error }) } satisfies HostAnswer);
});
