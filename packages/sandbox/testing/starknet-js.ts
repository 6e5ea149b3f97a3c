import type { Call, OutsideExecution } from '@svc/starknet';
import { outsideExecutionTypedData } from '@svc/starknet';
import { ec, type TypedData, typedData } from 'starknet';
import { outside } from './outside.ts';
import type { TestWallet } from './wallet.ts';

const hex = (felt: bigint) => `0x${felt.toString(16)}`;

/** Signed with starknet.js from end to end, so that an error of ours in hashing cannot hide. */
export function signOutsideExecutionWithStarknetJs(wallet: TestWallet, calls: readonly Call[]) {
  const execution: OutsideExecution = outside(wallet.chain, calls);
  const message = outsideExecutionTypedData(execution, wallet.chain.block.chainId) as TypedData;
  const hash = typedData.getMessageHash(message, hex(wallet.address));
  const { r, s } = ec.starkCurve.sign(hash, hex(wallet.owner.privateKey));
  return { execution, signature: [r, s] };
}
