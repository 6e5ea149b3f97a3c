import { toHex } from '@svc/starknet';
import { type EventFilter, type FoundEvent, findEvents, versionBefore } from '../chain/queries.ts';
import { FieldError, type Fields, readFelt, readFelts, readInteger, readObject } from '../chain/transaction.ts';
import { blockOf, type CallContext, type Method, rpcErrors } from './context.ts';

/** Limits of public nodes. */
const MAX_CHUNK = 1_024;
const MAX_KEYS = 256;
const MAX_POSITIONS = 16;
const MAX_ADDRESSES = 100;

const getEvents: Method = {
  params: ['filter'],
  async run(context, params) {
    const filter = readObject(params.filter, 'filter');
    const chunk = readInteger(filter.chunk_size, 'filter.chunk_size', 0, Number.MAX_SAFE_INTEGER);
    if (chunk > MAX_CHUNK) throw rpcErrors.pageSizeTooBig();
    const found = await findEvents(context.db, {
      versions: await readVersions(context, filter),
      addresses: readAddresses(filter.address),
      keys: readKeys(filter.keys),
      after: readToken(filter.continuation_token),
      // The extra one tells whether there is another page.
      limit: chunk + 1,
    });
    const events = found.slice(0, chunk);
    const last = events.at(-1);
    return {
      events: events.map((event) => showEvent(event, context)),
      ...(found.length > chunk && last && { continuation_token: `${last.version}-${last.index}` }),
    };
  },
};

async function readVersions(context: CallContext, filter: Fields): Promise<EventFilter['versions']> {
  const from = filter.from_block === undefined ? undefined : await blockOf(context, filter.from_block, 'from_block');
  const to = await blockOf(context, filter.to_block ?? 'latest', 'to_block');
  return { above: from ? await versionBefore(context.reads, from) : -1, upTo: to.version };
}

function readAddresses(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return [toHex(readFelt(value, 'filter.address'))];
  if (value.length > MAX_ADDRESSES) throw new FieldError(`filter.address must have at most ${MAX_ADDRESSES} items`);
  return readFelts(value, 'filter.address').map(toHex);
}

function readKeys(value: unknown): string[][] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new FieldError('filter.keys must be an array of arrays of felts');
  const keys = value.map((position, index) => readFelts(position, `filter.keys[${index}]`).map(toHex));
  if (keys.length > MAX_POSITIONS || keys.flat().length > MAX_KEYS) throw rpcErrors.tooManyKeys();
  return keys;
}

function readToken(value: unknown): EventFilter['after'] {
  if (value === undefined || value === null) return undefined;
  const match = typeof value === 'string' ? /^(\d{1,9})-(\d{1,9})$/.exec(value) : null;
  if (!match) throw rpcErrors.invalidContinuationToken();
  return { version: Number(match[1]), index: Number(match[2]) };
}

function showEvent(event: FoundEvent, { spec }: CallContext): Record<string, unknown> {
  return {
    from_address: event.from_address,
    keys: event.keys,
    data: event.data,
    ...(event.block_hash !== null && { block_hash: event.block_hash }),
    block_number: event.block_number,
    transaction_hash: event.transaction_hash,
    ...(spec !== '0.9.0' && { transaction_index: event.transaction_index, event_index: event.index }),
  };
}

export const eventMethods: Record<string, Method> = { starknet_getEvents: getEvents };
