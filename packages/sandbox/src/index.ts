import path from 'node:path';
import type { Database } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { predeployed } from './contracts/predeployed.ts';
import { registerControls } from './controls/routes.ts';
import { registerEvm } from './evm/routes.ts';
import { registerIdentity } from './identity/routes.ts';
import { registerRpc } from './rpc/routes.ts';
import { NodeThread } from './worker/node-thread.ts';

export { type PredeployedAccount, predeployed } from './contracts/predeployed.ts';

/** Everything that exists in development only: mounted below `/sandbox`, absent where the sandbox is off. */
export const sandbox = {
  migrations: { name: 'sandbox', folder: path.resolve(import.meta.dirname, '../migrations') },
  /** Below the mount, where the development identity provider shows its keys. */
  keySetPath: '/identity/jwks.json',
  /** Where payments go in development: the manager's account. */
  paymentAddress: predeployed.manager.address,
  /** They pay for others' gas in development. */
  relayers: predeployed.relayers,
  /** Errors are left to the application it is mounted in. The Starknet node opens connections of its own. */
  async mount(app: FastifyInstance, db: Database): Promise<void> {
    registerIdentity(app, db);
    const evm = registerEvm(app, db);
    const node = new NodeThread({ url: db.url }, (message) => app.log.error(message));
    app.addHook('onClose', () => node.stop());
    registerRpc(app, node);
    registerControls(app, node, evm);
  },
};
