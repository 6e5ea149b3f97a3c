import { predeployed } from '@svc/sandbox';
import type { Call } from '@svc/starknet';
import { type Invocation, invoke, payment } from '../../sandbox/testing/test-node.ts';
import { rawInvoke, type SignedInvoke } from '../src/chains/starknet/chain.ts';

export { startSandbox } from '../../sandbox/testing/sandbox-server.ts';
export { relayer, transfer } from '../../sandbox/testing/test-node.ts';

/** The account that pays out in the sandbox. */
export const manager = predeployed.manager;

/** A transaction of one of the accounts that exist from the start, ready to be sent. */
export function signed(calls: readonly Call[], options: Invocation): SignedInvoke {
  const tx = invoke(calls, options);
  return { hash: tx.hash, transaction: rawInvoke(tx, tx.signature) };
}

/** Moves 1 FRI. */
export function signedPayment(nonce: bigint, from?: Invocation['from'], to = 0xb0bn): SignedInvoke {
  const tx = payment(nonce, to, from ? { from } : {});
  return { hash: tx.hash, transaction: rawInvoke(tx, tx.signature) };
}
