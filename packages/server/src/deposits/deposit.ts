import { ApiError, type Environment, type EventData, type endpoints, formatUsd, type UsdMicros } from '@svc/protocol';
import { toHex } from '@svc/starknet';
import { type Database, type Db, type Reads, sql } from '@svc/store';
import { recordChange, serviceOf } from '../audit-log.ts';
import type { Networks } from '../chains/networks.ts';
import { padAddress, type StarknetChain, transfersIn } from '../chains/starknet/chain.ts';
import { publishEvent } from '../events/events.ts';
import type { Answer, Call } from '../http/call.ts';
import { refuse } from '../http/validation.ts';
import type { BlockRange, TransferWatcher, WatchedTransfer } from '../indexer/indexer.ts';
import type { JobLog } from '../jobs/job.ts';
import { credit, type Entry, entryColumns, type LedgerOwner, reverse, toLedgerEntry } from '../ledger/ledger.ts';
import type { Payer } from '../relayer/payer.ts';
import { awaitExecuted, type ChainTransaction, parseStarknetHash } from '../transactions/chain-transaction.ts';
import { errorText } from '../util/text.ts';
import { type DepositAddressDeps, depositAddress, hasAddresses, ownersOf, requestSweep } from './deposit-address.ts';

interface DepositDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet' | 'token'>;
  readonly payer: Pick<Payer, 'publicKey'>;
  /** How many blocks, its own included, a deposit needs before it counts. */
  readonly confirmations: (environment: Environment) => number;
  readonly log: JobLog;
  readonly now?: () => number;
}

/** A removed transaction is usually included again within seconds. */
export const RETURN_MS = 60_000;
/** A billion dollars, more than is in circulation on Starknet: keeps sums within the ledger's range. */
export const MAX_DEPOSIT = 10n ** 15n;
/** Per run; the next one continues. */
const MAX_SETTLED = 100;
/** Credits that were spent return when holds are released or a deposit arrives. */
const REVERSAL_RETRY_SECONDS = 15;

interface DepositKey {
  readonly chainId: string;
  readonly hash: string;
  readonly address: string;
}

interface DepositPlace {
  readonly blockNumber: number;
  readonly blockHash: string;
}

interface Deposit extends DepositKey, DepositPlace, LedgerOwner {
  readonly amount: UsdMicros;
  readonly credited: UsdMicros;
  readonly entries: number;
  readonly entryId: string | null;
  readonly missingSince: Date | null;
}

interface Row extends Omit<Deposit, 'blockNumber'> {
  readonly blockNumber: bigint;
}

const columns = sql`
  chain_id as "chainId", transaction_hash as hash, address, organization_id as "organizationId", environment,
  amount_micros as amount, credited_micros as credited, entries, entry_id as "entryId", block_number as "blockNumber",
  block_hash as "blockHash", missing_since as "missingSince"`;
const depositOf = (row: Row): Deposit => ({ ...row, blockNumber: Number(row.blockNumber) });

const isKey = ({ chainId, hash, address }: DepositKey) => sql`
  chain_id = ${chainId} and transaction_hash = ${hash} and address = ${address}`;

async function findDeposit(reads: Reads, key: DepositKey): Promise<Deposit | undefined> {
  const row = await reads.one<Row>(sql`select ${columns} from deposits where ${isKey(key)}`);
  return row && depositOf(row);
}

function findEntry(reads: Reads, id: string): Promise<Entry | undefined> {
  return reads.one<Entry>(sql`select ${entryColumns} from ledger_entries where id = ${id}`);
}

interface DepositTransfer {
  readonly token: bigint | undefined;
  readonly from: bigint;
  readonly to: bigint;
  readonly amount: bigint;
}

/** A unit of USDC is a millionth of a dollar. */
function amountTo(address: bigint, usdc: bigint, transfers: readonly DepositTransfer[]): UsdMicros {
  return transfers
    .filter(({ token, from, to }) => token === usdc && to === address && from !== address)
    .reduce((sum, { amount }) => sum + amount, 0n);
}

type NewDeposit = DepositKey & DepositPlace & LedgerOwner & Pick<Deposit, 'amount'>;

/** `scanned` by the indexer, which alone knows that a credited deposit has moved. */
async function storeDeposits(
  tx: Db,
  deposits: readonly NewDeposit[],
  { scanned }: { readonly scanned: boolean },
): Promise<void> {
  if (deposits.length === 0) return;
  const rows = JSON.stringify(deposits.map((deposit) => ({ ...deposit, amount: String(deposit.amount) })));
  await tx.run(sql`
    insert into deposits (chain_id, transaction_hash, address, organization_id, environment, amount_micros, block_number,
      block_hash)
    select "chainId", hash, address, "organizationId", environment, amount, "blockNumber", "blockHash"
      from jsonb_to_recordset(${rows}::jsonb) as deposit ("chainId" text, hash text, address text, "organizationId" text,
        environment text, amount bigint, "blockNumber" bigint, "blockHash" text)
     order by hash, address
    on conflict (chain_id, transaction_hash, address)
    do update set amount_micros = excluded.amount_micros, block_number = excluded.block_number,
                  block_hash = excluded.block_hash, missing_since = null, tried_at = null
     where ${scanned} or deposits.credited_micros = 0`);
  for (const environment of new Set(deposits.map((deposit) => deposit.environment))) {
    const addresses = deposits.filter((deposit) => deposit.environment === environment).map(({ address }) => address);
    await requestSweep(tx, environment, addresses);
  }
}

async function markMissing(
  tx: Db,
  { chainId, after, upTo, at }: BlockRange,
  seen: readonly DepositKey[],
): Promise<void> {
  const [hashes, addresses] = [seen.map(({ hash }) => hash), seen.map(({ address }) => address)];
  await tx.run(sql`
    update deposits set missing_since = ${at}
     where chain_id = ${chainId} and block_number > ${after}
       and block_number <= ${upTo ?? Number.MAX_SAFE_INTEGER} and missing_since is null and amount_micros > 0
       and (transaction_hash, address) not in (
         select * from unnest(${hashes}::text[], ${addresses}::text[]))`);
}

export function depositWatcher(deps: DepositDeps): TransferWatcher {
  const { payer } = deps;
  return {
    async hasAddresses(reads, environment) {
      const publicKey = payer.publicKey(environment);
      return publicKey !== undefined && hasAddresses(reads, environment, publicKey);
    },
    async watchedAmong(reads, environment, transfers) {
      const recipients = transfers.filter(({ known }) => known.token === 'USDC').map(({ to }) => to);
      return new Set((await readOwners(deps, reads, environment, recipients)).keys());
    },
    async storeTransfers(tx, range, transfers) {
      const found = await depositsIn(deps, tx, range, transfers);
      await storeDeposits(tx, found, { scanned: true });
      await markMissing(tx, range, found);
    },
    rewind: (tx, range) => markMissing(tx, range, []),
    settle: (environment) => settleDeposits(deps, environment),
  };
}

async function readOwners(
  { payer }: DepositDeps,
  reads: Reads,
  environment: Environment,
  addresses: readonly bigint[],
): Promise<ReadonlyMap<bigint, LedgerOwner>> {
  const publicKey = payer.publicKey(environment);
  return publicKey === undefined ? new Map() : ownersOf(reads, environment, publicKey, addresses);
}

async function depositsIn(
  deps: DepositDeps,
  tx: Db,
  { environment, chainId }: BlockRange,
  transfers: readonly WatchedTransfer[],
): Promise<NewDeposit[]> {
  const usdc = requireUsdc(deps.networks, environment);
  const owners = await readOwners(
    deps,
    tx,
    environment,
    transfers.map(({ to }) => to),
  );
  const groups = new Map<string, WatchedTransfer[]>();
  for (const transfer of transfers) {
    const name = `${transfer.transactionHash} ${transfer.to}`;
    groups.set(name, [...(groups.get(name) ?? []), transfer]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const owner = first && owners.get(first.to);
    if (!first || !owner) return [];
    const amount = amountTo(first.to, usdc, group);
    const key = { chainId, hash: toHex(first.transactionHash), address: padAddress(first.to) };
    if (amount > MAX_DEPOSIT) deps.log.error({ ...key, amount: String(amount) }, 'deposit too large to be credited');
    if (amount === 0n || amount > MAX_DEPOSIT) return [];
    return [{ ...key, ...owner, amount, blockNumber: first.blockNumber, blockHash: toHex(first.blockHash) }];
  });
}

export function requireUsdc(networks: Pick<Networks, 'token'>, environment: Environment): bigint {
  const usdc = networks.token(environment, 'STARKNET', 'USDC')?.address;
  if (!usdc) throw new ApiError('token_not_supported', 'STARKNET does not have the token USDC.');
  return BigInt(usdc);
}

/** Brings the ledger to what the chain shows. Idempotent; may run in several processes. */
async function settleDeposits(deps: DepositDeps, environment: Environment): Promise<void> {
  const { db, networks, log, now = Date.now } = deps;
  const { chain } = networks.starknet(environment);
  const chainId = toHex(chain.chainId);
  if (!(await hasOpenDeposits(db.reads, chainId))) return;
  const confirmed = (await chain.blockNumber()) - deps.confirmations(environment) + 1;
  for (const deposit of await takeOpenDeposits(db, chainId, confirmed, new Date(now() - RETURN_MS))) {
    const { hash, address } = deposit;
    await settleDeposit(deps, chain, deposit).catch((error: unknown) =>
      log.warn({ hash, address, reason: errorText(error) }, 'deposit not settled'),
    );
  }
}

const isOpen = sql`(credited_micros <> amount_micros or missing_since is not null)`;

async function hasOpenDeposits(reads: Reads, chainId: string): Promise<boolean> {
  return (await reads.one(sql`select from deposits where chain_id = ${chainId} and ${isOpen} limit 1`)) !== undefined;
}

async function takeOpenDeposits(db: Db, chainId: string, confirmed: number, missingBefore: Date): Promise<Deposit[]> {
  const rows = await db.rows<Row>(sql`
    update deposits set tried_at = clock_timestamp()
     where chain_id = ${chainId} and (transaction_hash, address) in (
       select transaction_hash, address from deposits
        where chain_id = ${chainId} and ${isOpen} and case
                when missing_since is not null then missing_since <= ${missingBefore}
                when amount_micros > credited_micros then block_number <= ${confirmed}
                else coalesce(tried_at < now() - make_interval(secs => ${REVERSAL_RETRY_SECONDS}), true) end
        order by tried_at nulls first limit ${MAX_SETTLED})
    returning ${columns}`);
  return rows.map(depositOf).sort((one, other) => one.blockNumber - other.blockNumber);
}

async function settleDeposit(deps: DepositDeps, chain: StarknetChain, deposit: Deposit): Promise<void> {
  const { db, now = Date.now } = deps;
  if (deposit.missingSince) return reviewMissing(deps, chain, deposit);
  if (deposit.amount < deposit.credited) return db.tx((tx) => reverseDeposit(tx, deposit));
  if (await isOnChain(chain, deposit)) {
    await db.tx((tx) => creditDeposit(tx, deposit));
  } else if (deposit.credited === 0n && !(await findAgain(deps, chain, deposit))) {
    await db.run(sql`
      update deposits set missing_since = ${new Date(now())}
       where ${isKey(deposit)} and block_hash = ${deposit.blockHash} and missing_since is null`);
  }
}

/** Read after the deposit was stored: a later reorganisation is noticed by the indexer, which then finds it. */
async function isOnChain(chain: StarknetChain, { blockNumber, blockHash }: DepositPlace): Promise<boolean> {
  return (await chain.block(blockNumber))?.hash === BigInt(blockHash);
}

/** Undefined when its block is another one by now. Under the row's lock, so that two processes credit once. */
async function creditDeposit(tx: Db, verified: DepositKey & DepositPlace): Promise<Entry | undefined> {
  const deposit = await lockDeposit(tx, verified);
  if (!deposit || deposit.missingSince || deposit.blockHash !== verified.blockHash) return undefined;
  const { amount, credited, entryId } = deposit;
  if (amount <= credited) return entryId === null ? undefined : findEntry(tx, entryId);
  const reference = referenceOf(deposit);
  const { entry, created } = await credit(tx, {
    ...ownerOf(deposit),
    type: 'DEPOSIT',
    amount: amount - credited,
    reference,
  });
  if (!created) throw new Error(`The ledger has a deposit ${reference} already.`);
  await tx.run(sql`
    update deposits set credited_micros = amount_micros, entries = entries + 1, entry_id = ${entry.id}
     where ${isKey(deposit)}`);
  await recordDeposit(tx, 'deposit.credited', deposit, entry);
  await publishCredited(tx, deposit, entry);
  return entry;
}

/** Takes back what is available; the rest later. */
async function reverseDeposit(tx: Db, key: DepositKey): Promise<void> {
  const deposit = await lockDeposit(tx, key);
  if (!deposit || deposit.missingSince || deposit.amount >= deposit.credited) return;
  const { amount, credited } = deposit;
  const entry = await reverse(tx, { ...ownerOf(deposit), amount: credited - amount, reference: referenceOf(deposit) });
  if (!entry) return;
  await tx.run(sql`
    update deposits set credited_micros = credited_micros - ${entry.amount}, entries = entries + 1 where ${isKey(deposit)}`);
  await recordDeposit(tx, 'deposit.reversed', deposit, entry);
}

async function recordDeposit(tx: Db, action: string, deposit: Deposit, { id, amount }: Entry): Promise<void> {
  const { organizationId, environment, hash, address } = deposit;
  const changes = { amountUsd: formatUsd(amount), address, ledgerEntryId: id };
  await recordChange(tx, serviceOf(organizationId, environment), { action, target: hash, changes });
}

async function publishCredited(tx: Db, deposit: Deposit, { id, amount }: Entry): Promise<void> {
  const { hash, address } = deposit;
  const data: EventData['deposit.credited'] = {
    ledgerEntryId: id,
    transactionHash: hash,
    depositAddress: address,
    amountUsd: formatUsd(amount),
  };
  await publishEvent(tx, { ...ownerOf(deposit), type: 'deposit.credited', subject: id, data });
}

async function lockDeposit(tx: Db, key: DepositKey): Promise<Deposit | undefined> {
  const row = await tx.one<Row>(sql`select ${columns} from deposits where ${isKey(key)} for update`);
  return row && depositOf(row);
}

/** The ledger takes a reference of a type once. */
const referenceOf = ({ hash, entries }: Deposit): string => (entries === 0 ? hash : `${hash}#${entries + 1}`);
const ownerOf = ({ organizationId, environment }: Deposit): LedgerOwner => ({ organizationId, environment });

/** After `RETURN_MS`: it is gone, or the indexer reads its new block soon. */
async function reviewMissing(deps: DepositDeps, chain: StarknetChain, deposit: Deposit): Promise<void> {
  const { hash, address, organizationId, credited } = deposit;
  if (await findAgain(deps, chain, deposit)) return;
  const isGone = await deps.db.tx(async (tx) => {
    const gone = await tx.run(sql`
      update deposits set amount_micros = 0, missing_since = null where ${isKey(deposit)} and missing_since is not null`);
    if (gone === 1) await reverseDeposit(tx, deposit);
    return gone === 1;
  });
  const fields = { hash, address, organizationId, creditedUsdc: String(credited) };
  if (isGone) deps.log.error(fields, 'deposit removed by a reorganisation');
}

/** Whether its transaction still brings something. Where nothing is credited yet, its new block is stored. */
async function findAgain(deps: DepositDeps, chain: StarknetChain, deposit: Deposit): Promise<boolean> {
  const receipt = await chain.receipt(BigInt(deposit.hash));
  if (!receipt || receipt.status === 'REVERTED') return false;
  const usdc = requireUsdc(deps.networks, deposit.environment);
  const amount = amountTo(BigInt(deposit.address), usdc, transfersIn(receipt));
  if (amount === 0n || amount > MAX_DEPOSIT) return false;
  const { accepted, blockNumber, blockHash } = receipt;
  if (!accepted || blockNumber === undefined || blockHash === undefined) return true;
  const found = { ...deposit, amount, blockNumber, blockHash: toHex(blockHash) };
  if (deposit.credited === 0n) await deps.db.tx((tx) => storeDeposits(tx, [found], { scanned: false }));
  return true;
}

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
