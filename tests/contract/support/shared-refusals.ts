import { eventually } from '../../support/eventually.ts';
import { badExampleOf } from '../../support/examples.ts';
import type { Refusals } from './provoke.ts';

/** For as long as a test can take; what ordered it clears it. */
const MEANWHILE = { seconds: 60 };
export const UNAVAILABLE = { kind: 'unavailable', ...MEANWHILE };
/** What a node says of a transaction that would fail. */
export const WOULD_REVERT = {
  kind: 'error',
  method: 'starknet_estimateFee',
  code: 41,
  message: 'out of luck',
  ...MEANWHILE,
};
export const FORGETFUL = { kind: 'forget', ...MEANWHILE };

/** Refusals that are brought about in the same way wherever they are promised. */
export const sharedRefusals: Refusals = {
  invalid_request: ({ endpoint, example }) => badExampleOf(endpoint, example),
  missing_credentials: () => ({ headers: {} }),
  invalid_api_key: ({ callers }) => ({ headers: callers.forged }),
  invalid_token: ({ callers }) => ({ headers: callers.badToken }),
  secret_key_required: ({ callers }) => ({ headers: callers.user }),
  identity_unavailable: ({ callers }) => ({ headers: callers.unreadable }),
  rate_limited: ({ exhaustedUrl }) => ({ baseUrl: exhaustedUrl }),
  not_implemented: () => ({}),
  idempotency_key_reused: async ({ endpoint, example, callers, send }) => {
    const headers = { ...callers.keys, 'idempotency-key': `reused ${endpoint.operationId}` };
    await send({ headers });
    return { headers, body: { ...(example.body as object), another: 'request' } };
  },

  chain_not_configured: ({ callers }) => ({ headers: callers.production }),
  chain_unavailable: async ({ world, send }) => {
    await world.sandbox.orderFault(UNAVAILABLE);
    // The chain's time is known for a second without asking again, and some ask for nothing else.
    await eventually(
      () => send({}),
      ({ status }) => status >= 500,
    );
    return {};
  },
  other_user: ({ callers }) => ({ headers: callers.stranger }),
  wallet_not_found: ({ callers }) => ({ headers: callers.stranger }),
};
