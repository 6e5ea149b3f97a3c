import { ApiError } from '@svc/protocol';
import type { FastifyInstance } from 'fastify';
import type { EvmChains } from '../evm/chains.ts';
import { NodeGoneError, type NodeThread } from '../worker/node-thread.ts';
import type { Command } from './commands.ts';
import { readFaucetRequest } from './faucet.ts';
import { readBlockTime, readFault, readMine, readReorganisation, readTime } from './requests.ts';

/** Everything beside JSON-RPC that people and tests may do to the chain. */
export function registerControls(app: FastifyInstance, node: NodeThread, evm: EvmChains): void {
  const command = (one: Command) => node.command(one).catch(readably);

  app.post('/faucet', async ({ body }) => {
    const wanted = readFaucetRequest(body);
    if (wanted.chain === 'STARKNET') return command({ do: 'fund', funding: wanted.funding });
    const { chain, address, token, amount } = wanted;
    return { transactionHash: await evm.fund(chain, address, token, amount) };
  });

  app.get('/starknet', async () => command({ do: 'show' }));
  app.post('/starknet/mine', async ({ body }) => command(readMine(body)));
  app.post('/starknet/time', async ({ body }) => command(readTime(body)));
  app.post('/starknet/block-time', async ({ body }) => command(readBlockTime(body)));
  app.post('/starknet/reorg', async ({ body }) => command(readReorganisation(body)));

  app.get('/starknet/faults', async () => command({ do: 'list-faults' }));
  app.delete('/starknet/faults', async () => command({ do: 'clear-faults' }));
  app.post('/starknet/faults', async ({ body }) => {
    const fault = await command({ do: 'order-fault', fault: readFault(body) });
    if (!fault) throw new ApiError('invalid_request', 'There are too many orders. Clear them with DELETE first.');
    return fault;
  });
}

function readably(error: unknown): never {
  if (error instanceof NodeGoneError) throw new ApiError('internal_error', error.message, { cause: error });
  throw error;
}
