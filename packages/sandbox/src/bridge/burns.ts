import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { selector, toHex } from '@svc/starknet';
import { type Db, type Sql, sql } from '@svc/store';
import { MESSAGE_TRANSMITTER_ADDRESS, SOLANA_DOMAIN, TOKEN_MESSENGER_ADDRESS } from '../contracts/cctp.ts';
import { byteArray, Reader, toBytes } from '../contracts/codec.ts';
import { type BurnFields, decodeMessage, feeOf, isFast, readForwardHook } from './cctp-message.ts';
import { type BurnFault, takeFaultOfBurn, takeFaultOfNewBurn } from './faults.ts';
import { type BridgeSettings, lockSettings } from './settings.ts';
import { encodeBase58, slotAt, usdcTokenAccount } from './solana-address.ts';

export type ForwardState = 'PENDING' | 'CONFIRMED' | 'COMPLETE' | 'FAILED';

export interface Burn {
  readonly nonce: string;
  readonly transactionHash: string;
  readonly message: Uint8Array;
  readonly sent: BurnFields;
  /** Seconds of chain time. */
  readonly burnedAt: number;
  readonly fault: BurnFault | undefined;
  readonly attestation: Attestation | undefined;
  readonly forwardState: ForwardState | undefined;
  readonly forwardTxHash: string | undefined;
}

export interface Attestation {
  readonly completedAt: number;
  readonly feeExecuted: bigint;
  /** 0: never expires. */
  readonly expirationBlock: bigint;
}

interface Row {
  readonly nonce: string;
  readonly transaction_hash: string;
  readonly message: Uint8Array;
  readonly burned_at: bigint;
  readonly fault: BurnFault | null;
  readonly completed_at: bigint | null;
  readonly fee_executed: string | null;
  readonly expiration_block: bigint | null;
  readonly forward_state: ForwardState | null;
  readonly signature: string | null;
}

export async function findBurns(tx: Db, which: Sql): Promise<Burn[]> {
  const rows = await tx.rows<Row>(sql`
    select m.nonce, m.transaction_hash, m.message, b.timestamp as burned_at, m.fault, m.completed_at, m.fee_executed,
           m.expiration_block, m.forward_state, s.signature
      from sandbox.bridge_burns m
      join sandbox.transactions t on t.version = m.version and t.hash = m.transaction_hash
      join sandbox.blocks b on b.number = t.block_number
      left join sandbox.solana_transactions s on s.nonce = m.nonce
     where ${which} order by m.transaction_hash, m.ordinal`);
  return rows.map(burnOf);
}

export async function saveBurn(tx: Db, burn: Burn): Promise<void> {
  const { nonce, fault, attestation, forwardState } = burn;
  await tx.run(sql`
    update sandbox.bridge_burns set fault = ${fault ? JSON.stringify(fault) : null}::json,
      completed_at = ${attestation?.completedAt ?? null}, fee_executed = ${attestation?.feeExecuted ?? null},
      expiration_block = ${attestation?.expirationBlock ?? null}, forward_state = ${forwardState ?? null}
     where nonce = ${nonce}`);
}

/** A mint is never undone. */
export function isMinted({ forwardState }: Burn): boolean {
  return forwardState === 'CONFIRMED' || forwardState === 'COMPLETE';
}

function burnOf(row: Row): Burn {
  const sent = decodeMessage(row.message);
  if (!sent) throw new Error(`The message of burn ${row.nonce} cannot be read.`);
  return {
    nonce: row.nonce,
    transactionHash: row.transaction_hash,
    message: row.message,
    sent,
    burnedAt: Number(row.burned_at),
    fault: row.fault ?? undefined,
    attestation: attestationOf(row),
    forwardState: row.forward_state ?? undefined,
    forwardTxHash: row.signature ?? undefined,
  };
}

function attestationOf({ completed_at, fee_executed, expiration_block }: Row): Attestation | undefined {
  if (completed_at === null || fee_executed === null || expiration_block === null) return undefined;
  return {
    completedAt: Number(completed_at),
    feeExecuted: BigInt(fee_executed),
    expirationBlock: expiration_block,
  };
}

/** More than one transaction can send, so a full page always contains a whole transaction. */
const PAGE = 10_000;
const MESSAGE_SENT = toHex(selector('MessageSent'));

interface SentMessage {
  readonly version: number;
  readonly transaction_hash: string;
  readonly data: readonly string[];
}

/** Stores the burns of newly sealed blocks. The caller holds the lock on the settings. */
export async function discoverBurns(tx: Db): Promise<void> {
  for (;;) {
    const cursor = await tx.one<{ seen: number; sealed: number }>(sql`
      select b.seen_version as seen, c.sealed_version as sealed from sandbox.bridge b, sandbox.chain c`);
    if (!cursor || cursor.sealed <= cursor.seen) return;
    const page = await messagesBetween(tx, cursor.seen, cursor.sealed);
    const full = page.length === PAGE;
    // The last transaction of a full page may continue on the next one.
    const last = full ? (page.at(-1)?.version ?? cursor.sealed) - 1 : cursor.sealed;
    await storeBurns(
      tx,
      page.filter(({ version }) => version <= last),
    );
    await tx.run(sql`update sandbox.bridge set seen_version = ${last}`);
    if (!full) return;
  }
}

function messagesBetween(tx: Db, seen: number, sealed: number): Promise<SentMessage[]> {
  return tx.rows<SentMessage>(sql`
    select e.version, t.hash as transaction_hash, e.data
      from sandbox.events e join sandbox.transactions t on t.version = e.version
     where e.from_address = ${toHex(MESSAGE_TRANSMITTER_ADDRESS)} and e.keys[1] = ${MESSAGE_SENT}
       and e.version > ${seen} and e.version <= ${sealed}
     order by e.version, e.index limit ${PAGE}`);
}

async function storeBurns(tx: Db, page: readonly SentMessage[]): Promise<void> {
  const counts = new Map<string, number>();
  for (const sent of page) {
    const message = byteArray.read(new Reader(sent.data.map(BigInt)));
    const fields = decodeMessage(message);
    // Anyone can send messages; only those of the token messenger stand for burned tokens.
    if (fields?.sender !== TOKEN_MESSENGER_ADDRESS) continue;
    const ordinal = counts.get(sent.transaction_hash) ?? 0;
    counts.set(sent.transaction_hash, ordinal + 1);
    await insertBurn(tx, sent, { message, ordinal, mintRecipient: fields.mintRecipient });
  }
}

interface FoundBurn {
  readonly message: Uint8Array;
  readonly ordinal: number;
  readonly mintRecipient: bigint;
}

/** The nonce survives a reorg, so a burn that returns is still minted once. */
async function insertBurn(tx: Db, { transaction_hash, version }: SentMessage, found: FoundBurn): Promise<void> {
  const nonce = nonceOf(transaction_hash, found.ordinal);
  const recipient = encodeBase58(toBytes(found.mintRecipient, 32) ?? new Uint8Array());
  const returned = await tx.run(sql`
    update sandbox.bridge_burns set version = ${version}, message = ${Buffer.from(found.message)},
      mint_recipient = ${recipient} where nonce = ${nonce}`);
  if (returned > 0) return;
  const fault = await takeFaultOfNewBurn(tx, transaction_hash, version);
  await tx.run(sql`
    insert into sandbox.bridge_burns (nonce, transaction_hash, ordinal, version, message, mint_recipient, fault)
    values (${nonce}, ${transaction_hash}, ${found.ordinal}, ${version}, ${Buffer.from(found.message)}, ${recipient},
      ${fault ? JSON.stringify(fault) : null}::json)`);
}

/** Deterministic: every process derives the same nonce. */
export function nonceOf(transactionHash: string, ordinal: number): string {
  return `0x${createHash('sha256').update(`svc sandbox burn ${transactionHash} ${ordinal}`).digest('hex')}`;
}

/** Advances burns to `now` (seconds of chain time) and returns the indexed ones. Every read advances first. */
export function advanceBurns(db: Db, which: Sql, now: number): Promise<Burn[]> {
  return db.tx(async (tx) => {
    const settings = await lockSettings(tx);
    await discoverBurns(tx);
    const burns: Burn[] = [];
    for (const burn of await findBurns(tx, which)) burns.push(await advance(tx, burn, settings, now));
    return burns.filter((burn) => isIndexed(burn, settings, now));
  });
}

export function reattest(db: Db, nonce: string, now: number): Promise<Burn | undefined> {
  return db.tx(async (tx) => {
    const settings = await lockSettings(tx);
    await discoverBurns(tx);
    const [found] = await findBurns(tx, sql`m.nonce = ${nonce}`);
    const burn = found && (await advance(tx, found, settings, now));
    if (!burn || !isIndexed(burn, settings, now)) return undefined;
    const renewed = renew(burn, now);
    return renewed === burn ? burn : storeProgress(tx, burn, progress(renewed, settings, now));
  });
}

async function advance(tx: Db, found: Burn, settings: BridgeSettings, now: number): Promise<Burn> {
  const burn = found.fault ? found : { ...found, fault: await takeFaultOfBurn(tx, found.transactionHash) };
  return storeProgress(tx, found, progress(burn, settings, now));
}

async function storeProgress(tx: Db, before: Burn, after: Burn): Promise<Burn> {
  if (isDeepStrictEqual(before, after)) return after;
  await saveBurn(tx, after);
  const { attestation } = after;
  if (!attestation || !isMinted(after) || isMinted(before)) return after;
  return { ...after, forwardTxHash: await mint(tx, after, attestation) };
}

/** One day: lifetime of a fast attestation. */
const LIFETIME_SLOTS = 216_000n;

export function isIndexed({ fault, attestation, burnedAt }: Burn, settings: BridgeSettings, now: number): boolean {
  if (fault?.kind === 'never-indexed') return false;
  return attestation !== undefined || now >= burnedAt + settings.indexedSeconds;
}

/** The state of a burn at `now`. Never moves backwards, even if settings change or the clock is set back. */
export function progress(burn: Burn, settings: BridgeSettings, now: number): Burn {
  if (burn.fault?.kind === 'never-indexed') return burn;
  const attestation = burn.attestation ?? attestationAt(burn, settings, now);
  if (!attestation) return burn;
  const attested = { ...burn, attestation: applyExpiredFault(burn, attestation) };
  return { ...attested, forwardState: forwardStateAt(attested, attested.attestation, settings, now) };
}

export function renew(burn: Burn, now: number): Burn {
  const { attestation, fault } = burn;
  if (!attestation || isMinted(burn)) return burn;
  const expired = isExpired(attestation, now);
  if (!expired && fault?.kind !== 'forward-failed') return burn;
  const expirationBlock = attestation.expirationBlock === 0n ? 0n : slotAt(now) + LIFETIME_SLOTS;
  return {
    ...burn,
    fault: fault?.kind === 'expired' || fault?.kind === 'forward-failed' ? undefined : fault,
    attestation: { ...attestation, completedAt: now, expirationBlock },
    forwardState: undefined,
  };
}

function attestationAt(burn: Burn, settings: BridgeSettings, now: number): Attestation | undefined {
  const { amount, maxFee, minFinalityThreshold, hookData } = burn.sent;
  const fast = isFast(minFinalityThreshold);
  const wait = Math.max(settings.indexedSeconds, fast ? settings.fastSeconds : settings.standardSeconds);
  const completedAt = burn.burnedAt + wait + (burn.fault?.delaySeconds ?? 0);
  if (now < completedAt) return undefined;
  const forwarded = readForwardHook(hookData).kind !== 'none';
  return {
    completedAt,
    feeExecuted: feeOf({ amount, maxFee, fast, forwarded }, settings),
    expirationBlock: fast ? slotAt(completedAt) + LIFETIME_SLOTS : 0n,
  };
}

function applyExpiredFault(burn: Burn, attestation: Attestation): Attestation {
  if (burn.fault?.kind !== 'expired' || isMinted(burn)) return attestation;
  return { ...attestation, expirationBlock: slotAt(attestation.completedAt) - 1n };
}

function isExpired({ expirationBlock }: Attestation, at: number): boolean {
  return expirationBlock !== 0n && expirationBlock < slotAt(at);
}

function forwardStateAt(
  burn: Burn,
  attestation: Attestation,
  { forwardSeconds }: BridgeSettings,
  now: number,
): ForwardState | undefined {
  if (burn.forwardState === 'COMPLETE') return 'COMPLETE';
  const passed = now - attestation.completedAt;
  if (burn.forwardState === 'CONFIRMED') return passed >= forwardSeconds ? 'COMPLETE' : 'CONFIRMED';
  const hook = readForwardHook(burn.sent.hookData);
  if (hook.kind === 'none') return undefined;
  // The forwarder acts immediately, so the attestation must have been valid when it was issued.
  const refused =
    hook.kind === 'malformed' || !canMint(burn, hook.owner) || isExpired(attestation, attestation.completedAt);
  if (refused || burn.fault?.kind === 'forward-failed') return 'FAILED';
  if (burn.fault?.kind === 'unminted') return 'PENDING';
  if (passed >= forwardSeconds) return 'COMPLETE';
  return passed * 2 >= forwardSeconds ? 'CONFIRMED' : 'PENDING';
}

function canMint({ sent }: Burn, owner: Uint8Array): boolean {
  if (sent.destinationDomain !== SOLANA_DOMAIN || sent.destinationCaller !== 0n) return false;
  const recipient = toBytes(sent.mintRecipient, 32);
  return recipient !== undefined && Buffer.compare(usdcTokenAccount(owner), recipient) === 0;
}

export async function mint(tx: Db, burn: Burn, { feeExecuted, completedAt }: Attestation): Promise<string> {
  const hook = readForwardHook(burn.sent.hookData);
  if (hook.kind !== 'owner') throw new Error(`Burn ${burn.nonce} names no owner to mint for.`);
  const account = encodeBase58(usdcTokenAccount(hook.owner));
  const amount = burn.sent.amount - feeExecuted;
  const signature = signatureOf(burn.nonce);
  await tx.run(sql`
    insert into sandbox.solana_accounts (token_account, owner, balance)
    values (${account}, ${encodeBase58(hook.owner)}, ${amount})
    on conflict (token_account) do update set balance = sandbox.solana_accounts.balance + excluded.balance`);
  // A second mint of a nonce fails here, which rolls the credit back. Mints of an account have slots in their order.
  await tx.run(sql`
    insert into sandbox.solana_transactions (signature, nonce, token_account, amount, slot, block_time)
    select ${signature}, ${burn.nonce}, ${account}, ${amount}, greatest(${slotAt(completedAt)}, max(slot) + 1),
           ${completedAt}
      from sandbox.solana_transactions where token_account = ${account}`);
  return signature;
}

export function signatureOf(nonce: string): string {
  return encodeBase58(createHash('sha512').update(`svc sandbox mint ${nonce}`).digest());
}
