import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  type AnswerOf,
  type BodyOf,
  type Environment,
  type endpoints,
  environments,
  type Webhook,
} from '@svc/protocol';
import { type Database, type Db, sql } from '@svc/store';
import { onTestFinished } from 'vitest';
import { replayWebhook, testWebhook } from '../src/events/deliveries.ts';
import { publishEvent } from '../src/events/events.ts';
import { createWebhook, deleteWebhook, rotateWebhookSecret, updateWebhook } from '../src/events/webhooks.ts';
import type { Call, Caller } from '../src/http/call.ts';
import { newOwner, useDatabase } from './database.ts';
import { type Behaviour, openReceiver, type Receiver, status } from './receiver.ts';

type CreateBody = BodyOf<typeof endpoints.createWebhook>;
type UpdateBody = BodyOf<typeof endpoints.updateWebhook>;
type ReplayBody = BodyOf<typeof endpoints.replayWebhook>;
type Replayed = AnswerOf<typeof endpoints.replayWebhook>;
export type WithSecret = Webhook & { readonly secret: string };

export interface DeliveryRow {
  readonly id: string;
  readonly webhook: string;
  readonly event: string;
  readonly state: string;
  readonly attempts: number;
  readonly nextAttemptAt: Date | null;
}

export class WebhookFixture {
  #subjects = 0;
  readonly #db: () => Database;

  constructor(db: () => Database) {
    this.#db = db;
  }

  get db(): Database {
    return this.#db();
  }

  async caller(environment: Environment = 'development'): Promise<Caller> {
    const owner = await newOwner(this.db, { environment });
    return { ...owner, keyId: 'key_1', apiPublicKey: undefined, proof: 'secret key', externalUserId: undefined };
  }

  create(caller: Caller, changes: Partial<CreateBody> = {}): Promise<WithSecret> {
    const body = { url: 'https://hooks.example/svc', ...changes };
    const call = this.#call<typeof endpoints.createWebhook>(caller, { body });
    return createWebhook({ db: this.db, loopbackEnvironments: environments }, call) as Promise<WithSecret>;
  }

  update(caller: Caller, id: string, body: UpdateBody): Promise<Webhook> {
    const call = this.#call<typeof endpoints.updateWebhook>(caller, { params: { id }, body });
    return updateWebhook({ db: this.db, loopbackEnvironments: environments }, call) as Promise<Webhook>;
  }

  delete(caller: Caller, id: string) {
    return deleteWebhook(this.#call<typeof endpoints.deleteWebhook>(caller, { params: { id } }));
  }

  rotate(caller: Caller, id: string, body: { overlapSeconds?: number } = {}): Promise<WithSecret> {
    const call = this.#call<typeof endpoints.rotateWebhookSecret>(caller, { params: { id }, body });
    return rotateWebhookSecret(call) as Promise<WithSecret>;
  }

  test(caller: Caller, id: string) {
    return testWebhook(this.#call<typeof endpoints.testWebhook>(caller, { params: { id } }));
  }

  /** In a transaction of its own, or within one that is open. */
  async replay(caller: Caller, id: string, body: ReplayBody, tx?: Db): Promise<number> {
    return (await this.replayed(caller, id, body, tx)).replayed;
  }

  async replayed(caller: Caller, id: string, body: ReplayBody, tx?: Db): Promise<Replayed> {
    const transact = tx && { transact: <T>(work: (within: Db) => Promise<T>) => work(tx) };
    const call = this.#call<typeof endpoints.replayWebhook>(caller, { params: { id }, body, ...transact });
    return (await replayWebhook(call)) as Replayed;
  }

  /** An event with a subject of its own; answers its id. */
  async publish(caller: Caller, changes: Partial<Parameters<typeof publishEvent>[1]> = {}): Promise<string> {
    this.#subjects += 1;
    const subject = `txn_${this.#subjects}`;
    const event = {
      ...{ organizationId: caller.organizationId, environment: caller.environment, subject },
      ...{ type: 'sku-purchase.completed' as const, data: { id: subject, skuFileNumber: 'Ñ-1' } },
      ...changes,
    };
    await this.db.tx((tx) => publishEvent(tx, event));
    const stored = await this.db.one<{ id: string }>(sql`
      select id from events where subject = ${event.subject} and type = ${event.type}`);
    return stored?.id ?? '';
  }

  deliveries(webhookId: string): Promise<DeliveryRow[]> {
    return this.db.rows<DeliveryRow>(sql`
      select id, webhook_id as webhook, event_id as event, state, attempts, next_attempt_at as "nextAttemptAt"
        from webhook_deliveries where webhook_id = ${webhookId} order by id`);
  }

  async makeDue(webhookId: string): Promise<void> {
    await this.db.run(sql`
      update webhook_deliveries set next_attempt_at = now() - interval '1 second'
       where webhook_id = ${webhookId} and state = 'WAITING'`);
  }

  /** When its next delivery job runs; undefined without one. */
  async nextRun(webhookId: string): Promise<Date | undefined> {
    const job = await this.db.one<{ runAt: Date }>(sql`
      select run_at as "runAt" from jobs where task = 'deliver-webhooks' and key = ${webhookId} and worker is null`);
    return job?.runAt;
  }

  async deleteJobs(): Promise<void> {
    await this.db.run(sql`delete from jobs`);
  }

  #call<E extends (typeof endpoints)[keyof typeof endpoints]>(caller: Caller, input: object): Call<E> {
    return { caller, transact: this.db.tx, ...input } as unknown as Call<E>;
  }
}

export function useWebhooks(): WebhookFixture {
  return new WebhookFixture(useDatabase().db);
}

export async function startReceiver(behave: Behaviour = status(204)): Promise<Receiver> {
  const receiver = await openReceiver(behave);
  onTestFinished(() => receiver.close());
  return receiver;
}

const HEADER_BYTES = 12;
const TYPE_A = 1;
const IN = 1;
const RESPONSE = 0x8180;
/** A compressed pointer to the name in the question. */
const SAME_NAME = 0xc00c;
const TTL_SECONDS = 0;

/** Undefined: no reply. */
export type Answers = (name: string) => readonly string[] | undefined;

/** A DNS server on 127.0.0.1 with A records alone; answers its address. */
export async function startNameServer(answers: Answers): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query);
    const addresses = answers(name);
    if (addresses) socket.send(reply(query, end, type === TYPE_A ? addresses : []), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function reply(query: Buffer, questionEnd: number, addresses: readonly string[]): Buffer {
  const head = Buffer.from(query.subarray(0, questionEnd));
  head.writeUInt16BE(RESPONSE, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...addresses.map(record)]);
}

function record(address: string): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16BE(SAME_NAME, 0);
  bytes.writeUInt16BE(TYPE_A, 2);
  bytes.writeUInt16BE(IN, 4);
  bytes.writeUInt32BE(TTL_SECONDS, 6);
  bytes.writeUInt16BE(4, 10);
  for (const [place, part] of address.split('.').entries()) bytes.writeUInt8(Number(part), 12 + place);
  return bytes;
}
