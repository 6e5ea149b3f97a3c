import { type Db, type Reads, sql } from '@svc/store';

export interface BridgeSettings {
  /** From the burn's block until the service has heard of it. */
  readonly indexedSeconds: number;
  /** From the burn's block until a fast, or a standard, attestation. */
  readonly fastSeconds: number;
  readonly standardSeconds: number;
  /** From the attestation until the forwarded mint is final. */
  readonly forwardSeconds: number;
  /** Hundred of these are a basis point. */
  readonly fastFeePerMillion: number;
  /** In the smallest unit of USDC. */
  readonly forwardFee: number;
  readonly requestsPerSecond: number;
}

interface Row {
  readonly indexed_seconds: number;
  readonly fast_seconds: number;
  readonly standard_seconds: number;
  readonly forward_seconds: number;
  readonly fast_fee_per_million: number;
  readonly forward_fee: bigint;
  readonly requests_per_second: number;
}

const columns = sql`indexed_seconds, fast_seconds, standard_seconds, forward_seconds, fast_fee_per_million, forward_fee,
  requests_per_second`;

export async function readSettings(reads: Reads): Promise<BridgeSettings> {
  return settingsOf(await reads.one<Row>(sql`select ${columns} from sandbox.bridge`));
}

/** Makes the caller the only one who moves burns on until its transaction ends. */
export async function lockSettings(tx: Db): Promise<BridgeSettings> {
  return settingsOf(await tx.one<Row>(sql`select ${columns} from sandbox.bridge for update`));
}

/** What is not given stays as it is. */
export async function changeSettings(db: Db, changes: Partial<BridgeSettings>): Promise<BridgeSettings> {
  return db.tx(async (tx) => {
    const next = { ...(await lockSettings(tx)), ...changes };
    await tx.run(sql`
      update sandbox.bridge set indexed_seconds = ${next.indexedSeconds}, fast_seconds = ${next.fastSeconds},
        standard_seconds = ${next.standardSeconds}, forward_seconds = ${next.forwardSeconds},
        fast_fee_per_million = ${next.fastFeePerMillion}, forward_fee = ${next.forwardFee},
        requests_per_second = ${next.requestsPerSecond}`);
    return next;
  });
}

function settingsOf(row: Row | undefined): BridgeSettings {
  if (!row) throw new Error('The settings of the bridge are missing.');
  return {
    indexedSeconds: row.indexed_seconds,
    fastSeconds: row.fast_seconds,
    standardSeconds: row.standard_seconds,
    forwardSeconds: row.forward_seconds,
    fastFeePerMillion: row.fast_fee_per_million,
    forwardFee: Number(row.forward_fee),
    requestsPerSecond: row.requests_per_second,
  };
}
