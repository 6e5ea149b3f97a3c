import { ApiError, type Environment, type endpoints, parseStarknetAddress } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Database } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import type { Answer, Call } from '../http/call.ts';
import type { Caller } from '../http/caller.ts';
import { toLedgerEntry } from '../organizations/routes.ts';
import { awaitExecuted } from '../transactions/await-executed.ts';
import { parseStarknetHash } from '../transactions/hashes.ts';
import type { SeenTransfer } from '../transactions/seen-transaction.ts';
import { refuse } from '../wallets/fields.ts';
import { walletsAt } from '../wallets/find-wallet.ts';
import { depositsIn, mismatch, sumOf } from './deposited.ts';
import { findDeposit, storeDeposit } from './store.ts';

type CreateDeposit = typeof endpoints.createDeposit;

export interface DepositParts {
  readonly db: Database;
  readonly networks: Networks;
  /** Accounts of ours that hold USDC, beside the payment address. */
  readonly ownAccounts: (environment: Environment) => readonly bigint[];
  /** Waits between two looks at the chain. */
  readonly pause?: (ms: number) => Promise<void>;
}

/** Credits a USDC transfer to the payment address, once, whoever offers it and however often. */
export async function createDeposit(
  parts: DepositParts,
  { caller, body, transact }: Call<CreateDeposit>,
): Promise<Answer<CreateDeposit>> {
  const { environment } = caller;
  if (body.chain !== 'STARKNET') throw new ApiError('unsupported_chain', 'Deposits are made on STARKNET only.');
  const parsed = parseStarknetHash(body.transactionHash);
  const hash = parsed.ok ? toHex(parsed.value) : refuse('body.transactionHash', parsed.reason);
  const { chain, paymentAddress } = parts.networks.starknet(environment);
  const usdc = parts.networks.token(environment, 'STARKNET', 'USDC')?.address;
  if (!usdc) throw new ApiError('token_not_supported', 'STARKNET does not have the token USDC.');
  const payment = { chainId: toHex(chain.chainId), hash };
  const known = await findDeposit(parts.db.reads, caller, payment);
  if (known) return toLedgerEntry(known);
  const { transfers } = await awaitExecuted(parts, environment, { chain: 'STARKNET', hash, accepted: true });
  const own = parts.ownAccounts(environment);
  const deposits = depositsIn(transfers, { usdc: BigInt(usdc), paymentAddress: BigInt(paymentAddress), own });
  await refuseWalletsOfOthers(parts.db, caller, deposits);
  return transact(async (tx) => toLedgerEntry(await storeDeposit(tx, caller, payment, sumOf(deposits))));
}

/** Everyone can read hashes off the chain; what another organisation's users paid is not for the first who finds it. */
async function refuseWalletsOfOthers(db: Database, caller: Caller, deposits: readonly SeenTransfer[]): Promise<void> {
  const senders = [...new Set(deposits.map(({ from }) => from))].flatMap((from) => {
    const address = parseStarknetAddress(toHex(from));
    return address.ok ? [address.value] : [];
  });
  const wallets = await walletsAt(db.reads, caller.environment, senders);
  if (wallets.some(({ organizationId }) => organizationId !== caller.organizationId)) {
    throw mismatch('it was sent by a wallet that is not of this organisation');
  }
}
