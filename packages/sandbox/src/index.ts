import path from 'node:path';
import type { Database } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { registerBridge } from './bridge/routes.ts';
import { predeployed } from './contracts/predeployed.ts';
import { registerControls } from './controls/routes.ts';
import { registerEvm } from './evm/chains.ts';
import { registerExplorer } from './explorer/routes.ts';
import { type OwnAddress, refuseForeignPages } from './foreign-pages.ts';
import { registerIdentity } from './identity.ts';
import { registerMailbox } from './mailbox/mailbox.ts';
import type { ProviderClient } from './provider/results.ts';
import { registerProvider } from './provider/routes.ts';
import { registerRpc } from './rpc/routes.ts';
import { freePort, type NodeSettings, NodeThread, type RunningNode } from './worker/node-thread.ts';

export { type PredeployedAccount, predeployed } from './contracts/predeployed.ts';

/** Exists in development only, below `/sandbox`. Paths are relative to that. */
export const sandbox = {
  migrations: { name: 'sandbox', folder: path.resolve(import.meta.dirname, '../migrations') },
  keySetPath: '/identity/jwks.json',
  bridgePath: '/bridge',
  solanaRpcPath: '/bridge/solana/rpc',
  mailboxPath: '/mailbox',
  providerPath: '/provider/orders',
  paymentAddress: predeployed.manager.address,
  relayers: predeployed.relayers,
  manager: predeployed.manager,
  start: startSandboxNode,
};

export interface SandboxNode {
  /** For this process only: loopback, bypassing the application. */
  readonly rpcUrl: string;
  /** Registers the sandbox's routes. Errors are left to the application. Without `client` there is no provider. */
  mount(app: FastifyInstance, client?: ProviderClient, own?: OwnAddress): void;
  stop(): Promise<void>;
}

/** A thread starts in under a second; one that keeps dying must not block the service. */
const NODE_START_LIMIT_MS = 10_000;

/** A Starknet node that also listens on the loopback port of its settings. */
export type StartStarknet = (
  settings: NodeSettings & { readonly port: number },
  reportError: (message: string) => void,
) => Promise<RunningNode & { stop(): Promise<void> }>;

const inThread: StartStarknet = async (settings, reportError) => {
  const node = new NodeThread(settings, reportError);
  await node.listening(NODE_START_LIMIT_MS);
  return node;
};

async function startSandboxNode(
  db: Database,
  reportError: (message: string) => void,
  startStarknet = inThread,
): Promise<SandboxNode> {
  const port = await freePort();
  const node = await startStarknet({ url: db.url, port }, reportError);
  return {
    rpcUrl: `http://127.0.0.1:${port}`,
    mount(app, client, own) {
      refuseForeignPages(app, own);
      registerIdentity(app, db);
      registerBridge(app, db);
      registerMailbox(app, db);
      if (client) registerProvider(app, db, client);
      const evm = registerEvm(app, db);
      registerRpc(app, node);
      registerControls(app, node, evm);
      registerExplorer(app, db);
    },
    stop: () => node.stop(),
  };
}
