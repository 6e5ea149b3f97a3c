import {
  ApiError,
  type Environment,
  type endpoints,
  formatUsd,
  parseSolanaAddress,
  parseTokenAmount,
  type QueryOf,
  type SolanaAddress,
  type SolanaTransfer,
  type SolanaTransferStatus,
  type StarknetAddress,
  solanaTransferStatuses,
  USD_DECIMALS,
} from '@svc/protocol';
import { type Call as ContractCall, parseOutsideExecutionTypedData, selector, toHex } from '@svc/starknet';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import { type Bridge, type Burn, type BurnOrder, isSolanaWallet } from '../bridge/bridge.ts';
import { readBurnOrder } from '../bridge/cctp-message.ts';
import { type BurnFacts, estimatedSeconds } from '../bridge/follow-burn.ts';
import {
  type Answer,
  type Call,
  type Caller,
  microsOf,
  olderThan,
  type Place,
  readCursor,
  toCursorPage,
  WithStatus,
} from '../http/call.ts';
import { readAddress, refuse } from '../http/validation.ts';
import type { NewJob } from '../jobs/job.ts';
import { relaySigned, type TransactionDeps } from '../transactions/execute.ts';
import { newId } from '../util/ids.ts';
import { requireWallet, type WalletRecord } from '../wallets/wallet.ts';

type Machine = Readonly<Record<SolanaTransferStatus, readonly SolanaTransferStatus[]>>;

const nextStatuses: Machine = {
  PENDING: ['BRIDGING', 'FAILED'],
  BRIDGING: ['ATTESTED', 'STUCK'],
  ATTESTED: ['SUCCESS', 'STUCK'],
  SUCCESS: [],
  FAILED: [],
  STUCK: [],
};

/** A reorganisation can take a burn back that was not attested yet, and execute one that had failed. */
export const reorganisations: Machine = {
  PENDING: [],
  BRIDGING: ['FAILED'],
  ATTESTED: [],
  SUCCESS: [],
  FAILED: ['BRIDGING'],
  STUCK: ['FAILED'],
};

/** By the operator. */
export const resumptions: Machine = {
  PENDING: [],
  BRIDGING: [],
  ATTESTED: [],
  SUCCESS: [],
  FAILED: [],
  STUCK: ['BRIDGING', 'ATTESTED'],
};

export interface TransferRow {
  readonly id: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly walletId: string;
  readonly walletAddress: StarknetAddress;
  readonly recipient: string;
  readonly amount: bigint;
  readonly maxFee: bigint;
  readonly fast: boolean;
  readonly status: SolanaTransferStatus;
  readonly reason: string | null;
  readonly relayId: string;
  readonly transactionHash: string | null;
  readonly receiveHash: string | null;
  readonly facts: BurnFacts;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const transferColumns = sql`
  id, organization_id as "organizationId", environment, wallet_id as "walletId", wallet_address as "walletAddress",
  recipient, amount, max_fee as "maxFee", fast, status, reason, relay_id as "relayId",
  transaction_hash as "transactionHash", receive_hash as "receiveHash", facts, created_at as "createdAt",
  updated_at as "updatedAt"`;

export const findTransfer = (reads: Pick<Reads, 'one'>, which: Sql): Promise<TransferRow | undefined> =>
  reads.one(sql`select ${transferColumns} from solana_transfers where ${which}`);

export const lockTransfer = (tx: Db, which: Sql): Promise<TransferRow | undefined> =>
  tx.one(sql`select ${transferColumns} from solana_transfers where ${which} for no key update`);

interface NewTransfer
  extends Pick<TransferRow, 'id' | 'organizationId' | 'environment' | 'walletId' | 'walletAddress' | 'recipient'>,
    Pick<TransferRow, 'amount' | 'maxFee' | 'fast' | 'relayId' | 'transactionHash'> {
  readonly nonce: string;
}

/** More would only keep the bridge busy. */
const MAX_UNDER_WAY = 20;

async function insertTransfer(tx: Db, transfer: NewTransfer): Promise<void> {
  const { id, organizationId, environment, walletId, walletAddress, nonce, recipient, amount, maxFee, fast } = transfer;
  const row = await tx.one<{ count: number }>(sql`
    select count(*)::integer as count from solana_transfers
     where wallet_id = ${walletId} and status in ('PENDING', 'BRIDGING', 'ATTESTED')`);
  if ((row?.count ?? 0) >= MAX_UNDER_WAY) throw new ApiError('solana_transfer_limit_reached');
  await tx.run(sql`
    insert into solana_transfers (id, organization_id, environment, wallet_id, wallet_address, nonce, recipient, amount,
                                  max_fee, fast, relay_id, transaction_hash)
    values (${id}, ${organizationId}, ${environment}, ${walletId}, ${walletAddress}, ${nonce}, ${recipient}, ${amount},
            ${maxFee}, ${fast}, ${transfer.relayId}, ${transfer.transactionHash})`);
}

interface TransferChange {
  readonly to: SolanaTransferStatus;
  /** Transitions beside the usual ones. */
  readonly besides?: Machine;
  readonly reason?: string;
  readonly facts?: BurnFacts;
  readonly hash?: string | undefined;
  readonly receiveHash?: string;
}

/** False where no transition leads there from its present status. */
export async function changeTransfer(tx: Db, id: string, change: TransferChange): Promise<boolean> {
  const { to, besides, reason = null, facts = {}, hash = null, receiveHash = null } = change;
  const before = solanaTransferStatuses.filter(
    (from) => nextStatuses[from].includes(to) || besides?.[from].includes(to) === true,
  );
  const changed = await tx.run(sql`
    update solana_transfers
       set status = ${to}, reason = ${reason}, facts = facts || ${JSON.stringify(facts)}::jsonb,
           transaction_hash = coalesce(${hash}, transaction_hash), receive_hash = coalesce(${receiveHash}, receive_hash),
           updated_at = now()
     where id = ${id} and status = any(${before})`);
  return changed === 1;
}

export async function addFacts(tx: Db, id: string, facts: BurnFacts): Promise<void> {
  await tx.run(sql`
    update solana_transfers set facts = facts || ${JSON.stringify(facts)}::jsonb, updated_at = now() where id = ${id}`);
}

/** A paymaster tells it late. The outcome stores the hash that is on the chain. */
export async function setHashOfRelay(db: Db, relayId: string, hash: string): Promise<void> {
  await db.run(sql`
    update solana_transfers set transaction_hash = ${hash}, updated_at = now()
     where relay_id = ${relayId} and transaction_hash is null`);
}

export const FOLLOW_TASK = 'follow-solana-transfer';

export const followJob = ({ id, organizationId }: Pick<TransferRow, 'id' | 'organizationId'>): NewJob => ({
  task: FOLLOW_TASK,
  payload: { id },
  key: id,
  tenant: organizationId,
});

export function burnOf(row: TransferRow): Burn {
  const { id, transactionHash, walletAddress, amount, maxFee, fast } = row;
  if (transactionHash === null) throw new Error(`The transfer ${id} has no burn.`);
  const order = { amount, maxFee, fast, owner: ownerOf(row) };
  return { hash: transactionHash, sender: BigInt(walletAddress), order };
}

function ownerOf({ id, recipient }: Pick<TransferRow, 'id' | 'recipient'>): SolanaAddress {
  const owner = parseSolanaAddress(recipient);
  if (!owner.ok) throw new Error(`The recipient of the transfer ${id} ${owner.reason}.`);
  return owner.value;
}

function toTransfer(row: TransferRow): SolanaTransfer {
  const { id, walletAddress, recipient, amount, maxFee, fast, status, reason, transactionHash, facts } = row;
  const fee = facts.feeExecuted === undefined ? null : BigInt(facts.feeExecuted);
  return {
    ...{ id, walletAddress, recipient, fast, status, reason, transactionHash },
    amount: formatUsd(amount),
    maxFee: formatUsd(maxFee),
    fee: fee === null ? null : formatUsd(fee),
    received: status === 'SUCCESS' && fee !== null ? formatUsd(amount - fee) : null,
    receiveChainTxHash: row.receiveHash,
    receiveProof: facts.receiveProof ?? null,
    estimatedSeconds: estimatedSeconds(fast),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

export interface TransferDeps extends TransactionDeps {
  readonly bridge: Bridge;
}

type Quote = typeof endpoints.quoteSolanaTransfer;

export async function quoteTransfer(
  { db, bridge, networks }: TransferDeps,
  { caller, body }: Pick<Call<Quote>, 'caller' | 'body'>,
): Promise<Answer<Quote>> {
  const { environment } = caller;
  networks.starknet(environment);
  await requireWallet(db.reads, caller, readAddress(body.publicKey, 'body.publicKey'));
  const { fast = true } = body;
  const owner = readRecipient(body.recipient, 'body.recipient');
  const amount = readAmount(body.amount);
  const [fee, maxFee] = await Promise.all([
    bridge.fee(environment, amount, fast),
    bridge.feeCeiling(environment, amount, fast),
  ]);
  if (amount <= maxFee) {
    const message = `The bridge takes up to ${formatUsd(maxFee)} USDC for it. Move more than that.`;
    throw new ApiError('amount_below_fee', message);
  }
  const calls = bridge.burnCalls(environment, { amount, maxFee, owner, fast });
  return {
    ...{ recipient: owner, amount: formatUsd(amount), fee: formatUsd(fee), maxFee: formatUsd(maxFee) },
    arrives: formatUsd(amount - fee),
    ...{ fast, estimatedSeconds: estimatedSeconds(fast), usdcMint: bridge.usdcMint(environment) },
    tokenMessenger: toHex(calls.find((call) => call.selector === selector(BURN))?.to ?? 0n),
    calls: calls.map(shownCall),
  };
}

const BURN = 'deposit_for_burn_with_hook';
const NAMES = new Map(['approve', BURN].map((name) => [selector(name), name]));

const shownCall = ({ to, selector: called, calldata }: ContractCall) => ({
  contractAddress: toHex(to),
  entrypoint: NAMES.get(called) ?? toHex(called),
  calldata: calldata.map(toHex),
});

function readRecipient(text: string, field: string): SolanaAddress {
  const address = parseSolanaAddress(text.trim());
  if (!address.ok) refuse(field, address.reason);
  if (!isSolanaWallet(address.value)) refuse(field, 'must be a wallet, not a token, a token account or a program');
  return address.value;
}

/** Far above what there is of USDC. */
const MAX_AMOUNT = 10n ** 18n;

function readAmount(text: string): bigint {
  const amount = parseTokenAmount(text, USD_DECIMALS);
  if (!amount.ok) refuse('body.amount', amount.reason);
  if (amount.value === 0n || amount.value > MAX_AMOUNT)
    refuse('body.amount', 'must be above zero, and no more than there is');
  return amount.value;
}

type Create = typeof endpoints.createSolanaTransfer;

/** Stored with its relay in one transaction, then sent. A wallet executes a nonce once, so the nonce tells a repetition. */
export async function createTransfer(
  deps: TransferDeps,
  { caller, body }: Pick<Call<Create>, 'caller' | 'body'>,
): Promise<Answer<Create>> {
  const { db, networks } = deps;
  networks.starknet(caller.environment);
  const wallet = await requireWallet(db.reads, caller, readAddress(body.publicKey, 'body.publicKey'));
  const known = await repeated(deps, wallet, body.typedData);
  if (known) return accepted(known);
  const id = newId('slt');
  let order: BurnOrder | undefined;
  let nonce = '';
  const relayed = await relaySigned(deps, caller, body, {
    kind: 'solana-transfer',
    check: async (_, { execution }) => {
      order = await requireBurn(deps, caller, execution.calls);
      nonce = toHex(execution.nonce);
    },
    store: async (tx, relay) => {
      if (!order) throw new Error('A burn was not checked.');
      const { amount, maxFee, owner: recipient, fast } = order;
      const { organizationId, environment, id: walletId, address: walletAddress } = wallet;
      const transactionHash = relay.hash === undefined ? null : toHex(relay.hash);
      await insertTransfer(tx, {
        ...{ id, organizationId, environment, walletId, walletAddress, nonce, recipient, amount, maxFee, fast },
        ...{ relayId: relay.id, transactionHash },
      });
    },
  });
  await setHashOfRelay(db, relayed.id, toHex(relayed.hash));
  const stored = await findTransfer(db, sql`relay_id = ${relayed.id}`);
  // The same typed data was executed as plain calls before.
  if (!stored) throw new ApiError('transaction_already_used', 'These calls were executed before, without a transfer.');
  return accepted(stored);
}

const accepted = (row: TransferRow): WithStatus<SolanaTransfer> => new WithStatus(202, toTransfer(row));

/** Found also when the window of its typed data is closed: a client that lost the answer asks again. */
async function repeated(
  { db }: TransferDeps,
  { id }: WalletRecord,
  typedData: unknown,
): Promise<TransferRow | undefined> {
  const read = parseOutsideExecutionTypedData(typedData);
  if (!read.ok) return undefined;
  const { nonce, calls } = read.value.execution;
  const known = await findTransfer(db, sql`wallet_id = ${id} and nonce = ${toHex(nonce)}`);
  const order = known && readBurnOrder(calls);
  return known && order && isOrdered(known, order) ? known : undefined;
}

const isOrdered = (row: TransferRow, { amount, maxFee, owner, fast }: BurnOrder): boolean =>
  row.amount === amount && row.maxFee === maxFee && row.recipient === owner && row.fast === fast;

/** The calls burn one amount for one wallet on Solana, and do nothing else: a burn cannot be undone. */
async function requireBurn(
  { bridge }: TransferDeps,
  { environment }: Caller,
  calls: readonly ContractCall[],
): Promise<BurnOrder> {
  const order = readBurnOrder(calls);
  const isBurn =
    order !== undefined && order.amount > order.maxFee && areSame(calls, bridge.burnCalls(environment, order));
  if (!isBurn || order.maxFee === 0n || order.amount > MAX_AMOUNT) {
    throw new ApiError('invalid_typed_data', 'The typed data must have the two calls of a quote, and no other.');
  }
  if (!isSolanaWallet(order.owner)) refuse('body.typedData', 'has a recipient that is no wallet of Solana');
  const fee = await bridge.fee(environment, order.amount, order.fast);
  // The bridge mints nothing that does not pay its fee.
  if (fee > order.maxFee) throw new ApiError('bridge_fee_changed');
  return order;
}

const areSame = (calls: readonly ContractCall[], expected: readonly ContractCall[]): boolean =>
  JSON.stringify(calls.map(shownCall)) === JSON.stringify(expected.map(shownCall));

export async function getTransfer({ db }: TransferDeps, caller: Caller, id: string): Promise<SolanaTransfer> {
  const row = await findTransfer(
    db.reads,
    sql`id = ${id} and organization_id = ${caller.organizationId} and environment = ${caller.environment}`,
  );
  if (!row) throw new ApiError('solana_transfer_not_found');
  await requireWallet(db.reads, caller, row.walletAddress).catch((error: unknown) => {
    throw error instanceof ApiError && error.code === 'wallet_not_found'
      ? new ApiError('solana_transfer_not_found')
      : error;
  });
  return toTransfer(row);
}

type List = typeof endpoints.listSolanaTransfers;

export async function listTransfers({ db }: TransferDeps, caller: Caller, query: QueryOf<List>): Promise<Answer<List>> {
  const wallet = await requireWallet(db.reads, caller, readAddress(query.walletAddress, 'query.walletAddress'));
  const { limit, after } = readCursor(query);
  const rows = await db.lists.rows<TransferRow & Place>(
    sql`
      select ${transferColumns}, ${microsOf(sql`created_at`)} as micros from solana_transfers
       where wallet_id = ${wallet.id} ${olderThan(after, sql`created_at`, sql`id`)}
       order by created_at desc, id desc limit ${limit + 1}`.unnamed,
  );
  return toCursorPage(rows, limit, toTransfer);
}
