import type { TestDatabase } from '@svc/store/testing';
import { generateKey } from '../../packages/server/src/organizations/api-keys.ts';
import { serverDatabase } from '../../packages/server/testing/database.ts';
import { type RunningServer, startServer } from './server.ts';

export interface TestService {
  readonly database: TestDatabase;
  readonly server: RunningServer;
  /** Starts one more process on the same database. */
  another(env?: Record<string, string>): Promise<RunningServer>;
  /** Ends every process and drops the database. */
  stop(): Promise<void>;
}

/** The real service on a database of its own, with development keys of its own and, unless told otherwise, no limit in sight. */
export async function startService(env: Record<string, string> = {}): Promise<TestService> {
  const database = await serverDatabase();
  const running: RunningServer[] = [];
  const common = {
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: '5',
    RATE_LIMIT_PER_MINUTE: '1000000',
    CLAIM_LIMIT_PER_MINUTE: '1000000',
    UNKNOWN_CODES_PER_MINUTE: '1000000',
    SVC_DEV_PUBLIC_KEY: generateKey('public', 'development'),
    SVC_DEV_SECRET_KEY: generateKey('secret', 'development'),
    ...env,
  };
  const another = async (more: Record<string, string> = {}) => {
    const server = await startServer({ env: { ...common, ...more } });
    running.push(server);
    return server;
  };
  const stop = async () => {
    await Promise.all(running.map((server) => server.stop()));
    await database.drop();
  };
  try {
    return { database, server: await another(), another, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
