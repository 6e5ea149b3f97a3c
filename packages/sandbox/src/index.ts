import path from 'node:path';
import type { Database } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { registerBridge } from './bridge/routes.ts';
import { predeployed } from './contracts/predeployed.ts';
import { registerControls } from './controls/routes.ts';
import { registerEvm } from './evm/chains.ts';
import { registerIdentity } from './identity.ts';
import { registerMailbox } from './mailbox/mailbox.ts';
import type { ProviderClient } from './provider/results.ts';
import { registerProvider } from './provider/routes.ts';
import { registerRpc } from './rpc/routes.ts';
import { freePort, NodeThread } from './worker/node-thread.ts';

export { type PredeployedAccount, predeployed } from './contracts/predeployed.ts';

/** Everything that exists in development only: mounted below `/sandbox`, absent where the sandbox is off. */
export const sandbox = {
  migrations: { name: 'sandbox', folder: path.resolve(import.meta.dirname, '../migrations') },
  /** Below the mount, where the development identity provider shows its keys. */
  keySetPath: '/identity/jwks.json',
  /** Below the mount, where the attestation service of the bridge to Solana is. */
  bridgePath: '/bridge',
  /** Below the mount, where mail of development goes. */
  mailboxPath: '/mailbox',
  /** Below the mount, where orders of development go. */
  providerPath: '/provider/orders',
  /** Where payments go in development: the manager's account. */
  paymentAddress: predeployed.manager.address,
  /** They pay for others' gas in development. */
  relayers: predeployed.relayers,
  /** It pays gifts out in development. */
  manager: predeployed.manager,
  start: startSandboxNode,
};

export interface SandboxNode {
  /** The Starknet node's own address, for this process alone. */
  readonly rpcUrl: string;
  /** Registers the sandbox's routes. Errors are left to the application. The provider delivers for `client`, where there is one. */
  mount(app: FastifyInstance, client?: ProviderClient): void;
  stop(): Promise<void>;
}

/** A thread takes under a second; one that dies again and again must not hold up the service. */
const NODE_START_LIMIT_MS = 10_000;

/** Starts the Starknet node in its thread, with database connections of its own, and waits until it listens. */
async function startSandboxNode(db: Database, reportError: (message: string) => void): Promise<SandboxNode> {
  const port = await freePort();
  const node = new NodeThread({ url: db.url, port }, reportError);
  await node.listening(NODE_START_LIMIT_MS);
  return {
    rpcUrl: `http://127.0.0.1:${port}`,
    mount(app, client) {
      registerIdentity(app, db);
      registerBridge(app, db);
      registerMailbox(app, db);
      if (client) registerProvider(app, db, client);
      const evm = registerEvm(app, db);
      registerRpc(app, node);
      registerControls(app, node, evm);
    },
    stop: () => node.stop(),
  };
}
