import { chainIds, toHex } from '@svc/starknet';
import type { Method } from './context.ts';

const answer = (run: Method['run']): Method => ({ params: [], run });

export const chainMethods: Record<string, Method> = {
  starknet_specVersion: answer(async ({ spec }) => spec),
  starknet_chainId: answer(async () => toHex(chainIds.SVC_SANDBOX)),
  starknet_blockNumber: answer(async ({ head }) => head.number),
  starknet_blockHashAndNumber: answer(async ({ head }) => ({ block_hash: head.hash, block_number: head.number })),
  starknet_syncing: answer(async () => false),
};
