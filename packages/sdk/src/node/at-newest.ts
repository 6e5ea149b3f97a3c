import { type RpcAnswer, rpcCodes } from './rpc-answer.ts';

export type BlockTag = 'pre_confirmed' | 'latest';

/** Asks on the block that is being filled, which has what was just sent, or, where a node does not show it, on the last one. */
export async function atNewest<T>(ask: (block: BlockTag) => Promise<RpcAnswer<T>>): Promise<RpcAnswer<T>> {
  const answer = await ask('pre_confirmed');
  const unknownTag = !answer.ok && (answer.code === rpcCodes.invalidParams || answer.code === rpcCodes.blockNotFound);
  return unknownTag ? ask('latest') : answer;
}
