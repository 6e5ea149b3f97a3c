import {
  type Call,
  chainIds,
  encodeCalls,
  invokeHash,
  selector,
  sign,
  TRANSACTION_VERSION,
  toHex,
} from '@svc/starknet';
import { type Draft, include } from '../chain/draft.ts';
import { addFault, clearFaults, listFaults, type NewFault } from '../chain/faults.ts';
import { type Head, readHead } from '../chain/head.ts';
import { reorganise } from '../chain/reorganise.ts';
import { mine, setBlockTime, setTimeOffset } from '../chain/writer.ts';
import { predeployed } from '../contracts/predeployed.ts';
import { TONGO_ADDRESS } from '../contracts/tongo.ts';
import { type PoolTerms, poolTerms } from '../contracts/tongo-terms.ts';
import { gasPrices } from '../execution/fees.ts';
import type { InvokeTransaction } from '../execution/types.ts';
import type { NodeDeps } from '../rpc/context.ts';

export type Command =
  | { readonly do: 'show' }
  | { readonly do: 'mine'; readonly blocks: number }
  | { readonly do: 'set-time'; readonly offsetSeconds: number }
  | { readonly do: 'increase-time'; readonly seconds: number }
  | { readonly do: 'set-block-time'; readonly seconds: number; readonly l1AfterBlocks?: number }
  | { readonly do: 'reorganise'; readonly blocks: number; readonly transactions: 'drop' | 'requeue' }
  | { readonly do: 'fund'; readonly funding: Funding }
  | { readonly do: 'set-pool-terms'; readonly terms: PoolTerms }
  | { readonly do: 'add-fault'; readonly fault: NewFault }
  | { readonly do: 'list-faults' }
  | { readonly do: 'clear-faults' };

export async function runCommand(node: NodeDeps, command: Command): Promise<unknown> {
  const { db, writer } = node;
  switch (command.do) {
    case 'show':
      return { ...showHead(node, await readHead(db)), accounts: showAccounts() };
    case 'mine':
      return change(node, (draft) => mine(draft, command.blocks));
    case 'set-time':
      return change(node, (draft) => setTimeOffset(draft, command.offsetSeconds));
    case 'increase-time':
      return change(node, (draft) => setTimeOffset(draft, draft.head.timeOffsetSeconds + command.seconds));
    case 'set-block-time':
      return change(node, (draft) => setBlockTime(draft, command.seconds, command.l1AfterBlocks));
    case 'reorganise':
      return writer.write(async (draft) => {
        const result = await reorganise(draft, command.blocks, command.transactions);
        return { ...result, ...showHead(node, draft.head) };
      });
    case 'fund':
      return { transactionHash: await writer.write((draft) => fund(draft, command.funding)) };
    case 'set-pool-terms':
      return { transactionHash: await writer.write((draft) => sendAsFaucet(draft, termsCall(command.terms))) };
    case 'add-fault':
      return addFault(db, command.fault);
    case 'list-faults':
      return { faults: await listFaults(db) };
    case 'clear-faults':
      await clearFaults(db);
      return { faults: [] };
  }
}

type Change = (draft: Draft) => void;

function change(node: NodeDeps, apply: Change): Promise<unknown> {
  return node.writer.write(async (draft) => {
    apply(draft);
    return showHead(node, draft.head);
  });
}

function showHead({ now }: NodeDeps, head: Head) {
  return {
    chainId: toHex(chainIds.SVC_SANDBOX),
    blockNumber: head.number,
    blockHash: head.hash,
    blockTimestamp: head.timestamp,
    timestamp: Math.floor(now() / 1000) + head.timeOffsetSeconds,
    offsetSeconds: head.timeOffsetSeconds,
    blockSeconds: head.blockSeconds,
    l1AfterBlocks: head.l1AfterBlocks,
    waitingTransactions: head.queued,
  };
}

function showAccounts() {
  const { relayers, manager, faucet } = predeployed;
  return [...relayers, manager, faucet].map(({ label, address, publicKey, privateKey }) => ({
    label,
    address: toHex(address),
    publicKey: toHex(publicKey),
    privateKey: toHex(privateKey),
  }));
}

/** Far more than minting takes; only what is used is charged. */
const MAX_L2_GAS = 1_000_000_000n;
const MAX_L1_DATA_GAS = 100_000n;
const LOW_HALF = 2n ** 128n - 1n;

export interface Funding {
  readonly token: bigint;
  readonly to: bigint;
  readonly amount: bigint;
}

/** Mints with a transaction of the faucet account. Returns its hash. */
export function fund(draft: Draft, { token, to, amount }: Funding): Promise<string> {
  const calldata = [to, amount & LOW_HALF, amount >> 128n];
  return sendAsFaucet(draft, { to: token, selector: selector('mint'), calldata });
}

/** The faucet's account owns the private pool. */
function termsCall(terms: PoolTerms): Call {
  return { to: TONGO_ADDRESS, selector: selector('set_terms'), calldata: poolTerms.write(terms) };
}

/** Faults do not apply. */
async function sendAsFaucet(draft: Draft, call: Call): Promise<string> {
  const nonce = await draft.overlay.nonceAt(predeployed.faucet.address);
  const tx = signedByFaucet(encodeCalls([call]), nonce);
  const refusal = await include(draft, { tx });
  if (refusal) throw new Error(`The faucet was refused: ${refusal.reason}`);
  const { status, reason } = outcomeOf(draft, tx.hash);
  // What it changed is there when it answers, also with interval blocks.
  draft.seal();
  if (status === 'REVERTED') throw new Error(`The faucet's transaction reverted: ${reason}`);
  return toHex(tx.hash);
}

function outcomeOf(draft: Draft, hash: bigint): { status: string; reason: string | null } {
  const row = draft.transactions.find((one) => one.hash === toHex(hash));
  if (!row) throw new Error("The faucet's transaction is missing from its own block.");
  return { status: row.execution_status, reason: row.revert_reason };
}

function signedByFaucet(calldata: readonly bigint[], nonce: bigint): InvokeTransaction {
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

/** For longer spans, use time travel. */
export const MAX_MINED_BLOCKS = 1_000;
export const MAX_REORGANISED_BLOCKS = 100;
