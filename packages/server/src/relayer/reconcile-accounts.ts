import type { Environment } from '@svc/protocol';
import { type Call, decodeCalls, selector, toHex, UDC_ADDRESS } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import { DEPLOYMENT, type OperatorName, operatorOf, recordChange } from '../audit-log.ts';
import type { Networks } from '../chains/networks.ts';
import {
  type Block,
  padAddress,
  type Receipt,
  type SignedInvoke,
  type StarknetChain,
} from '../chains/starknet/chain.ts';
import { enqueue } from '../jobs/job.ts';
import { fillerCalls } from './invoke.ts';
import { type OutcomeHandlers, storeOutcome } from './outcome.ts';
import { type FoundPayment, type MarkedKind, type PaymentMarker, paymentsIn } from './payer.ts';
import { executesForOthers, isOpen, isPayment, type Relay, type RelayState } from './relay.ts';
import {
  findRelayByHash,
  insertAttempt,
  insertRelay,
  NO_DEADLINE,
  readCalls,
  relayWorkerJob,
  reopen,
  type StoredCalls,
  writeCalls,
} from './relay-store.ts';
import { findTransactions } from './unknown-nonces.ts';

export interface ImportedTransaction {
  readonly environment: Environment;
  readonly account: bigint;
  readonly hash: bigint;
  readonly calls: readonly Call[];
  readonly payments: readonly FoundPayment[];
  readonly executed: boolean;
  readonly at: Date;
  readonly operator: OperatorName | undefined;
}

export interface Unmatched {
  readonly payment: FoundPayment;
  readonly reason: string;
}

/** Takes over the payments of one kind that a transaction made, in the transaction that stores its relay. */
export interface PaymentImporter {
  purpose(tx: Db, imported: ImportedTransaction): Promise<string>;
  /** Safe to repeat. Answers what belongs to nothing known. */
  attach(tx: Db, relayId: string, imported: ImportedTransaction): Promise<readonly Unmatched[]>;
  /** The relay was never executed, and its nonce is used: its payments wait again. */
  release(tx: Db, relayId: string): Promise<void>;
}

/** What the operator names by an id, and which payment can be its. */
export interface NamedPayment {
  readonly marker: PaymentMarker;
  fits(payment: FoundPayment): boolean;
}

export interface ReconcileDeps {
  readonly db: Db;
  readonly networks: Pick<Networks, 'environments' | 'starknet' | 'token'>;
  readonly outcomes: OutcomeHandlers;
  readonly importers: Readonly<Record<MarkedKind, PaymentImporter>>;
  readonly named: readonly ((db: Db, id: string) => Promise<NamedPayment | undefined>)[];
  /** Named in the audit log. */
  readonly operator?: OperatorName | undefined;
}

export interface ReconciledNonce {
  readonly account: string;
  readonly nonce: string;
  readonly hash: string | null;
  readonly state: 'IMPORTED' | 'ACCEPTED' | 'OPEN';
  readonly kind?: string;
  readonly payments?: readonly ShownPayment[];
  readonly reason?: string;
}

/** Each takes some dozens of reads. The rest is for the next run. */
const MAX_PER_RUN = 500;

export interface ShownPayment {
  readonly token: string;
  readonly to: string;
  readonly amount: string;
  readonly of?: string;
  readonly gift?: string;
}

interface Place {
  readonly environment: Environment;
  readonly chain: StarknetChain;
  readonly account: string;
  readonly nonce: bigint;
}

interface Found {
  readonly signed: SignedInvoke;
  readonly receipt: Receipt;
  readonly block: Block;
  readonly calls: readonly Call[];
  readonly payments: readonly FoundPayment[];
}

/** Finds the unknown transactions on the chain, imports what is recognised, and lists the rest. Safe to repeat. */
export async function reconcile(deps: ReconcileDeps, perAccount = MAX_PER_RUN): Promise<ReconciledNonce[]> {
  const lines: ReconciledNonce[] = [];
  for (const environment of deps.networks.environments()) {
    const { chain } = deps.networks.starknet(environment);
    for (const { account, nonces } of await openNonces(deps.db, chain.chainId)) {
      const known = await lastKnownBlock(deps.db, chain.chainId, account, nonces[0] ?? 0n);
      const found = await findTransactions(chain, BigInt(account), nonces.slice(0, perAccount), known);
      for (const nonce of nonces.slice(0, perAccount)) {
        const signed = found.get(nonce);
        const place = { environment, chain, account, nonce };
        lines.push(signed ? await reconcileOne(deps, place, signed) : openLine(place, undefined, NOT_SEALED));
      }
      const left = nonces.length - perAccount;
      if (left > 0)
        lines.push(openLine({ account, nonce: nonces[perAccount] ?? 0n }, undefined, `${left} more: run it again.`));
    }
  }
  return lines;
}

const NOT_SEALED = 'The chain shows no transaction with this nonce in a sealed block. Try again in a minute.';

async function reconcileOne(deps: ReconcileDeps, place: Place, signed: SignedInvoke): Promise<ReconciledNonce> {
  const found = await inspect(place.chain, signed);
  if (!found) return openLine(place, undefined, NOT_SEALED);
  const { calls, payments } = found;
  const strk = BigInt(deps.networks.token(place.environment, 'STARKNET', 'STRK')?.address ?? 0);
  const filler = isSame(calls, fillerCalls(BigInt(place.account), strk));
  const kinds = [...new Set(payments.map(({ marker }) => marker?.kind))];
  const kind = kinds.length === 1 ? kinds[0] : undefined;
  try {
    return await deps.db.tx(async (tx) => {
      await lockAccount(tx, place);
      const relay = (await isImportedPartly(tx, place)) ? undefined : await relayAt(tx, place);
      if (relay && (await hasAttempt(tx, place.chain.chainId, relay.id, signed.hash))) {
        // A node showed its receipt late.
        return resolve(tx, place, found, { resolution: 'IMPORTED' });
      }
      if (relay && (filler || isSame(relay.calls, calls))) {
        return endKnownRelay(deps, tx, place, relay, found, filler);
      }
      if (filler) return resolve(tx, place, found, { resolution: 'ACCEPTED', note: 'It only uses the nonce.' });
      if (isSponsored(calls)) {
        const note = 'It executes what wallets signed, which happens once.';
        return resolve(tx, place, found, { resolution: 'ACCEPTED', note });
      }
      if (kind === undefined) {
        await storeHash(tx, place, found);
        return openLine(place, found, 'It is not marked as a payment of this service. Match or accept it.');
      }
      return importPayments(deps, tx, place, found, kind);
    });
  } catch (error) {
    return openLine(place, found, error instanceof Error ? error.message : String(error));
  }
}

export async function matchByOperator(
  deps: ReconcileDeps,
  hash: bigint,
  ids: readonly string[],
): Promise<ReconciledNonce | { readonly reason: string }> {
  const place = await findOpen(deps, sql`hash = ${toHex(hash)}`);
  if (!place) return { reason: 'No open transaction has this hash. Run reconcile first.' };
  const receipt = await place.chain.receipt(hash);
  const invokes = await place.chain.invokesIn(receipt?.blockNumber ?? 0, BigInt(place.account));
  const signed = invokes.find((invoke) => invoke.hash === hash);
  const found = signed && (await inspect(place.chain, signed));
  if (!found) return { reason: NOT_SEALED };
  const payments = [...found.payments];
  for (const id of ids) {
    const named = await firstNamed(deps, id);
    if (!named) return { reason: `${id} is no redeem, gift or purchase of this database.` };
    const index = payments.findIndex((payment) => !payment.marker && named.fits(payment));
    const payment = payments[index];
    if (!payment) return { reason: `No payment of the transaction fits ${id}.` };
    payments[index] = { ...payment, marker: named.marker };
  }
  const kinds = new Set(payments.map(({ marker }) => marker?.kind));
  const [kind] = kinds;
  if (kinds.size !== 1 || kind === undefined) {
    return { reason: `The transaction makes ${payments.length} payments. Name one id for each, all of one kind.` };
  }
  return deps.db.tx(async (tx) => {
    await lockAccount(tx, place);
    return importPayments(deps, tx, place, { ...found, payments }, kind);
  });
}

async function firstNamed({ db, named }: ReconcileDeps, id: string): Promise<NamedPayment | undefined> {
  for (const find of named) {
    const payment = await find(db, id);
    if (payment) return payment;
  }
  return undefined;
}

/**
 * For a transaction that is no payment of the service, or whose payments are lost for good. By its hash, or its nonce, which several
 * accounts can have.
 */
export async function acceptByOperator(
  deps: ReconcileDeps,
  which: string,
  note: string,
  account?: string,
): Promise<ReconciledNonce | { readonly reason: string }> {
  const byHash = /^0x[0-9a-f]+$/i.test(which);
  if (!byHash && !/^\d{1,18}$/.test(which)) return { reason: 'Name a transaction by its hash, or by its nonce.' };
  const named = byHash ? sql`hash = ${toHex(BigInt(which))}` : sql`nonce = ${which}::bigint`;
  const place = await findOpen(deps, account === undefined ? named : sql`account = ${account} and ${named}`);
  if (!place) return { reason: 'No open transaction has this hash or nonce, or several accounts have this nonce.' };
  return deps.db.tx(async (tx) => {
    await lockAccount(tx, place);
    const line = await resolve(tx, place, undefined, { resolution: 'ACCEPTED', note });
    // A payment that the transaction displaced waits for this.
    await tx.run(sql`update relays set looked_at = null where ${relayOf(place)} and state in ('STORED', 'SENT')`);
    await enqueue(tx, relayWorkerJob(place.environment, place.chain.chainId, place.account));
    await recordChange(tx, operatorOf(DEPLOYMENT, place.environment, deps.operator), {
      action: 'account.transaction-accepted',
      target: place.account,
      changes: { nonce: line.nonce, transactionHash: line.hash, reason: note },
    });
    return line;
  });
}

async function importPayments(
  deps: ReconcileDeps,
  tx: Db,
  place: Place,
  found: Found,
  kind: MarkedKind,
): Promise<ReconciledNonce> {
  const { environment, chain, account, nonce } = place;
  const { signed, receipt, block, calls, payments } = found;
  const importer = deps.importers[kind];
  const executed = receipt.status !== 'REVERTED';
  const [wallet, hash, at] = [BigInt(account), signed.hash, block.timestamp];
  const imported = { environment, account: wallet, hash, calls, payments, executed, at, operator: deps.operator };
  const before = await relayAt(tx, place);
  let id = before && (await hasAttempt(tx, chain.chainId, before.id, hash)) ? before.id : undefined;
  if (id === undefined) {
    if (before) await vacateNonce(deps, tx, before);
    const about = { environment, chainId: chain.chainId, kind, messageHash: 0n, wallet, notAfter: NO_DEADLINE };
    const purpose = await importer.purpose(tx, imported);
    id = await insertRelay(tx, { ...about, purpose, account, nonce, calls, attempt: 'FIRST', signed });
    if (id === undefined) throw new Error(`Another transaction is stored for the same purpose: ${purpose}.`);
  } else await reopen(tx, chain.chainId, sql`id = ${id}`);
  const unmatched = await importer.attach(tx, id, imported);
  await storeOutcome(tx, deps.outcomes, { id, environment, kind, wallet }, { receipt, block, filler: false });
  const [first] = unmatched;
  if (!first) return resolve(tx, place, found, { resolution: 'IMPORTED', relayId: id, kind });
  await storeHash(tx, place, found, { relayId: id, unmatched });
  return openLine(place, found, `${first.reason} Match it otherwise, or accept it.`);
}

/** A bump or filler that was signed after the backup. */
async function endKnownRelay(
  { outcomes }: ReconcileDeps,
  tx: Db,
  place: Place,
  relay: StoredRelay,
  found: Found,
  filler: boolean,
): Promise<ReconciledNonce> {
  const { chainId } = place.chain;
  await insertAttempt(tx, chainId, relay.id, filler ? 'FILLER' : 'BUMP', found.signed);
  if (!isOpen(relay.state)) await reopen(tx, chainId, sql`id = ${relay.id}`);
  const { id, environment, kind, wallet } = relay;
  // The relay worker asks the wallet as well.
  if (executesForOthers(kind)) await enqueue(tx, relayWorkerJob(environment, chainId, place.account));
  else await storeOutcome(tx, outcomes, { id, environment, kind, wallet: BigInt(wallet) }, { ...found, filler });
  return resolve(tx, place, found, { resolution: 'IMPORTED', relayId: id, kind });
}

/** Without a nonce it is never sent again, also after a reorganisation. */
async function vacateNonce({ outcomes, importers }: ReconcileDeps, tx: Db, relay: StoredRelay): Promise<void> {
  const { id, environment, kind, wallet, state } = relay;
  if (state === 'SUCCEEDED') throw new Error(`The relay ${id} is stored as executed with this nonce.`);
  if (isOpen(state)) await storeOutcome(tx, outcomes, { id, environment, kind, wallet: BigInt(wallet) }, undefined);
  if (isPayment(kind)) await importers[kind as MarkedKind].release(tx, id);
  await tx.run(sql`
    update relays set account = null, nonce = null, not_after = to_timestamp(0), updated_at = now() where id = ${id}`);
}

const EXECUTE = selector('execute_from_outside_v2');
const DEPLOY = selector('deploy_contract');

const isSponsored = (calls: readonly Call[]): boolean =>
  calls.length > 0 &&
  calls.every((call) => call.selector === EXECUTE || (call.to === UDC_ADDRESS && call.selector === DEPLOY));

const isSame = (some: readonly Call[], others: readonly Call[]): boolean =>
  JSON.stringify(writeCalls(some)) === JSON.stringify(writeCalls(others));

async function inspect(chain: StarknetChain, signed: SignedInvoke): Promise<Found | undefined> {
  const receipt = await chain.receipt(signed.hash);
  const block = receipt?.blockNumber === undefined ? undefined : await chain.block(receipt.blockNumber);
  if (!receipt?.accepted || !block || block.hash !== receipt.blockHash) return undefined;
  const calls = decodeCalls(signed.transaction.calldata.map(BigInt)) ?? [];
  return { signed, receipt, block, calls, payments: paymentsIn(calls) };
}

interface StoredRelay {
  readonly id: string;
  readonly environment: Environment;
  readonly kind: Relay['kind'];
  readonly wallet: string;
  readonly state: RelayState;
  readonly calls: readonly Call[];
}

const relayOf = ({ chain, account, nonce }: Place) =>
  sql`chain_id = ${toHex(chain.chainId)} and account = ${account} and nonce = ${nonce}`;

async function relayAt(tx: Db, place: Place): Promise<StoredRelay | undefined> {
  const row = await tx.one<Omit<StoredRelay, 'calls'> & { content: StoredCalls }>(sql`
    select id, environment, kind, wallet, state, content from relays where ${relayOf(place)} for update`);
  return row && { ...row, calls: readCalls(row.content) };
}

async function hasAttempt(tx: Db, chainId: bigint, relayId: string, hash: bigint): Promise<boolean> {
  return (await findRelayByHash(tx, chainId, hash))?.id === relayId;
}

async function isImportedPartly(tx: Db, place: Place): Promise<boolean> {
  const row = await tx.one(sql`select from unknown_nonces where ${relayOf(place)} and relay_id is not null`);
  return row !== undefined;
}

/** Payments take the same lock. */
async function lockAccount(tx: Db, { chain, account }: Place): Promise<void> {
  await tx.run(sql`
    select from relayer_accounts where chain_id = ${toHex(chain.chainId)} and address = ${account} for update`);
}

async function openNonces(db: Db, chainId: bigint): Promise<{ account: string; nonces: bigint[] }[]> {
  return db.rows(sql`
    select account, array_agg(nonce order by nonce) as nonces from unknown_nonces
     where chain_id = ${toHex(chainId)} and resolution is null group by account order by account`);
}

async function lastKnownBlock(db: Db, chainId: bigint, account: string, below: bigint): Promise<number | undefined> {
  const row = await db.one<{ last: bigint | null }>(sql`
    select max(block_number) as last from relays
     where chain_id = ${toHex(chainId)} and account = ${account} and nonce < ${below} and block_number is not null`);
  return row?.last == null ? undefined : Number(row.last);
}

/** Undefined unless there is exactly one. */
async function findOpen({ db, networks }: ReconcileDeps, which: ReturnType<typeof sql>): Promise<Place | undefined> {
  const rows = await db.rows<{ chain_id: string; account: string; nonce: bigint }>(sql`
    select chain_id, account, nonce from unknown_nonces where resolution is null and ${which} limit 2`);
  const [row, ...others] = rows;
  if (!row || others.length > 0) return undefined;
  for (const environment of networks.environments()) {
    const { chain } = networks.starknet(environment);
    if (toHex(chain.chainId) === row.chain_id) return { environment, chain, account: row.account, nonce: row.nonce };
  }
  return undefined;
}

async function storeHash(
  tx: Db,
  place: Place,
  { signed }: Found,
  { relayId, unmatched = [] }: { relayId?: string; unmatched?: readonly Unmatched[] } = {},
): Promise<void> {
  const shown = unmatched.map(({ payment, reason }) => ({ ...showPayment(payment), reason }));
  await tx.run(sql`
    update unknown_nonces
       set hash = ${toHex(signed.hash)}, relay_id = coalesce(${relayId ?? null}, relay_id), unmatched = ${JSON.stringify(shown)}::jsonb
     where ${relayOf(place)}`);
}

interface Resolution {
  readonly resolution: 'IMPORTED' | 'ACCEPTED';
  readonly note?: string;
  readonly relayId?: string;
  readonly kind?: Relay['kind'];
}

async function resolve(
  tx: Db,
  place: Place,
  found: Found | undefined,
  { resolution, note, relayId, kind }: Resolution,
): Promise<ReconciledNonce> {
  const row = await tx.one<{ hash: string | null }>(sql`
    update unknown_nonces
       set resolution = ${resolution}, resolved_at = now(), note = ${note ?? null},
           hash = coalesce(${found ? toHex(found.signed.hash) : null}, hash),
           relay_id = coalesce(${relayId ?? null}, relay_id)
     where ${relayOf(place)} and resolution is null
    returning hash`);
  if (!row) throw new Error('It was reconciled in the meantime.');
  const about = { account: place.account, nonce: String(place.nonce), hash: row.hash, state: resolution };
  return {
    ...about,
    ...(kind && { kind }),
    ...(found && { payments: found.payments.map(showPayment) }),
    ...(note !== undefined && { reason: note }),
  };
}

function openLine(
  { account, nonce }: Pick<Place, 'account' | 'nonce'>,
  found: Found | undefined,
  reason: string,
): ReconciledNonce {
  const hash = found ? toHex(found.signed.hash) : null;
  const payments = found && { payments: found.payments.map(showPayment) };
  return { account, nonce: String(nonce), hash, state: 'OPEN', ...payments, reason };
}

function showPayment({ token, to, amount, marker }: FoundPayment): ShownPayment {
  const of = marker && { of: marker.id, ...(marker.giftId !== undefined && { gift: marker.giftId }) };
  return { token: padAddress(token), to: padAddress(to), amount: String(amount), ...of };
}
