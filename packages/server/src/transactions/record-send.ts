import { ApiError, type endpoints } from '@svc/protocol';
import { tokensOf } from '../chains/tokens.ts';
import type { Answer, Call } from '../http/call.ts';
import type { Caller } from '../http/caller.ts';
import { readAddress } from '../wallets/fields.ts';
import { awaitExecuted } from './await-executed.ts';
import { type ExpectedTransfer, readExpected } from './expected-transfer.ts';
import { newSend } from './new-send.ts';
import type { TransactionParts } from './parts.ts';
import { requireTransfer } from './require-transfer.ts';
import { requireWallet } from './require-wallet.ts';
import { storeSend } from './store-send.ts';
import { toTransaction } from './to-transaction.ts';

type RecordSend = typeof endpoints.recordSend;

/** Records a transfer that its sender executed without us, once the chain shows it. */
export async function recordSend(
  parts: TransactionParts,
  { caller, body, transact }: Call<RecordSend>,
): Promise<Answer<RecordSend>> {
  const { networks } = parts;
  if (body.chain !== 'STARKNET' && caller.proof !== 'secret key') {
    throw new ApiError(
      'secret_key_required',
      `Wallets live on STARKNET: a transfer on ${body.chain} needs the secret key.`,
    );
  }
  const expected = readExpected(networks, caller.environment, body);
  await requireOwnSender(parts, caller, expected);
  const seen = await awaitExecuted(parts, caller.environment, expected);
  const network = expected.chain === 'STARKNET' ? networks.starknet(caller.environment).name : 'mainnet';
  const transfer = requireTransfer(expected, seen.transfers, tokensOf(network, expected.chain));
  const record = await newSend(parts, caller, expected, seen, transfer);
  return transact(async (tx) => toTransaction(await storeSend(tx, networks, record, transfer, seen)));
}

/** A user's token speaks for the user's own wallets alone. */
async function requireOwnSender({ db }: TransactionParts, caller: Caller, { sender }: ExpectedTransfer): Promise<void> {
  if (caller.proof !== 'user token') return;
  await requireWallet(db.reads, caller, readAddress(sender, 'body.expectedSender'));
}
