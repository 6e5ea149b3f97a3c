import { ApiError } from '@svc/protocol';
import { type Db, sql } from '@svc/store';
import { readBody, readOneOf, readOptionalText, readOptionalWhole, readWhole } from '../request-body.ts';

/** Faults before the order is accepted: `unavailable` (HTTP 500), `close` (the connection closes), `hang` (no answer). */
export const requestFaultKinds = ['unavailable', 'close', 'hang'] as const;
/** The same after the order is accepted and, unless it is slow, delivered. */
export const answerFaultKinds = ['deliver-unavailable', 'deliver-close', 'deliver-hang'] as const;
/**
 * Faults of a new order: `slow` (accepted, result by callback), `no-callback` (result only on look-up), `callback-twice`,
 * `callback-contradicting` (the true result, then the opposite).
 */
export const callbackFaultKinds = ['slow', 'no-callback', 'callback-twice', 'callback-contradicting'] as const;

export type RequestFaultKind = (typeof requestFaultKinds)[number] | (typeof answerFaultKinds)[number];
export type CallbackFaultKind = (typeof callbackFaultKinds)[number];
export type ProviderFaultKind = RequestFaultKind | CallbackFaultKind;

export const providerRequests = ['order', 'look-up'] as const;
export type ProviderRequest = (typeof providerRequests)[number];

export interface NewProviderFault {
  readonly kind: ProviderFaultKind;
  readonly request: ProviderRequest;
  readonly reference?: string;
  /** Without it, the fault applies until it expires. */
  readonly count?: number;
  readonly seconds: number;
}

export interface ProviderFault extends Omit<NewProviderFault, 'count' | 'seconds'> {
  readonly id: number;
  readonly remaining?: number;
  readonly expiresAt: string;
}

/** Faults are added by hand; more is a runaway program. */
const MAX_FAULTS = 1_000;

interface Row {
  readonly id: number;
  readonly kind: ProviderFaultKind;
  readonly request: ProviderRequest;
  readonly reference: string | null;
  readonly remaining: number | null;
  readonly expires_at: Date;
}

const columns = sql`id, kind, request, reference, remaining, expires_at`;
const inForce = sql`(remaining is null or remaining > 0) and expires_at > clock_timestamp()`;

export async function addProviderFault(db: Db, fault: NewProviderFault): Promise<ProviderFault | undefined> {
  return db.tx(async (tx) => {
    await tx.run(sql`delete from sandbox.provider_faults where not (${inForce})`);
    const row = await tx.one<Row>(sql`
      insert into sandbox.provider_faults (kind, request, reference, remaining, expires_at)
      select ${fault.kind}, ${fault.request}, ${fault.reference ?? null}, ${fault.count ?? null},
        clock_timestamp() + make_interval(secs => ${fault.seconds})
       where (select count(*) from sandbox.provider_faults) < ${MAX_FAULTS}
      returning ${columns}`);
    return row && faultOf(row);
  });
}

export async function listProviderFaults(db: Db): Promise<ProviderFault[]> {
  const rows = await db.rows<Row>(sql`select ${columns} from sandbox.provider_faults where ${inForce} order by id`);
  return rows.map(faultOf);
}

export async function clearProviderFaults(db: Db): Promise<void> {
  await db.run(sql`delete from sandbox.provider_faults`);
}

export async function takeProviderFault<K extends ProviderFaultKind>(
  db: Db,
  kinds: readonly K[],
  request: ProviderRequest,
  reference: string | undefined,
): Promise<K | undefined> {
  const row = await db.one<Row>(sql`
    update sandbox.provider_faults set remaining = remaining - 1
     where id = (select id from sandbox.provider_faults
                  where kind = any(${kinds}) and request = ${request}
                    and (reference is null or reference = ${reference ?? null}) and ${inForce}
                  order by id limit 1 for update)
       and (remaining is null or remaining > 0)
    returning ${columns}`);
  return row?.kind as K | undefined;
}

function faultOf(row: Row): ProviderFault {
  return {
    id: row.id,
    kind: row.kind,
    request: row.request,
    ...(row.reference !== null && { reference: row.reference }),
    ...(row.remaining !== null && { remaining: row.remaining }),
    expiresAt: row.expires_at.toISOString(),
  };
}

const MAX_FAULT_SECONDS = 86_400;
const DEFAULT_FAULT_SECONDS = 3_600;
const MAX_FAULT_COUNT = 10_000;
const MAX_REFERENCE_LENGTH = 255;
const MAX_SLOW_SECONDS = 86_400;
const MAX_ORDER_ID_LENGTH = 255;
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;

/** Without `count` and `seconds`: once, within an hour. Only faults before acceptance apply to a `look-up`. */
export function readProviderFault(value: unknown): NewProviderFault {
  const body = readBody(value);
  const kind = readOneOf(body, 'kind', [...requestFaultKinds, ...answerFaultKinds, ...callbackFaultKinds]);
  const request = body.request === undefined ? 'order' : readOneOf(body, 'request', providerRequests);
  if (request === 'look-up' && !requestFaultKinds.some((one) => one === kind)) {
    throw new ApiError('invalid_request', `A look-up takes one of ${requestFaultKinds.join(', ')}.`);
  }
  const reference = readOptionalText(body, 'reference', MAX_REFERENCE_LENGTH);
  const count = readOptionalWhole(body, 'count', 1, MAX_FAULT_COUNT);
  const seconds = readOptionalWhole(body, 'seconds', 1, MAX_FAULT_SECONDS);
  const times = count ?? (seconds === undefined ? 1 : undefined);
  return {
    kind,
    request,
    ...(reference !== undefined && { reference }),
    ...(times !== undefined && { count: times }),
    seconds: seconds ?? DEFAULT_FAULT_SECONDS,
  };
}

export function readSlowSecondsChange(value: unknown): number {
  return readWhole(readBody(value), 'slowSeconds', 0, MAX_SLOW_SECONDS);
}

export function readOrdersQuery({ orderId, limit }: Record<string, unknown>): {
  readonly orderId: string | undefined;
  readonly limit: number;
} {
  const isId = typeof orderId === 'string' && orderId.length <= MAX_ORDER_ID_LENGTH && !orderId.includes('\0');
  if (orderId !== undefined && !isId)
    throw new ApiError('invalid_request', 'query.orderId must be the id of an order.');
  if (limit === undefined) return { orderId, limit: DEFAULT_LIMIT };
  const count = typeof limit === 'string' && /^\d{1,6}$/.test(limit) ? Number(limit) : 0;
  if (count < 1) throw new ApiError('invalid_request', `query.limit must be a whole number from 1 to ${MAX_LIMIT}.`);
  return { orderId, limit: Math.min(count, MAX_LIMIT) };
}
