import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type EventType, eventTypes } from '@svc/protocol';
import type { Svc, SvcEvent } from '@svc/sdk';
import { type Command, InvalidArgumentError } from 'commander';
import colors from 'picocolors';
import { action, type Context, group, whole } from '../context.ts';
import { EventFeed, FEED_PAGE } from '../event-feed.ts';
import { explain, usage } from '../failure.ts';
import { clean, time } from '../output.ts';

interface ListenOptions {
  readonly forward?: string;
  readonly events?: EventType[];
  readonly secret?: string;
  readonly every: number;
  readonly for?: number;
}

const FOOTER = `
Events come over a connection that this program opens, so no public address is needed. Each is forwarded once, signed as a webhook:
verifyWebhook of the client library accepts it with the secret that is shown. Set SVC_WEBHOOK_SECRET to keep one secret.
Gift events exist only where a webhook of your organisation names them.
`;

export function listenCommand(): Command {
  return group('listen', 'receive the events of your environment here, and forward them to your app')
    .option('--forward <url>', 'where to send them, such as http://localhost:3000/hook')
    .option('--events <types>', 'only these, separated by commas', parseTypes)
    .option('--secret <whsec>', 'the signing secret; default: SVC_WEBHOOK_SECRET, else a new one')
    .option('--every <seconds>', 'how often to ask, where the service has no stream', whole(1, 3_600), 2)
    .option('--for <seconds>', 'end after so many seconds', whole(1, 86_400))
    .addHelpText('after', FOOTER)
    .action(action<ListenOptions>(listen));
}

function parseTypes(text: string): EventType[] {
  return text.split(',').map((word) => {
    const type = eventTypes.find((known) => known === word.trim());
    if (type) return type;
    throw new InvalidArgumentError(`${word} is no type of event. There are ${eventTypes.join(', ')}.`);
  });
}

const SECRET_BYTES = 24;

/** Standard Webhooks: `whsec_` and base64 of 24 to 64 bytes. */
function readSecret(given: string | undefined): string {
  const secret = given || process.env.SVC_WEBHOOK_SECRET || `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
  if (/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(secret)) return secret;
  throw usage('The secret must begin with whsec_ and go on with base64 of 24 to 64 bytes.');
}

async function listen({ svc, out }: Context, options: ListenOptions): Promise<void> {
  const { forward } = options;
  if (forward !== undefined && !(/^https?:/i.test(forward) && URL.canParse(forward))) {
    throw usage(`${forward} is not an address. Write one like http://localhost:3000/hook.`);
  }
  const target = { out, forward, secret: readSecret(options.secret) };
  const signal = options.for === undefined ? undefined : AbortSignal.timeout(options.for * 1_000);
  let connections = 0;
  const onConnect = () => {
    connections += 1;
    if (connections === 1) announce(target);
    else out.note('Connected again.');
  };
  const onDisconnect = () => out.note('The connection was lost. Connecting again; nothing is missed meanwhile.');
  try {
    const stream = svc.webhooks.streamEvents({ types: options.events, signal, onConnect, onDisconnect });
    for await (const event of stream) await show(event, target);
  } catch (error) {
    const { code } = explain(error);
    if (connections > 0 || !WITHOUT_STREAM.has(code)) throw error;
    out.note(`${REASONS[code]} Asking every ${options.every} s instead.`);
    await ask(svc, target, options, signal);
  }
}

/** Of a service of before streams, and of one that has enough of them. */
const REASONS: Readonly<Record<string, string>> = {
  not_found: 'This service has no stream of events.',
  too_many_streams: 'Your environment has as many streams as it may.',
};
const WITHOUT_STREAM = new Set(Object.keys(REASONS));

function announce({ out, forward, secret }: Target): void {
  out.note(forward === undefined ? 'Ready: events are shown here.' : `Ready: events go to ${forward}`);
  if (out.json) out.item({ ready: true, ...(forward && { secret }) }, () => '');
  else if (forward !== undefined) out.note(`Signing secret, for verifyWebhook: ${colors.bold(secret)}`);
}

async function ask(svc: Svc, target: Target, options: ListenOptions, signal: AbortSignal | undefined): Promise<void> {
  const { out } = target;
  const read = async (page: number) => (await svc.webhooks.listEvents({ page, limit: FEED_PAGE })).items;
  const feed = new EventFeed(read, options.events);
  await feed.begin();
  announce(target);
  let isDown = false;
  for (;;) {
    await pause(options.every * 1_000, undefined, { signal }).catch(() => undefined);
    if (signal?.aborted) return;
    const events = await feed.look().catch((error: unknown) => {
      const failure = explain(error);
      // A service that restarts is waited for; wrong keys do not get right by themselves.
      if (failure.code !== 'connection_failed' && failure.code !== 'timeout') throw error;
      if (!isDown) out.note(`${failure.message} Looking again every ${options.every} s.`);
      isDown = true;
      return undefined;
    });
    if (events === undefined) continue;
    isDown = false;
    for (const event of events) await show(event, target);
  }
}

interface Target {
  readonly out: Context['out'];
  readonly forward: string | undefined;
  readonly secret: string;
}

async function show(event: SvcEvent, { out, forward, secret }: Target): Promise<void> {
  const head = `${time(event.timestamp)}  ${event.type.padEnd(23)}  ${event.id}`;
  if (forward === undefined) {
    out.item(event, () => `${head}\n${colors.dim(clean(JSON.stringify(event.data)))}`);
    return;
  }
  const answer = await forwardEvent(event, forward, secret);
  out.item({ event, ...answer }, () => `${head}  ${shownAnswer(answer)}`);
}

const shownAnswer = ({ status, durationMs, error }: Forwarded): string => {
  if (status === null) return colors.red(`no answer: ${error}`);
  const color = status < 300 ? colors.green : colors.red;
  return `${color(`→ ${status}`)} ${colors.dim(`${durationMs} ms`)}`;
};

export interface Forwarded {
  readonly status: number | null;
  readonly durationMs: number;
  readonly error?: string;
}

/** As the service itself: 20 seconds, and a redirect is no answer to follow. */
const TIMEOUT_MS = 20_000;

export async function forwardEvent(
  { id, type, timestamp, data }: SvcEvent,
  url: string,
  secret: string,
): Promise<Forwarded> {
  const body = JSON.stringify({ type, timestamp, data });
  const startedAt = performance.now();
  const durationMs = () => Math.round(performance.now() - startedAt);
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { 'content-type': 'application/json', 'user-agent': 'svc-webhooks', ...signed(id, body, secret) },
    });
    await response.body?.cancel();
    return { status: response.status, durationMs: durationMs() };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    return { status: null, durationMs: durationMs(), error: reason };
  }
}

/** Standard Webhooks. */
export function signed(id: string, body: string, secret: string, now = Date.now()): Record<string, string> {
  const seconds = Math.floor(now / 1_000);
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` };
}
