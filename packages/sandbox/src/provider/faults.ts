import { type Db, sql } from '@svc/store';

/**
 * What can be ordered to go wrong with a request, without the order being taken: `unavailable` (HTTP 500), `close` (the connection
 * closes), `hang` (no answer ever comes).
 */
export const requestFaultKinds = ['unavailable', 'close', 'hang'] as const;
/** The same after the order was taken and, where it is one that is delivered at once, delivered. */
export const answerFaultKinds = ['deliver-unavailable', 'deliver-close', 'deliver-hang'] as const;
/**
 * And with an order that is new: `slow` (accepted first, its result told later), and besides `no-callback` (never told, only found out),
 * `callback-twice`, `callback-contradicting` (the truth first, then the opposite).
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
  /** Only for orders of this reference. */
  readonly reference?: string;
  /** How many times; without it, as often as it fits until the time is over. */
  readonly count?: number;
  readonly seconds: number;
}

export interface ProviderFault extends Omit<NewProviderFault, 'count' | 'seconds'> {
  readonly id: number;
  readonly remaining?: number;
  readonly expiresAt: string;
}

/** A list that a person made by hand; more is a program gone wild. */
const MAX_ORDERS = 1_000;

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

/** Answers undefined when there are too many already. */
export async function orderProviderFault(db: Db, fault: NewProviderFault): Promise<ProviderFault | undefined> {
  return db.tx(async (tx) => {
    await tx.run(sql`delete from sandbox.provider_faults where not (${inForce})`);
    const row = await tx.one<Row>(sql`
      insert into sandbox.provider_faults (kind, request, reference, remaining, expires_at)
      select ${fault.kind}, ${fault.request}, ${fault.reference ?? null}, ${fault.count ?? null},
        clock_timestamp() + make_interval(secs => ${fault.seconds})
       where (select count(*) from sandbox.provider_faults) < ${MAX_ORDERS}
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

/** Uses up one turn of the oldest order of these kinds that fits. */
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
