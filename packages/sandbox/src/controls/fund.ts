import { chainIds, encodeCalls, invokeHash, selector, sign, TRANSACTION_VERSION, toHex } from '@svc/starknet';
import type { Draft } from '../chain/draft.ts';
import { include } from '../chain/submit.ts';
import { predeployed } from '../contracts/predeployed.ts';
import { gasPrices } from '../execution/fees.ts';
import type { InvokeTransaction } from '../execution/types.ts';

/** Far more than minting takes; only what is used is paid. */
const MAX_L2_GAS = 1_000_000_000n;
const MAX_L1_DATA_GAS = 100_000n;
const LOW_HALF = 2n ** 128n - 1n;

export interface Funding {
  readonly token: bigint;
  readonly to: bigint;
  /** In the token's smallest unit. */
  readonly amount: bigint;
}

/** Mints tokens with a transaction of the faucet's account, which no ordered fault touches. Answers its hash. */
export async function fund(draft: Draft, { token, to, amount }: Funding): Promise<string> {
  const nonce = await draft.overlay.nonceAt(predeployed.faucet.address);
  const calldata = [to, amount & LOW_HALF, amount >> 128n];
  const tx = signed(encodeCalls([{ to: token, selector: selector('mint'), calldata }]), nonce);
  const refusal = await include(draft, { tx });
  if (refusal) throw new Error(`The faucet was refused: ${refusal.reason}`);
  const { status, reason } = outcomeOf(draft, tx.hash);
  // Where blocks come at an interval this one comes early: the tokens are there when the faucet answers.
  draft.seal();
  if (status === 'REVERTED') throw new Error(`The faucet's transaction reverted: ${reason}`);
  return toHex(tx.hash);
}

function outcomeOf(draft: Draft, hash: bigint): { status: string; reason: string | null } {
  const row = draft.transactions.find((one) => one.hash === toHex(hash));
  if (!row) throw new Error("The faucet's transaction is missing from its own block.");
  return { status: row.execution_status, reason: row.revert_reason };
}

function signed(calldata: readonly bigint[], nonce: bigint): InvokeTransaction {
  const prices = gasPrices();
  const fields = {
    version: TRANSACTION_VERSION,
    chainId: chainIds.SVC_SANDBOX,
    sender: predeployed.faucet.address,
    calldata,
    nonce,
    tip: 0n,
    resourceBounds: {
      l1Gas: { maxAmount: 0n, maxPricePerUnit: prices.l1Gas.fri },
      l2Gas: { maxAmount: MAX_L2_GAS, maxPricePerUnit: prices.l2Gas.fri },
      l1DataGas: { maxAmount: MAX_L1_DATA_GAS, maxPricePerUnit: prices.l1DataGas.fri },
    },
    paymasterData: [],
    accountDeploymentData: [],
    nonceDataAvailabilityMode: 0,
    feeDataAvailabilityMode: 0,
  } as const;
  const hash = invokeHash(fields);
  const { r, s } = sign(hash, predeployed.faucet.privateKey);
  return { type: 'INVOKE', ...fields, hash, signature: [r, s] };
}
