import { allEndpoints, type Endpoint } from '@svc/protocol';
import { type Reply, type Send, send } from './client.ts';
import type { Example } from './examples.ts';

export const builtEndpoints: readonly Endpoint[] = allEndpoints.filter((endpoint) => !endpoint.planned);
export const plannedEndpoints: readonly Endpoint[] = allEndpoints.filter((endpoint) => endpoint.planned);

/** What an example is answered with. */
export const successOf = ({ answers }: Endpoint): number => Number(Object.keys(answers)[0]);

/** Sends an example to its endpoint, with these headers and nothing else. */
export function sendExample(
  baseUrl: string,
  endpoint: Endpoint,
  headers: Record<string, string>,
  example: Example,
): Promise<Reply> {
  const request: Send = { method: endpoint.method, headers, ...('body' in example && { body: example.body }) };
  return send(baseUrl + pathOf(endpoint, example), request);
}

/** The path of an example, with its parameters encoded. */
function pathOf(endpoint: Endpoint, { params = {}, query }: Example): string {
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  return query === undefined ? path : `${path}?${query}`;
}

/** Longer than any identifier may be. */
const TOO_LONG = 'x'.repeat(129);

/** The example with one thing wrong in it; as it is where there is nothing that could be wrong. */
export function badExampleOf(endpoint: Endpoint, example: Example): Example {
  const { params, ...rest } = example;
  if (endpoint.body) return { ...example, body: [] };
  if (params) {
    return { ...rest, params: Object.fromEntries(Object.keys(params).map((name) => [name, TOO_LONG])) };
  }
  return { query: rest.query === undefined ? 'page=0' : '' };
}
