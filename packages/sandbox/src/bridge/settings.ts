import { ApiError } from '@svc/protocol';
import { parseFelt, toHex } from '@svc/starknet';
import { type Db, type Reads, sql } from '@svc/store';
import { type Body, readBody, readOneOf, readOptionalWhole, readText, readWhole } from '../request-body.ts';
import {
  bridgeRequests,
  burnFaultKinds,
  type FaultParameters,
  type NewBridgeFault,
  requestFaultKinds,
  tamperedFields,
} from './faults.ts';

export interface BridgeSettings {
  /** From the burn's block until the service knows it. */
  readonly indexedSeconds: number;
  /** From the burn's block until the attestation. */
  readonly fastSeconds: number;
  readonly standardSeconds: number;
  /** From the attestation until the forwarded mint is final. */
  readonly forwardSeconds: number;
  /** 100 of these are a basis point. */
  readonly fastFeePerMillion: number;
  /** Smallest unit of USDC. */
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

export async function lockSettings(tx: Db): Promise<BridgeSettings> {
  return settingsOf(await tx.one<Row>(sql`select ${columns} from sandbox.bridge for update`));
}

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

const MAX_FAULT_SECONDS = 86_400;
const DEFAULT_FAULT_SECONDS = 3_600;
const MAX_FAULT_COUNT = 10_000;
const MAX_HASH_LENGTH = 80;
const MAX_SECONDS = 30 * 86_400;
/** A tenth of the amount. */
const MAX_FEE_PER_MILLION = 100_000;
/** 100 USDC. */
const MAX_FORWARD_FEE = 100_000_000;
const MAX_REQUESTS_PER_SECOND = 1_000_000;

const limits = {
  indexedSeconds: [0, MAX_SECONDS],
  fastSeconds: [0, MAX_SECONDS],
  standardSeconds: [0, MAX_SECONDS],
  forwardSeconds: [0, MAX_SECONDS],
  fastFeePerMillion: [0, MAX_FEE_PER_MILLION],
  forwardFee: [0, MAX_FORWARD_FEE],
  requestsPerSecond: [1, MAX_REQUESTS_PER_SECOND],
} as const satisfies Record<keyof BridgeSettings, readonly [number, number]>;

export function readSettingsChange(value: unknown): Partial<BridgeSettings> {
  const body = readBody(value);
  const unknown = Object.keys(body).find((name) => !Object.hasOwn(limits, name));
  if (unknown !== undefined) throw new ApiError('invalid_request', 'The body has a field that is no setting.');
  const given = Object.entries(limits).filter(([name]) => body[name] !== undefined);
  return Object.fromEntries(given.map(([name, [min, max]]) => [name, readWhole(body, name, min, max)]));
}

/** Without `count` and `seconds`: once, within an hour. */
export function readBridgeFault(value: unknown): NewBridgeFault {
  const body = readBody(value);
  const kind = readOneOf(body, 'kind', [...burnFaultKinds, ...requestFaultKinds]);
  const ofRequests = requestFaultKinds.some((one) => one === kind);
  if (body.request !== undefined && !ofRequests) {
    throw new ApiError('invalid_request', 'body.request goes with faults of requests only.');
  }
  const count = readOptionalWhole(body, 'count', 1, MAX_FAULT_COUNT);
  const seconds = readOptionalWhole(body, 'seconds', 1, MAX_FAULT_SECONDS);
  const times = count ?? (seconds === undefined ? 1 : undefined);
  return {
    kind,
    ...(body.transactionHash !== undefined && { transactionHash: readHash(body) }),
    ...(body.request !== undefined && { request: readOneOf(body, 'request', bridgeRequests) }),
    ...(times !== undefined && { count: times }),
    seconds: seconds ?? DEFAULT_FAULT_SECONDS,
    ...readParameters(kind, body),
  };
}

export function normalHash(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  const hash = parseFelt(text.replace(/^0X/, '0x'));
  return hash.ok ? toHex(hash.value) : undefined;
}

function readHash(body: Body): string {
  const hash = normalHash(readText(body, 'transactionHash', MAX_HASH_LENGTH));
  if (hash === undefined) throw new ApiError('invalid_request', 'body.transactionHash must be a transaction hash.');
  return hash;
}

function readParameters(kind: NewBridgeFault['kind'], body: Body): FaultParameters {
  if (kind === 'delayed') return { delaySeconds: readWhole(body, 'delaySeconds', 1, MAX_SECONDS) };
  if (kind !== 'tampered-message') return {};
  return { field: body.field === undefined ? 'amount' : readOneOf(body, 'field', tamperedFields) };
}
