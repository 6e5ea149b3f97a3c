import {
  ANY_CALLER,
  type Call,
  encodeOutsideExecution,
  type OutsideExecution,
  outsideExecutionHash,
} from '@svc/starknet';
import { predeployed } from '../src/contracts/predeployed.ts';
import type { Executed } from '../src/execution/types.ts';
import { call, type Signer, signature, type TestChain } from './test-chain.ts';

export const [relayer, otherRelayer] = predeployed.relayers;

let lastNonce = 0n;

/** Valid now, for anyone, with a nonce of its own. */
export function outside(chain: TestChain, calls: readonly Call[], changes: Partial<OutsideExecution> = {}) {
  lastNonce += 1n;
  const { timestamp } = chain.block;
  const window = { executeAfter: timestamp - 10n, executeBefore: timestamp + 3_600n };
  return { caller: ANY_CALLER, nonce: lastNonce, ...window, calls, ...changes } satisfies OutsideExecution;
}

export function ownerSignature(chain: TestChain, owner: Signer, execution: OutsideExecution, version: 1 | 2 = 2) {
  return signature(outsideExecutionHash(version, execution, owner.address, chain.block.chainId), owner.privateKey);
}

const ENTRYPOINTS = { 1: 'execute_from_outside', 2: 'execute_from_outside_v2' } as const;

/** A relayer sends it. */
export async function relay(
  chain: TestChain,
  account: bigint,
  execution: OutsideExecution,
  signed: readonly bigint[],
  version: 1 | 2 = 2,
): Promise<Executed> {
  const calldata = encodeOutsideExecution(execution, signed);
  return chain.simulate(relayer.address, [call(account, ENTRYPOINTS[version], calldata)]);
}
