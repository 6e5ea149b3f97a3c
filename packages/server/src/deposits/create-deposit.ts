import { ApiError, type Environment, type endpoints, parseStarknetAddress, type UsdMicros } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Database, type Db, type Reads, sql } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import type { Answer, Call, Caller } from '../http/call.ts';
import { refuse } from '../http/validation.ts';
import { credit, type Entry, entryColumns, type LedgerOwner, toLedgerEntry } from '../ledger/ledger.ts';
import { awaitExecuted, type ChainTransfer, parseStarknetHash } from '../transactions/chain-transaction.ts';
import { walletsAt } from '../wallets/wallet.ts';

type CreateDeposit = typeof endpoints.createDeposit;

export interface DepositDeps {
  readonly db: Database;
  readonly networks: Networks;
  readonly ownAccounts: (environment: Environment) => readonly bigint[];
  readonly pause?: (ms: number) => Promise<void>;
}

/** Credits a USDC transfer to the payment address exactly once. */
export async function createDeposit(
  deps: DepositDeps,
  { caller, body, transact }: Call<CreateDeposit>,
): Promise<Answer<CreateDeposit>> {
  const { environment } = caller;
  if (body.chain !== 'STARKNET') throw new ApiError('unsupported_chain', 'Deposits are made on STARKNET only.');
  const parsed = parseStarknetHash(body.transactionHash);
  const hash = parsed.ok ? toHex(parsed.value) : refuse('body.transactionHash', parsed.reason);
  const { chain, paymentAddress } = deps.networks.starknet(environment);
  const usdc = deps.networks.token(environment, 'STARKNET', 'USDC')?.address;
  if (!usdc) throw new ApiError('token_not_supported', 'STARKNET does not have the token USDC.');
  const payment = { chainId: toHex(chain.chainId), hash };
  const known = await findDeposit(deps.db.reads, caller, payment);
  if (known) return toLedgerEntry(known);
  const { transfers } = await awaitExecuted(deps, environment, { chain: 'STARKNET', hash, accepted: true });
  const own = deps.ownAccounts(environment);
  const deposits = depositsIn(transfers, { usdc: BigInt(usdc), paymentAddress: BigInt(paymentAddress), own });
  await refuseWalletsOfOthers(deps.db, caller, deposits);
  return transact(async (tx) => toLedgerEntry(await storeDeposit(tx, caller, payment, sumOf(deposits))));
}

/** Hashes are public: a payment from another organisation's wallet is not credited to the caller. */
async function refuseWalletsOfOthers(db: Database, caller: Caller, deposits: readonly ChainTransfer[]): Promise<void> {
  const senders = [...new Set(deposits.map(({ from }) => from))].flatMap((from) => {
    const address = parseStarknetAddress(toHex(from));
    return address.ok ? [address.value] : [];
  });
  const wallets = await walletsAt(db.reads, caller.environment, senders);
  if (wallets.some(({ organizationId }) => organizationId !== caller.organizationId)) {
    throw mismatch('it was sent by a wallet that is not of this organisation');
  }
}

export interface Deposit {
  /** Same decimals as credits: one unit is a millionth of a dollar. */
  readonly usdc: bigint;
  readonly paymentAddress: bigint;
  /** Transfers from own accounts are not deposits. */
  readonly own: readonly bigint[];
}

export function depositsIn(
  transfers: readonly ChainTransfer[],
  { usdc, paymentAddress, own }: Deposit,
): ChainTransfer[] {
  const arrived = transfers.filter(({ token, to }) => token === usdc && to === paymentAddress);
  if (arrived.length === 0) {
    throw mismatch('it moves no USDC to the payment address. GET /config tells the address');
  }
  const fromOthers = arrived.filter(
    ({ from, amount }) => from !== paymentAddress && !own.includes(from) && amount > 0n,
  );
  if (fromOthers.length === 0) throw mismatch('its USDC came from an account of the service itself or is nothing');
  return fromOthers;
}

export function sumOf(transfers: readonly ChainTransfer[]): UsdMicros {
  return transfers.reduce((sum, { amount }) => sum + amount, 0n);
}

export function mismatch(found: string): ApiError {
  return new ApiError('transaction_mismatch', `The transaction is no deposit: ${found}.`);
}

export interface Payment {
  readonly chainId: string;
  readonly hash: string;
}

interface Use extends LedgerOwner {
  readonly purpose: 'deposit' | 'purchase';
  readonly reference: string;
}

/** Undefined while unused; throws `transaction_already_used` for another environment. */
export async function findDeposit(
  reads: Reads,
  { organizationId, environment }: LedgerOwner,
  { chainId, hash }: Payment,
): Promise<Entry | undefined> {
  const use = await reads.one<Use>(sql`
    select organization_id as "organizationId", environment, purpose, reference
      from used_payments
     where chain_id = ${chainId} and transaction_hash = ${hash}`);
  if (!use) return undefined;
  if (use.organizationId !== organizationId || use.environment !== environment || use.purpose !== 'deposit') {
    throw new ApiError('transaction_already_used');
  }
  return reads.one<Entry>(sql`select ${entryColumns} from ledger_entries where id = ${use.reference}`);
}

/** Of two concurrent calls the second waits: it gets the same entry, or `transaction_already_used` for another environment. */
export async function storeDeposit(
  tx: Db,
  { organizationId, environment }: LedgerOwner,
  { chainId, hash }: Payment,
  amount: UsdMicros,
): Promise<Entry> {
  const { entry, created } = await credit(tx, {
    organizationId,
    environment,
    type: 'DEPOSIT',
    amount,
    reference: hash,
  });
  if (!created) return entry;
  const used = await tx.run(sql`
    insert into used_payments (chain_id, transaction_hash, organization_id, environment, purpose, reference)
    values (${chainId}, ${hash}, ${organizationId}, ${environment}, 'deposit', ${entry.id})
    on conflict (chain_id, transaction_hash) do nothing`);
  if (used === 0) throw new ApiError('transaction_already_used');
  return entry;
}
