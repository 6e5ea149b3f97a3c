import { blockMethods } from './block-methods.ts';
import { chainMethods } from './chain-methods.ts';
import type { Method } from './context.ts';
import { eventMethods } from './event-methods.ts';
import { executionMethods } from './execution-methods.ts';
import { RpcError, rpcErrors } from './rpc-error.ts';
import { stateMethods } from './state-methods.ts';
import { submitMethods } from './submit-methods.ts';
import { traceMethods } from './trace-methods.ts';
import { transactionMethods } from './transaction-methods.ts';

const refuse = (params: readonly string[], error: () => RpcError): Method => ({
  params,
  run: async () => {
    throw error();
  },
});

/** Parts of the specification that need a compiler, proofs or an L1, which a chain for development does not have. */
const refusedMethods: Record<string, Method> = {
  starknet_estimateMessageFee: refuse(['message', 'block_id'], () =>
    rpcErrors.unexpected('The sandbox has no L1 and receives no messages.'),
  ),
  starknet_getCompiledCasm: refuse(
    ['class_hash'],
    () =>
      new RpcError(100, 'Failed to compile the contract', { compilation_error: 'The sandbox compiles no classes.' }),
  ),
  starknet_getStorageProof: refuse(
    ['block_id', 'class_hashes', 'contract_addresses', 'contracts_storage_keys'],
    () => new RpcError(42, "the node doesn't support storage proofs for blocks that are too far in the past"),
  ),
};

export const methods: ReadonlyMap<string, Method> = new Map(
  Object.entries({
    ...chainMethods,
    ...blockMethods,
    ...transactionMethods,
    ...eventMethods,
    ...stateMethods,
    ...executionMethods,
    ...traceMethods,
    ...submitMethods,
    ...refusedMethods,
  }),
);
