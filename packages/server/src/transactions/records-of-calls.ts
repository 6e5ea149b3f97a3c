import type { StarknetAddress } from '@svc/protocol';
import { type Call, toHex } from '@svc/starknet';
import type { Token } from '../chains/tokens.ts';
import type { StoredRelay } from '../relayer/sponsor.ts';
import type { WalletRecord } from '../wallets/wallet.ts';
import { readTransferCall, type TransferCall } from './read-transfer-call.ts';
import type { NewRecord } from './record.ts';

export interface Execution {
  readonly wallet: WalletRecord;
  readonly apiPublicKey: string;
  readonly calls: readonly Call[];
  readonly isSession: boolean;
  readonly createdAt: Date;
  /** The network's. */
  readonly tokens: readonly Token[];
  /** What functions are called, as far as that is known. */
  readonly names: ReadonlyMap<bigint, string>;
  /** The recipients that are wallets of the same organisation and environment. */
  readonly recipients: ReadonlyMap<StarknetAddress, WalletRecord>;
}

/** What the history keeps of an execution: one `SEND` for each ERC-20 transfer, one `CONTRACT_CALL` for each other call. */
export function recordsOfCalls(execution: Execution, relay: StoredRelay): NewRecord[] {
  return execution.calls.map((call, callIndex) => {
    const transfer = readTransferCall(call);
    const special = transfer ? transferFields(execution, transfer) : callFields(call);
    return { ...commonFields(execution, relay, call), callIndex, subType: subTypeOf(execution, transfer), ...special };
  });
}

/** Who is paid, so that their wallets can be found. */
export function recipientsOf(calls: readonly Call[]): StarknetAddress[] {
  return [...new Set(calls.flatMap((call) => readTransferCall(call)?.to ?? []))];
}

function commonFields({ wallet, apiPublicKey, names, createdAt }: Execution, relay: StoredRelay, call: Call) {
  return {
    organizationId: wallet.organizationId,
    environment: wallet.environment,
    apiPublicKey,
    chain: 'STARKNET',
    transactionHash: relay.hash === undefined ? undefined : toHex(relay.hash),
    eventIndex: undefined,
    relayId: relay.id,
    senderAddress: wallet.address,
    functionName: names.get(call.selector),
    functionSelector: toHex(call.selector),
    status: 'PENDING',
    blockNumber: undefined,
    senderWalletId: wallet.id,
    createdAt,
    confirmedAt: undefined,
  } as const;
}

function transferFields({ tokens, recipients }: Execution, { token, to, amount }: TransferCall) {
  const known = tokens.find(({ chain, address }) => chain === 'STARKNET' && address === token);
  return {
    type: 'SEND',
    destinationAddress: to,
    contractAddress: token,
    contractName: known?.token,
    token: known?.token ?? 'OTHER',
    tokenAddress: token,
    amount,
    destinationWalletId: recipients.get(to)?.id,
  } as const;
}

function callFields({ to }: Call) {
  // An account may be told to call what is no address at all, and some classes skip such a call.
  const contract = `0x${to.toString(16).padStart(64, '0')}`;
  return {
    type: 'CONTRACT_CALL',
    destinationAddress: contract,
    contractAddress: contract,
    contractName: undefined,
    token: undefined,
    tokenAddress: undefined,
    amount: undefined,
    destinationWalletId: undefined,
  } as const;
}

function subTypeOf({ isSession, calls }: Execution, transfer: TransferCall | undefined): NewRecord['subType'] {
  if (isSession) return 'SESSION';
  if (calls.length > 1) return 'MULTICALL';
  return transfer && 'TRANSFER';
}
