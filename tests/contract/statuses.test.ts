import type { Endpoint, ErrorCode } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { send } from '../support/client.ts';
import { builtEndpoints, plannedEndpoints, successOf } from '../support/examples.ts';
import { contextOf, requestRefusal } from './support/refusal.ts';
import { refusalOf, refusalsOf } from './support/refusals.ts';
import { prepareRefusals, type RefusalSetup } from './support/setup.ts';

let setup: RefusalSetup;
let document: { paths: Record<string, Record<string, { description?: string; responses: Record<string, unknown> }>> };

beforeAll(async () => {
  setup = await prepareRefusals();
  document = (await send(`${setup.data.app.baseUrl}/openapi.json`)).body as typeof document;
});
afterAll(() => setup.stop());

async function expectRefusal(endpoint: Endpoint, status: number, code: ErrorCode): Promise<void> {
  expectError(await requestRefusal(contextOf(setup, endpoint), refusalOf(endpoint, code)), status, code);
}

const named = (list: readonly Endpoint[]) =>
  list.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const);

describe.each(named(builtEndpoints))('%s', (_, endpoint) => {
  it('answers as its schema says, and again', async () => {
    for (const context of [contextOf(setup, endpoint), contextOf(setup, endpoint)]) {
      const reply = await context.send({});
      expectAnswer(reply, endpoint);
      expect(reply.status).toBe(successOf(endpoint));
    }
  });

  it.each(refusalsOf(endpoint))('answers $status $code', ({ status, code }) => expectRefusal(endpoint, status, code));
});

describe.each(named(plannedEndpoints))('%s, not built yet,', (_, endpoint) => {
  it.each(refusalsOf(endpoint))('answers $status $code', ({ status, code }) => expectRefusal(endpoint, status, code));

  it('says so in the description of the interface', () => {
    const operation = document.paths[endpoint.path]?.[endpoint.method.toLowerCase()];
    expect(operation?.responses).toHaveProperty('501');
    expect(operation?.description).toContain('not_implemented');
  });
});
