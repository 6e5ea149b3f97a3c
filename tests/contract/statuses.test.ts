import type { Endpoint, ErrorCode } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { send } from '../support/client.ts';
import { builtEndpoints, plannedEndpoints, successOf } from '../support/examples.ts';
import { provoke, sceneOf } from './support/provoke.ts';
import { howToProvoke, refusalsOf } from './support/refusals.ts';
import { prepareStage, type Stage } from './support/stage.ts';

let stage: Stage;
let document: { paths: Record<string, Record<string, { description?: string; responses: Record<string, unknown> }>> };

beforeAll(async () => {
  stage = await prepareStage();
  document = (await send(`${stage.world.app.baseUrl}/openapi.json`)).body as typeof document;
});
afterAll(() => stage.stop());

async function expectRefusal(endpoint: Endpoint, status: number, code: ErrorCode): Promise<void> {
  expectError(await provoke(sceneOf(stage, endpoint), howToProvoke(endpoint, code)), status, code);
}

const named = (list: readonly Endpoint[]) =>
  list.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const);

describe.each(named(builtEndpoints))('%s', (_, endpoint) => {
  it('answers as its schema says, and again', async () => {
    for (const scene of [sceneOf(stage, endpoint), sceneOf(stage, endpoint)]) {
      const reply = await scene.send({});
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
