import { createHash } from 'node:crypto';
import { selector, toHex } from '@svc/starknet';
import { type Db, sql } from '@svc/store';
import { toBytes } from '../contracts/byte-array.ts';
import { MESSAGE_TRANSMITTER_ADDRESS, TOKEN_MESSENGER_ADDRESS } from '../contracts/cctp/constants.ts';
import { byteArray, Reader } from '../contracts/codec.ts';
import { encodeBase58 } from './base58.ts';
import { takeFaultOfNewBurn } from './faults.ts';
import { decodeMessage } from './message.ts';

/** More than the largest transaction can send, so that a page never ends within its first one. */
const PAGE = 10_000;
const MESSAGE_SENT = toHex(selector('MessageSent'));

interface Sent {
  readonly version: number;
  readonly transaction_hash: string;
  readonly data: readonly string[];
}

/** Takes up the burns of sealed blocks that the service has not heard of. The caller holds the lock of the settings. */
export async function discoverBurns(tx: Db): Promise<void> {
  for (;;) {
    const place = await tx.one<{ seen: number; sealed: number }>(sql`
      select b.seen_version as seen, c.sealed_version as sealed from sandbox.bridge b, sandbox.chain c`);
    if (!place || place.sealed <= place.seen) return;
    const page = await sentBetween(tx, place.seen, place.sealed);
    const full = page.length === PAGE;
    // The last transaction of a full page may go on behind it.
    const last = full ? (page.at(-1)?.version ?? place.sealed) - 1 : place.sealed;
    await takeUp(
      tx,
      page.filter(({ version }) => version <= last),
    );
    await tx.run(sql`update sandbox.bridge set seen_version = ${last}`);
    if (!full) return;
  }
}

function sentBetween(tx: Db, seen: number, sealed: number): Promise<Sent[]> {
  return tx.rows<Sent>(sql`
    select e.version, t.hash as transaction_hash, e.data
      from sandbox.events e join sandbox.transactions t on t.version = e.version
     where e.from_address = ${toHex(MESSAGE_TRANSMITTER_ADDRESS)} and e.keys[1] = ${MESSAGE_SENT}
       and e.version > ${seen} and e.version <= ${sealed}
     order by e.version, e.index limit ${PAGE}`);
}

async function takeUp(tx: Db, page: readonly Sent[]): Promise<void> {
  const counts = new Map<string, number>();
  for (const sent of page) {
    const message = byteArray.read(new Reader(sent.data.map(BigInt)));
    const fields = decodeMessage(message);
    // Anyone may send messages; only what the token messenger sends stands for burned tokens.
    if (fields?.sender !== TOKEN_MESSENGER_ADDRESS) continue;
    const ordinal = counts.get(sent.transaction_hash) ?? 0;
    counts.set(sent.transaction_hash, ordinal + 1);
    await insertBurn(tx, sent, { message, ordinal, mintRecipient: fields.mintRecipient });
  }
}

interface Found {
  readonly message: Uint8Array;
  readonly ordinal: number;
  readonly mintRecipient: bigint;
}

/** A burn that comes back after a reorganisation has the same nonce, so it is still minted once. */
async function insertBurn(tx: Db, { transaction_hash, version }: Sent, found: Found): Promise<void> {
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

/** Follows from the burn alone, so that every process gives it the same. */
export function nonceOf(transactionHash: string, ordinal: number): string {
  return `0x${createHash('sha256').update(`svc sandbox burn ${transactionHash} ${ordinal}`).digest('hex')}`;
}
