import { createSvc, type Fetch } from '@svc/sdk';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { publishEvent } from '../../packages/server/src/events/events.ts';
import { bodyOf } from '../support/app.ts';
import { expectError } from '../support/assertions.ts';
import { keyHeaders, send } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import type { ServerAddress } from '../support/server.ts';
import { type AnyService, TestService } from '../support/service.ts';

let service: AnyService;
beforeAll(async () => {
  service = await TestService.shared();
});
afterAll(() => service.stop());

const PATH = '/organization/events/stream';
let subjects = 0;

interface Owner {
  readonly organizationId: string;
  readonly environment: 'development' | 'production';
}

/** Answers its subject, which is in the event's data. */
async function publish(
  owner: Partial<Owner> = {},
  db: Parameters<typeof publishEvent>[0] = service.db,
): Promise<string> {
  subjects += 1;
  const subject = `streamed ${subjects} ${crypto.randomUUID()}`;
  const { organizationId } = service.server.credentials;
  const own = { organizationId, environment: 'development' as const, ...owner };
  await publishEvent(db, { ...own, type: 'wallet.created', subject, data: { subject } });
  return subject;
}

interface Received {
  readonly id: string;
  readonly subject: string;
}

class Stream {
  readonly #reader: ReadableStreamDefaultReader<string>;
  readonly #connection: AbortController;
  readonly received: Received[] = [];
  readonly ended: Promise<void>;

  static async open(server: ServerAddress, query = '', headers: Record<string, string> = {}): Promise<Stream> {
    const connection = new AbortController();
    const response = await fetch(`${server.credentials.baseUrl}${PATH}${query}`, {
      headers: { ...keyHeaders(server), ...headers },
      signal: connection.signal,
    });
    expect(response.status).toBe(200);
    if (!response.body) throw new Error('There is no body.');
    const stream = new Stream(response.body, connection);
    onTestFinished(() => stream.close());
    return stream;
  }

  private constructor(body: ReadableStream<Uint8Array<ArrayBuffer>>, connection: AbortController) {
    this.#connection = connection;
    this.#reader = body.pipeThrough(new TextDecoderStream()).getReader();
    this.ended = this.#read().catch(() => undefined);
  }

  async #read(): Promise<void> {
    let text = '';
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) return;
      text += value;
      const messages = text.split('\n\n');
      text = messages.pop() ?? '';
      for (const message of messages) {
        const [, id = '', data] = /^id: (\S+)\ndata: (.*)$/.exec(message) ?? [];
        if (data !== undefined) this.received.push({ id, subject: JSON.parse(data).data.subject });
      }
    }
  }

  /** Waits until there are so many. */
  async until(count: number): Promise<string[]> {
    await eventually(
      async () => this.received.length,
      (length) => length >= count,
    );
    return this.received.map(({ subject }) => subject);
  }

  close(): void {
    this.#connection.abort();
  }
}

describe('a stream of events', () => {
  it('has what happens from now on, and nothing of others', async () => {
    await publish();
    const stream = await Stream.open(service.server);
    await publish({ environment: 'production' });
    await publish({ organizationId: (await service.organization()).id });
    const own = [await publish(), await publish()];
    expect(await stream.until(2)).toEqual(own);
  });

  it('has nothing of before, also where an older transaction is still open', async () => {
    const { promise: committing, resolve: commit } = Promise.withResolvers<void>();
    const { promise: begun, resolve: tell } = Promise.withResolvers<void>();
    const open = service.db.tx(async (tx) => {
      await tx.run(sql`select pg_current_xact_id()`);
      tell();
      await committing;
    });
    await begun;
    await publish();
    const stream = await Stream.open(service.server);
    const own = await publish();
    commit();
    await open;
    expect(await stream.until(1)).toEqual([own]);
  });

  it('continues after a cut, in the order of the commits, without loss and without a repetition', async () => {
    const stream = await Stream.open(service.server);
    const first = await publish();
    await stream.until(1);
    stream.close();
    await stream.ended;
    const lastId = stream.received.at(-1)?.id ?? '';

    // The later event is committed first. It waits: behind it, the earlier one would be lost.
    const { promise: committing, resolve: commit } = Promise.withResolvers<void>();
    const { promise: published, resolve: tell } = Promise.withResolvers<string>();
    const open = service.db.tx(async (tx) => {
      tell(await publish({}, tx));
      await committing;
    });
    const early = await published;
    const late = await publish();
    const resumed = await Stream.open(service.server, '?after=evt_0', { 'last-event-id': lastId });
    const waiting = await Stream.open(service.server, '?seconds=0', { 'last-event-id': lastId });
    await waiting.ended;
    expect(waiting.received).toEqual([]);
    commit();
    await open;
    expect(await resumed.until(2)).toEqual([early, late]);
    const all = await Stream.open(service.server, '?after=evt_0&seconds=0');
    await all.ended;
    expect(all.received.map(({ subject }) => subject).slice(-3)).toEqual([first, early, late]);
  });

  it("does not tell another organisation's event from a missing one", async () => {
    const { id: organizationId } = await service.organization();
    const subject = await publish({ organizationId });
    const [row] = await service.db.rows<{ id: string }>(sql`select id from events where subject = ${subject}`);
    const replies = [row?.id, 'evt_nothing'].map((after) =>
      send(`${service.server.credentials.baseUrl}${PATH}?after=${after}`, { headers: keyHeaders(service.server) }),
    );
    const [foreign, missing] = await Promise.all(replies);
    if (!foreign || !missing) throw new Error('There are two.');
    expectError(foreign, 404, 'event_not_found');
    expect(foreign.body).toEqual(missing.body);
  });

  it('takes a place of its environment until its connection ends', async () => {
    const { keys } = await service.keys('production');
    const headers = { 'x-api-key': keys.publicKey, authorization: `Bearer ${keys.secretKey}` };
    const streams = await Promise.all(Array.from({ length: 20 }, () => Stream.open(service.server, '', headers)));
    const again = () => send(`${service.server.credentials.baseUrl}${PATH}?seconds=0`, { headers });
    expectError(await again(), 429, 'too_many_streams');
    streams[0]?.close();
    await eventually(again, ({ status }) => status === 200);
  });

  it('ends when its key is revoked', async () => {
    const made = await service.app.post('/organization/keys', { kind: 'secret' });
    const { id, secretKey } = bodyOf<{ id: string; secretKey: string }>(made, 201);
    const headers = { authorization: `Bearer ${secretKey}` };
    const stream = await Stream.open(service.server, '', headers);
    expect((await service.app.delete(`/organization/keys/${id}`)).status).toBe(200);
    await publish();
    await stream.ended;
    expect(stream.received).toEqual([]);
  });

  it('ends when its process does, which does not wait for it', async () => {
    const server = await service.another();
    const stream = await Stream.open(server);
    await server.stop();
    await stream.ended;
    expect(server.output()).not.toContain('"level":50');
  });
});

describe('the client library', () => {
  it('connects again after a cut and gives each event once', async () => {
    let connection = new AbortController();
    const cuttable: Fetch = (input, init = {}) => {
      connection = new AbortController();
      const signal = init.signal ? AbortSignal.any([init.signal, connection.signal]) : connection.signal;
      return fetch(input, { ...init, signal });
    };
    const svc = createSvc({ ...service.server.credentials, fetch: cuttable });
    const { promise: connected, resolve: onConnect } = Promise.withResolvers<void>();
    const end = new AbortController();
    const found: unknown[] = [];
    const cuts: number[] = [];
    const following = (async () => {
      const params = { signal: end.signal, onConnect, onDisconnect: (pauseMs: number) => void cuts.push(pauseMs) };
      for await (const { data } of svc.webhooks.streamEvents(params)) found.push(data.subject);
    })();
    await connected;
    // Before the first event, and behind one.
    connection.abort();
    const told = [await publish()];
    await eventually(
      async () => found.length,
      (length) => length === 1,
    );
    connection.abort();
    told.push(await publish(), await publish());
    await eventually(
      async () => found.length,
      (length) => length === 3,
    );
    end.abort();
    await following;
    expect(found).toEqual(told);
    expect(cuts).toHaveLength(2);
  });

  it('throws what no other attempt changes', async () => {
    const svc = createSvc({ ...service.server.credentials, secretKey: 'sk_dev_of_nobody' });
    await expect(svc.webhooks.streamEvents().next()).rejects.toMatchObject({ status: 401 });
  });
});
