import type { Event, EventType, endpoints } from '@svc/protocol';
import type { Client } from './client/client.ts';
import { SvcApiError, SvcConnectionError } from './client/errors.ts';
import { isRetryable, openStream } from './client/request.ts';
import { isObject } from './client/values.ts';

export interface StreamEventsParams {
  /** The id of the last event that you have: the stream continues behind it. Default: events from now on. */
  readonly after?: string | undefined;
  /** Default: all types. */
  readonly types?: readonly EventType[] | undefined;
  /** Ends the stream, without an error. */
  readonly signal?: AbortSignal | undefined;
  /** Called when events begin to arrive, also after a cut. */
  readonly onConnect?: (() => void) | undefined;
  /** Called when the connection is lost; it is opened again after the pause. */
  readonly onDisconnect?: ((pauseMs: number) => void) | undefined;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** The service sends something every 15 seconds. */
const SILENCE_MS = 45_000;
const MAX_MESSAGE = 4_194_304;

/**
 * Follows the events of your environment over a connection to the service, so that no public address is needed: each
 * event once, in order. After a cut it connects again and continues where it was. An error before the first connection,
 * and one that a retry does not resolve, is thrown. Server only: needs the secret key.
 *
 * @example
 * for await (const { type, data } of svc.webhooks.streamEvents({ after: 'evt_0' })) {
 *   console.log(type, data);
 *   break; // ends the stream
 * }
 */
export async function* streamEvents(
  client: Client,
  params: StreamEventsParams = {},
): AsyncGenerator<Event, void, undefined> {
  const { types, signal, onConnect, onDisconnect } = params;
  let { after } = params;
  let attempts = 0;
  let hasConnected = false;
  while (!signal?.aborted) {
    const ended = new AbortController();
    const until = signal ? AbortSignal.any([signal, ended.signal]) : ended.signal;
    let failure: unknown;
    try {
      const body = await openStream<typeof endpoints.streamEvents>(client, {
        route: 'GET /organization/events/stream',
        access: 'secret',
        query: { after },
        signal: until,
      });
      hasConnected = true;
      let isFirst = true;
      for await (const { id, data } of messages(body)) {
        attempts = 0;
        after = id ?? after;
        // The first message says where the stream begins, so that a cut before the first event loses none.
        if (isFirst) onConnect?.();
        isFirst = false;
        const event = data === undefined ? undefined : readEvent(data);
        if (event && (types?.includes(event.type) ?? true)) yield event;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!hasConnected || !isRetryable(error)) throw error;
      failure = error;
    } finally {
      ended.abort();
    }
    if (signal?.aborted) return;
    const pauseMs = pauseAfter(failure, attempts, client);
    attempts += 1;
    onDisconnect?.(pauseMs);
    await client.runtime.sleep(pauseMs, signal).catch(() => undefined);
  }
}

function pauseAfter(failure: unknown, attempts: number, { runtime }: Client): number {
  const asked = failure instanceof SvcApiError ? failure.retryAfterMs : undefined;
  const [byte = 0] = runtime.randomBytes(1);
  const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempts) * (0.5 + byte / 510);
  return Math.round(Math.max(pauseMs, asked ?? 0));
}

function readEvent(data: string): Event {
  const event: unknown = JSON.parse(data);
  if (isObject(event) && typeof event.id === 'string' && typeof event.type === 'string') return event as Event;
  throw new SvcConnectionError('invalid_answer', 'The stream has something that is not an event.');
}

interface Message {
  readonly id: string | undefined;
  readonly data: string | undefined;
}

/** Server-sent events. A message ends with an empty line; lines that begin with a colon mean nothing. */
async function* messages(body: ReadableStream<Uint8Array>): AsyncGenerator<Message> {
  let waiting = '';
  for await (const text of chunks(body)) {
    waiting += text;
    const parts = waiting.split(/\r?\n\r?\n/);
    waiting = parts.pop() ?? '';
    if (waiting.length > MAX_MESSAGE) throw new SvcConnectionError('invalid_answer', 'An event is too long.');
    for (const part of parts) yield readMessage(part);
  }
}

function readMessage(text: string): Message {
  const fields = text.split(/\r?\n/).map((line) => /^(\w+): ?(.*)$/.exec(line) ?? []);
  const valuesOf = (name: string) => fields.flatMap(([, field, value = '']) => (field === name ? [value] : []));
  const data = valuesOf('data');
  return { id: valuesOf('id').at(-1), data: data.length > 0 ? data.join('\n') : undefined };
}

/** A connection that only listens does not notice a vanished service. */
async function* chunks(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const silence = new Promise<never>((_, reject) => {
        const late = () => reject(new SvcConnectionError('timeout', 'The stream was silent for too long.'));
        timer = setTimeout(late, SILENCE_MS);
      });
      const { done, value } = await Promise.race([reader.read(), silence])
        .catch((cause: unknown) => {
          if (cause instanceof SvcConnectionError) throw cause;
          throw new SvcConnectionError('connection_failed', 'The stream was cut off.', { cause });
        })
        .finally(() => clearTimeout(timer));
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
