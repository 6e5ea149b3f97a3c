import { parseStarknetAddress } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Caller } from '../http/caller.ts';
import { walletsAt } from '../wallets/find-wallet.ts';
import { publicKeyOf } from './caller-key.ts';
import type { ExpectedTransfer } from './expected-transfer.ts';
import type { TransactionParts } from './parts.ts';
import type { NewRecord } from './record.ts';
import type { SeenTransaction, SeenTransfer } from './seen-transaction.ts';
import { TRANSFER, TRANSFER_FUNCTION } from './well-known-functions.ts';

/** Of `transfer(address,uint256)` in the ABI of Ethereum. */
const EVM_TRANSFER_FUNCTION = '0xa9059cbb';

/** The record of a transfer that the chain shows. */
export async function newSend(
  { db, now = Date.now }: TransactionParts,
  caller: Caller,
  { chain, hash, sender, recipient, token, amount }: ExpectedTransfer,
  { blockNumber, time }: SeenTransaction,
  { eventIndex }: SeenTransfer,
): Promise<NewRecord> {
  const wallets =
    chain === 'STARKNET' ? await walletIds(db.reads, caller, [sender, recipient]) : new Map<string, string>();
  const selector = chain === 'STARKNET' ? toHex(TRANSFER_FUNCTION) : EVM_TRANSFER_FUNCTION;
  // The chain's own coin moves without a contract.
  const contract = token.address ?? undefined;
  return {
    organizationId: caller.organizationId,
    environment: caller.environment,
    apiPublicKey: publicKeyOf(caller),
    type: 'SEND',
    subType: 'TRANSFER',
    chain,
    transactionHash: hash,
    eventIndex,
    relayId: undefined,
    callIndex: undefined,
    senderAddress: sender,
    destinationAddress: recipient,
    contractAddress: contract,
    contractName: contract && token.token,
    functionName: contract && TRANSFER,
    functionSelector: contract && selector,
    token: token.token,
    tokenAddress: contract,
    amount,
    status: 'PENDING',
    blockNumber,
    senderWalletId: wallets.get(sender),
    destinationWalletId: wallets.get(recipient),
    createdAt: time ?? new Date(now()),
    confirmedAt: undefined,
  };
}

async function walletIds(
  reads: TransactionParts['db']['reads'],
  { organizationId, environment }: Caller,
  parties: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const addresses = parties.flatMap((party) => {
    const address = parseStarknetAddress(party);
    return address.ok ? [address.value] : [];
  });
  const wallets = await walletsAt(reads, environment, addresses);
  return new Map(
    wallets.filter((wallet) => wallet.organizationId === organizationId).map(({ address, id }) => [address, id]),
  );
}
