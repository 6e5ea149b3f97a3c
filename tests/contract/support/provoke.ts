import type { Endpoint, ErrorCode, endpoints } from '@svc/protocol';
import type { Headers } from '../../support/app.ts';
import type { Reply } from '../../support/client.ts';
import { type Example, exampleOf, sendExample } from '../../support/examples.ts';
import type { Stage } from './stage.ts';

/** A request that is refused: what it has in place of the example's parts, or of the keys. */
export interface Attempt extends Example {
  readonly headers?: Headers;
  readonly baseUrl?: string;
}

export interface Scene extends Stage {
  readonly endpoint: Endpoint;
  readonly example: Example;
  send(attempt: Attempt): Promise<Reply>;
}

/** Brings about what the refusal needs, and answers the request that meets it. Faults that it orders are cleared afterwards. */
export type Provoke = (scene: Scene) => Attempt | Promise<Attempt>;
export type Refusals = Readonly<Partial<Record<ErrorCode, Provoke>>>;
export type RefusalsOf = Readonly<Partial<Record<keyof typeof endpoints, Refusals>>>;

export function sceneOf(stage: Stage, endpoint: Endpoint): Scene {
  const example = exampleOf(endpoint, stage.world);
  const send = ({ headers = stage.callers.keys, baseUrl = stage.world.app.baseUrl, ...deps }: Attempt) =>
    sendExample(baseUrl, endpoint, headers, { ...example, ...deps });
  return { ...stage, endpoint, example, send };
}

export async function provoke(scene: Scene, how: Provoke): Promise<Reply> {
  try {
    return await scene.send(await how(scene));
  } finally {
    await scene.world.sandbox.ask('/starknet/faults', undefined, 'DELETE');
  }
}

/** The example with some fields of its body replaced. */
export const withBody =
  (change: object): Provoke =>
  ({ example }) => ({ body: { ...(example.body as object), ...change } });

/** The example with some parameters of its query replaced. */
export const withQuery =
  (change: Record<string, string>): Provoke =>
  ({ example }) => ({
    query: String(new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(example.query)), ...change })),
  });

export const withParams =
  (params: Record<string, string>): Provoke =>
  () => ({ params });
