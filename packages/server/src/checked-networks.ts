import type { Logger } from 'pino';
import { checkBridgeContracts } from './bridge/check-contracts.ts';
import { Networks } from './chains/networks.ts';
import { ChainUnavailableError } from './chains/node-failure.ts';
import type { Config } from './config.ts';

/** A node of a wrong chain and a token unlike its contract stop the start; a node that does not answer may come back. */
export async function checkedNetworks(
  config: Config,
  log: Logger,
  sandbox: ConstructorParameters<typeof Networks>[1],
): Promise<Networks> {
  const networks = new Networks(config.chains, sandbox);
  const { nodes, unasked } = await networks.check();
  for (const { host, trouble } of nodes) {
    if (trouble !== undefined) log.warn({ host, trouble }, 'a chain node does not answer');
  }
  if (unasked.length > 0) log.warn({ tokens: unasked }, 'the decimals of some tokens could not be checked');
  if (config.bridgeUrl !== undefined) {
    await checkBridgeContracts(networks.starknet('production')).catch((error: unknown) => {
      if (!(error instanceof ChainUnavailableError)) throw error;
      log.warn("the bridge's contracts could not be looked for");
    });
  }
  return networks;
}
