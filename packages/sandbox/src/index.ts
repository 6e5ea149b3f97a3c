import path from 'node:path';
import type { Db } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { registerIdentity } from './identity/routes.ts';

/** Everything that exists in development only: mounted below `/sandbox`, absent where the sandbox is off. */
export const sandbox = {
  migrations: { name: 'sandbox', folder: path.resolve(import.meta.dirname, '../migrations') },
  /** Below the mount, where the development identity provider shows its keys. */
  keySetPath: '/identity/jwks.json',
  /** Errors are left to the application it is mounted in. */
  async mount(app: FastifyInstance, db: Db): Promise<void> {
    registerIdentity(app, db);
  },
};
