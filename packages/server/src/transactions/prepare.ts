import type { AnswerOf, BodyOf, endpoints } from '@svc/protocol';
import { outsideExecutionTypedData } from '@svc/starknet';
import type { Caller } from '../http/caller.ts';
import { readAddress } from '../wallets/fields.ts';
import { rememberNames } from './function-names.ts';
import type { TransactionParts } from './parts.ts';
import { readCalls } from './read-calls.ts';
import { refuseUpgrade } from './refuse-upgrade.ts';
import { requireWallet } from './require-wallet.ts';
import { requireAgreement, standingOf } from './wallet-facts.ts';

type Body = BodyOf<typeof endpoints.prepareTypedData>;
type Answer = AnswerOf<typeof endpoints.prepareTypedData>;

/** The typed data that the wallet's owner, or a session, signs to have the calls executed. */
export async function prepareTypedData(parts: TransactionParts, caller: Caller, body: Body): Promise<Answer> {
  const { db, networks, sponsor } = parts;
  const address = readAddress(body.publicKey, 'body.publicKey');
  const calls = readCalls(body.calls);
  const { chain } = networks.starknet(caller.environment);
  const wallet = await requireAgreement(parts, await requireWallet(db.reads, caller, address), body);
  refuseUpgrade(address, calls);
  const standing = await standingOf(networks, db.reads, wallet);
  const execution = await sponsor.prepare({
    environment: caller.environment,
    account: BigInt(address),
    deployment: standing.kind === 'missing' ? standing.deployment : undefined,
    calls: calls.map(({ to, selector, calldata }) => ({ to, selector, calldata })),
  });
  await rememberNames(db, caller.organizationId, calls);
  const typedData = outsideExecutionTypedData(execution, chain.chainId) as Answer['typedData'];
  return { typedData, walletType: wallet.walletType };
}
