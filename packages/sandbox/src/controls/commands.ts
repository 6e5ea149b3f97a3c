import { chainIds, toHex } from '@svc/starknet';
import type { Draft } from '../chain/draft.ts';
import { clearFaults, listFaults, type NewFault, orderFault } from '../chain/faults.ts';
import { type Head, readHead } from '../chain/head.ts';
import { reorganise } from '../chain/reorganise.ts';
import { mine, setBlockTime, setTimeOffset } from '../chain/settings.ts';
import { predeployed } from '../contracts/predeployed.ts';
import type { NodeParts } from '../rpc/context.ts';
import { type Funding, fund } from './fund.ts';

/** What people and tests may ask of the chain beside JSON-RPC. */
export type Command =
  | { readonly do: 'show' }
  | { readonly do: 'mine'; readonly blocks: number }
  | { readonly do: 'set-time'; readonly offsetSeconds: number }
  | { readonly do: 'increase-time'; readonly seconds: number }
  | { readonly do: 'set-block-time'; readonly seconds: number; readonly l1AfterBlocks?: number }
  | { readonly do: 'reorganise'; readonly blocks: number; readonly transactions: 'drop' | 'requeue' }
  | { readonly do: 'fund'; readonly funding: Funding }
  | { readonly do: 'order-fault'; readonly fault: NewFault }
  | { readonly do: 'list-faults' }
  | { readonly do: 'clear-faults' };

/** Answers what the HTTP answer shows. */
export async function run(node: NodeParts, command: Command): Promise<unknown> {
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
    case 'order-fault':
      return orderFault(db, command.fault);
    case 'list-faults':
      return { faults: await listFaults(db) };
    case 'clear-faults':
      await clearFaults(db);
      return { faults: [] };
  }
}

type Change = (draft: Draft) => void;

function change(node: NodeParts, apply: Change): Promise<unknown> {
  return node.writer.write(async (draft) => {
    apply(draft);
    return showHead(node, draft.head);
  });
}

function showHead({ now }: NodeParts, head: Head) {
  return {
    chainId: toHex(chainIds.SVC_SANDBOX),
    blockNumber: head.number,
    blockHash: head.hash,
    blockTimestamp: head.timestamp,
    /** What a block made now would say. */
    timestamp: Math.floor(now() / 1000) + head.timeOffsetSeconds,
    offsetSeconds: head.timeOffsetSeconds,
    blockSeconds: head.blockSeconds,
    l1AfterBlocks: head.l1AfterBlocks,
    waitingTransactions: head.queued,
  };
}

/** Accounts that exist from the first block on, for those who want to send transactions of their own. */
function showAccounts() {
  const { relayers, manager, faucet } = predeployed;
  return [...relayers, manager, faucet].map(({ label, address, publicKey, privateKey }) => ({
    label,
    address: toHex(address),
    publicKey: toHex(publicKey),
    privateKey: toHex(privateKey),
  }));
}
