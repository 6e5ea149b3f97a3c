import { ApiError, type endpoints } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import type { Networks } from '../chains/networks.ts';
import type { Answer, Call } from '../http/call.ts';
import { refuse } from '../http/validation.ts';
import { toLedgerEntry } from '../ledger/ledger.ts';
import { awaitExecuted, type ChainTransaction, parseStarknetHash } from '../transactions/chain-transaction.ts';
import {
  amountTo,
  creditDeposit,
  type DepositDeps,
  findDeposit,
  findEntry,
  isOnChain,
  MAX_DEPOSIT,
  requireUsdc,
  storeDeposits,
} from './deposit.ts';
import { type DepositAddressDeps, depositAddress } from './deposit-address.ts';

type CreateDeposit = typeof endpoints.createDeposit;

export interface CreateDepositDeps extends DepositDeps, DepositAddressDeps {
  readonly networks: Networks;
  readonly payer: DepositAddressDeps['payer'];
  readonly pause?: (ms: number) => Promise<void>;
}

/** Credits a transfer to the caller's deposit address at once, where the indexer has not done so already. */
export async function createDeposit(
  deps: CreateDepositDeps,
  { caller, body, transact }: Call<CreateDeposit>,
): Promise<Answer<CreateDeposit>> {
  const { db, networks } = deps;
  const { organizationId, environment } = caller;
  if (body.chain !== 'STARKNET') throw new ApiError('unsupported_chain', 'Deposits are made on STARKNET only.');
  const parsed = parseStarknetHash(body.transactionHash);
  const hash = parsed.ok ? toHex(parsed.value) : refuse('body.transactionHash', parsed.reason);
  const { chain, paymentAddress } = networks.starknet(environment);
  const usdc = requireUsdc(networks, environment);
  const own = await depositAddress(deps, caller);
  if (!own) throw noManager(environment);
  const { address } = own;
  const key = { chainId: toHex(chain.chainId), hash, address };
  const known = await findDeposit(db.reads, key);
  const entry = known?.entryId && known.credited > 0n ? await findEntry(db.reads, known.entryId) : undefined;
  if (entry) return toLedgerEntry(entry);
  const found = await awaitExecuted(deps, environment, { chain: 'STARKNET', hash, accepted: true });
  const amount = requireAmount(found, { usdc, address: BigInt(address), paymentAddress: BigInt(paymentAddress) });
  const { blockNumber, blockHash } = requireBlock(found, hash);
  const missing = deps.confirmations(environment) - ((await chain.blockNumber()) - blockNumber + 1);
  if (missing > 0) throw notFound(hash, `needs ${missing} more blocks, and is then credited by itself`);
  const deposit = { ...key, organizationId, environment, amount, blockNumber, blockHash: toHex(blockHash) };
  await db.tx((tx) => storeDeposits(tx, [deposit], { scanned: false }));
  const stands = await isOnChain(chain, deposit);
  return transact(async (tx) => {
    const credited = stands ? await creditDeposit(tx, deposit) : undefined;
    if (!credited) throw notFound(hash, 'lost its block, and is credited by itself when it is in one again');
    return toLedgerEntry(credited);
  });
}

interface Recipient {
  readonly usdc: bigint;
  readonly address: bigint;
  readonly paymentAddress: bigint;
}

/** A transfer to another organisation's deposit address is refused like one to anywhere else. */
export function requireAmount(
  { transfers }: Pick<ChainTransaction, 'transfers'>,
  { usdc, address, paymentAddress }: Recipient,
): bigint {
  const amount = amountTo(address, usdc, transfers);
  if (amount > MAX_DEPOSIT) throw mismatch('it is too large to be credited');
  if (amount > 0n) return amount;
  const shown = `0x${address.toString(16).padStart(64, '0')}`;
  if (amountTo(paymentAddress, usdc, transfers) > 0n) {
    throw mismatch(`it pays the payment address, which is for purchases. Send USDC to your deposit address ${shown}`);
  }
  throw mismatch(`it brings no USDC to your deposit address ${shown}`);
}

function requireBlock({ blockNumber, blockHash }: ChainTransaction, hash: string) {
  if (blockNumber === undefined || blockHash === undefined) throw notFound(hash, 'is in no sealed block yet');
  return { blockNumber, blockHash };
}

function mismatch(found: string): ApiError {
  return new ApiError('transaction_mismatch', `The transaction is no deposit: ${found}.`);
}

function notFound(hash: string, state: string): ApiError {
  return new ApiError('transaction_not_found', `Transaction ${hash} ${state}.`, { status: 400 });
}

function noManager(environment: string): ApiError {
  const message = `No account of this deployment takes deposits in ${environment}. Its operator sets MANAGER_ACCOUNT.`;
  return new ApiError('chain_not_configured', message);
}
