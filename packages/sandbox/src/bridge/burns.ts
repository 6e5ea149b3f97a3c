import { type Db, type Sql, sql } from '@svc/store';
import type { BurnFault } from './faults.ts';
import { type BurnFields, decodeMessage } from './message.ts';

export type ForwardState = 'PENDING' | 'CONFIRMED' | 'COMPLETE' | 'FAILED';

/** A burn that stands in the chain, and how far the service has come with it. */
export interface Burn {
  /** `0x` and 64 digits. */
  readonly nonce: string;
  readonly transactionHash: string;
  /** As it was sent. */
  readonly message: Uint8Array;
  readonly sent: BurnFields;
  /** When its block was made, in seconds of the chain's time. */
  readonly burnedAt: number;
  readonly fault: BurnFault | undefined;
  readonly attestation: Attestation | undefined;
  readonly forwardState: ForwardState | undefined;
  readonly forwardTxHash: string | undefined;
}

/** What the service decided when it attested a burn. */
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

/** The join with the chain leaves out what was reorganised away. */
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

/** Whether the sandbox's Solana has the money; from then on nothing takes it back. */
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
