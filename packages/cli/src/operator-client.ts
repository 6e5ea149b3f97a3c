import { randomUUID } from 'node:crypto';
import type { AnswerOf, Endpoint, endpoints } from '@svc/protocol';
import { type Context, fetchJson } from './context.ts';
import { CliError, usage } from './failure.ts';

export type Endpoints = typeof endpoints;
type OperatorEndpoint = Extract<Endpoints[keyof Endpoints], { access: 'operator' }>;
type RouteOf<E extends Endpoint> = `${E['method']} ${E['path']}`;

interface Sent {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
}

/** One request to the operator's interface, with OPERATOR_TOKEN. */
export async function operate<E extends OperatorEndpoint>(
  { credentials }: Context,
  route: RouteOf<E>,
  { params = {}, query = {}, body }: Sent = {},
): Promise<AnswerOf<E>> {
  const token = process.env.OPERATOR_TOKEN;
  if (!token)
    throw usage(
      "This command needs OPERATOR_TOKEN: the one that the service was started with, in this shell's environment.",
    );
  const [method = 'GET', path = ''] = route.split(' ');
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  const search = given.length > 0 ? `?${new URLSearchParams(given)}` : '';
  const { status, answer } = await fetchJson(`${credentials.baseUrl}${filled}${search}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (status < 400) return answer as AnswerOf<E>;
  const { error = 'failed', message = `The service answered ${status}.` } = answer as Record<string, string>;
  throw new CliError(error, status === 401 || status === 403 ? `${message} Check OPERATOR_TOKEN.` : message);
}
