import { type AnswerOf, ApiError, type BodyOf, type endpoints, type StarknetAddress } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { tokensOf } from '../chains/tokens.ts';
import type { Caller } from '../http/caller.ts';
import { readAddress } from '../wallets/fields.ts';
import { walletsAt } from '../wallets/find-wallet.ts';
import { readSignedExecution, type SignedExecution } from '../wallets/signed-execution.ts';
import type { WalletRecord } from '../wallets/wallet.ts';
import { publicKeyOf } from './caller-key.ts';
import { namesOf } from './function-names.ts';
import type { TransactionParts } from './parts.ts';
import { insertRecords } from './records.ts';
import { type Execution, recipientsOf, recordsOfCalls } from './records-of-calls.ts';
import { refuseUpgrade } from './refuse-upgrade.ts';
import { setHashOfRelay } from './relay-hash.ts';
import { requireWallet } from './require-wallet.ts';
import { deploymentFor, requireAgreement } from './wallet-facts.ts';

type Body = BodyOf<typeof endpoints.executeSponsoredTransaction>;
type Answer = AnswerOf<typeof endpoints.executeSponsoredTransaction>;

/** Has signed calls executed, once, and keeps them in the history: stored with the relay, before anything is sent. */
export async function executeSponsored(parts: TransactionParts, caller: Caller, body: Body): Promise<Answer> {
  const { db, networks, sponsor } = parts;
  const address = readAddress(body.publicKey, 'body.publicKey');
  networks.starknet(caller.environment);
  const wallet = await requireAgreement(parts, await requireWallet(db.reads, caller, address), body);
  const { typedData, userSignature, isSessionSignature } = body;
  const signed = await readSignedExecution(parts, wallet, {
    typedData,
    signature: userSignature,
    isSession: isSessionSignature,
  });
  if (signed.execution.calls.length === 0) {
    throw new ApiError('invalid_typed_data', 'The typed data has no calls: there is nothing to execute.');
  }
  refuseUpgrade(address, signed.execution.calls);
  const deployment = await deploymentFor(networks, db.reads, wallet);
  const history = body.saveToDatabase === false ? undefined : await describe(parts, caller, wallet, signed);

  const { execution, signature, messageHash } = signed;
  const account = BigInt(address);
  const request = {
    kind: 'calls',
    environment: caller.environment,
    account,
    deployment,
    execution,
    signature,
    messageHash,
  } as const;
  let hashComesLater = false;
  const relayed = await sponsor.sponsor(request, async (tx, relay) => {
    hashComesLater = relay.hash === undefined;
    if (history) await insertRecords(tx, recordsOfCalls(history, relay));
  });
  const transactionHash = toHex(relayed.hash);
  if (history && hashComesLater) await setHashOfRelay(db, relayed.id, transactionHash);
  return { transactionHash };
}

/** Everything that the history says of the calls, read before any lock is taken. */
async function describe(
  { db, networks, now = Date.now }: TransactionParts,
  caller: Caller,
  wallet: WalletRecord,
  { execution: { calls }, isSession }: SignedExecution,
): Promise<Execution> {
  const recipients = await walletsAt(db.reads, wallet.environment, recipientsOf(calls));
  const own = recipients.filter(({ organizationId }) => organizationId === wallet.organizationId);
  return {
    wallet,
    apiPublicKey: publicKeyOf(caller),
    calls,
    isSession,
    createdAt: new Date(now()),
    tokens: tokensOf(networks.starknet(wallet.environment).name, 'STARKNET'),
    names: await namesOf(
      db.reads,
      wallet.organizationId,
      calls.map(({ selector }) => selector),
    ),
    recipients: new Map<StarknetAddress, WalletRecord>(own.map((recipient) => [recipient.address, recipient])),
  };
}
