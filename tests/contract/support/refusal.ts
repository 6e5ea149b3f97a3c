import type { Endpoint, ErrorCode, endpoints } from '@svc/protocol';
import type { Headers } from '../../support/app.ts';
import { type Reply, send } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { badExampleOf, type Example, exampleOf, sendExample } from '../../support/examples.ts';
import type { RefusalSetup } from './setup.ts';

/** Replaces parts of the example, its keys or its process. */
export interface RefusedRequest extends Example {
  readonly headers?: Headers;
  readonly baseUrl?: string;
}

export interface RefusalContext extends RefusalSetup {
  readonly endpoint: Endpoint;
  readonly example: Example;
  send(attempt: RefusedRequest): Promise<Reply>;
}

/** Prepares a refusal and answers the request that meets it. Faults are cleared afterwards. */
export type MakeRefusal = (context: RefusalContext) => RefusedRequest | Promise<RefusedRequest>;
export type Refusals = Readonly<Partial<Record<ErrorCode, MakeRefusal>>>;
export type RefusalsOf = Readonly<Partial<Record<keyof typeof endpoints, Refusals>>>;

export function contextOf(setup: RefusalSetup, endpoint: Endpoint): RefusalContext {
  const example = exampleOf(endpoint, setup.data);
  const send = ({ headers = setup.callers.keys, baseUrl = setup.data.app.baseUrl, ...deps }: RefusedRequest) =>
    sendExample(baseUrl, endpoint, headers, { ...example, ...deps });
  return { ...setup, endpoint, example, send };
}

export async function requestRefusal(context: RefusalContext, how: MakeRefusal): Promise<Reply> {
  try {
    const request = await how(context);
    const reply = await context.send(request);
    // Where the minute of the requests before it has just ended, it was the first of the next.
    return request.baseUrl === context.exhaustedUrl && reply.status !== 429 ? await context.send(request) : reply;
  } finally {
    await context.data.sandbox.clearFaults();
  }
}

export const withBody =
  (change: object): MakeRefusal =>
  ({ example }) => ({ body: { ...(example.body as object), ...change } });

export const withQuery =
  (change: Record<string, string>): MakeRefusal =>
  ({ example }) => ({
    query: String(new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(example.query)), ...change })),
  });

export const withParams =
  (params: Record<string, string>): MakeRefusal =>
  () => ({ params });

/** Longer than any test. */
const MEANWHILE = { seconds: 60 };
export const UNAVAILABLE = { kind: 'unavailable', ...MEANWHILE };
export const WOULD_REVERT = {
  kind: 'error',
  method: 'starknet_estimateFee',
  code: 41,
  message: 'out of luck',
  ...MEANWHILE,
};
export const FORGETFUL = { kind: 'forget', ...MEANWHILE };

export const sharedRefusals: Refusals = {
  invalid_request: ({ endpoint, example }) => badExampleOf(endpoint, example),
  missing_credentials: () => ({ headers: {} }),
  invalid_api_key: ({ callers }) => ({ headers: callers.forged }),
  invalid_token: ({ callers }) => ({ headers: callers.badToken }),
  secret_key_required: ({ callers }) => ({ headers: callers.user }),
  identity_unavailable: ({ callers }) => ({ headers: callers.unreadable }),
  rate_limited: async ({ exhaustedUrl, callers }) => {
    // The minute of an earlier one may be over.
    await send(`${exhaustedUrl}/organization`, { headers: callers.keys });
    return { baseUrl: exhaustedUrl };
  },
  not_implemented: () => ({}),
  idempotency_key_reused: async ({ endpoint, example, callers, send }) => {
    const headers = { ...callers.keys, 'idempotency-key': `reused ${endpoint.operationId}` };
    await send({ headers });
    return { headers, body: { ...(example.body as object), another: 'request' } };
  },

  chain_not_configured: ({ callers }) => ({ headers: callers.production }),
  chain_unavailable: async ({ data, send }) => {
    await data.sandbox.orderFault(UNAVAILABLE);
    // The chain's time is cached for a second, and some endpoints read nothing else.
    await eventually(
      () => send({}),
      ({ status }) => status >= 500,
    );
    return {};
  },
  other_user: ({ callers }) => ({ headers: callers.stranger }),
  wallet_not_found: ({ callers }) => ({ headers: callers.stranger }),
};
