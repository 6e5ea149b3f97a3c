import { allEndpoints, type Endpoint, exampleOf, type Schema } from '@svc/protocol';

type Fetch = (input: string, init?: RequestInit) => Promise<Response>;
type Fields = Record<string, unknown>;

/**
 * The service, and in place of what it does not do yet, the interface's own example of an answer. An endpoint that loses its
 * `planned` flag is asked for real from then on.
 */
export function withPlanned(baseUrl: string): Fetch {
  const planned = allEndpoints.filter((endpoint) => endpoint.planned);
  return async (input, init = {}) => {
    const path = new URL(input).href.slice(baseUrl.length).split('?', 1)[0] ?? '';
    const found = input.startsWith(baseUrl) ? planned.find((endpoint) => fits(endpoint, init.method, path)) : undefined;
    if (!found) return fetch(input, init);
    const body = typeof init.body === 'string' ? (JSON.parse(init.body) as Fields) : {};
    const [status = 200, answer] = answerOf(found, body);
    return Response.json(answer, { status });
  };
}

const fits = (endpoint: Endpoint, method: string | undefined, path: string) =>
  endpoint.method === method && new RegExp(`^${endpoint.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);

function answerOf({ answers, operationId }: Endpoint, body: Fields): [number, unknown] {
  const statuses = Object.keys(answers).map(Number);
  const status = (body.chain === 'solana' ? statuses.at(-1) : statuses[0]) ?? 200;
  const example = exampleOf(answers[status] as Schema, {}) as Fields;
  // Whoever waits for an end finds it at once.
  const ended = example.status === undefined ? example : { ...example, status: 'SUCCESS' };
  return [status, operationId === 'createGiftsBulk' ? bulk(ended, body.recipients as Fields[]) : ended];
}

function bulk(example: Fields, recipients: readonly Fields[]): Fields {
  const [gift] = example.gifts as Fields[];
  return { ...example, created: recipients.length, gifts: recipients.map(({ email }) => ({ ...gift, email })) };
}
