import { setTimeout as pauseFor } from 'node:timers/promises';
import { ApiError, type Environment, type endpoints } from '@svc/protocol';
import { tokensOf } from '../chains/tokens.ts';
import type { Answer, Call } from '../http/call.ts';
import type { Caller } from '../http/caller.ts';
import { readAddress } from '../wallets/fields.ts';
import { type ExpectedTransfer, readExpected } from './expected-transfer.ts';
import { newSend } from './new-send.ts';
import type { TransactionParts } from './parts.ts';
import { requireTransfer } from './require-transfer.ts';
import { requireWallet } from './require-wallet.ts';
import { lookUp, type SeenTransaction } from './seen-transaction.ts';
import { storeSend } from './store-send.ts';
import { toTransaction } from './to-transaction.ts';

type RecordSend = typeof endpoints.recordSend;

/** A wallet that reports its own transaction may be faster than the node that we ask. */
const PATIENCE_MS = 3_000;
const LOOK_EVERY_MS = 250;

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
  const seen = await awaitTransaction(parts, caller.environment, expected);
  if (seen.reverted) throw reverted(seen);
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

async function awaitTransaction(
  { networks, pause = pauseFor }: TransactionParts,
  environment: Environment,
  { chain, hash }: ExpectedTransfer,
): Promise<SeenTransaction> {
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const sight = await lookUp(networks, environment, chain, hash);
    if (sight !== 'unknown' && sight !== 'waiting') return sight;
    if (waitedMs >= PATIENCE_MS) throw notFound(hash, chain, sight);
    await pause(LOOK_EVERY_MS);
  }
}

function notFound(hash: string, chain: string, sight: 'unknown' | 'waiting'): ApiError {
  const state = sight === 'waiting' ? 'has not executed it yet' : 'does not know it';
  return new ApiError(
    'transaction_not_found',
    `${chain} ${state}: transaction ${hash}. Record it once it is executed.`,
    {
      status: 400,
    },
  );
}

function reverted({ revertReason }: SeenTransaction): ApiError {
  const reason = revertReason ? `: ${revertReason}` : '.';
  return new ApiError('transaction_reverted', `The transaction was reverted on the chain${reason}`);
}
