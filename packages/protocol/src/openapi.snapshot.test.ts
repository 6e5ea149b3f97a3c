import { expect, it } from 'vitest';
import { openApiDocument } from './openapi.ts';

const MAX_LINE = 120;
const TEST = 'packages/protocol/src/openapi.snapshot.test.ts';

const changed = `The HTTP interface differs from openapi.snapshot.txt.
If that is intended, rewrite the file, check its diff and note the change in the changelog:
  node scripts/run.mjs vitest run ${TEST} --update`;

/** Everything that fits is on one line, so a changed field is one changed line. */
function print(value: unknown, indent = ''): string {
  const line = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || indent.length + line.length <= MAX_LINE) return line;
  const inner = `${indent}  `;
  const list = Array.isArray(value);
  const members = list
    ? value.map((item) => `${inner}${print(item, inner)}`)
    : Object.entries(value).map(([key, item]) => `${inner}${JSON.stringify(key)}: ${print(item, inner)}`);
  const [open, close] = list ? '[]' : '{}';
  return `${open}\n${members.join(',\n')}\n${indent}${close}`;
}

/** Keeps the schema of each media type; the examples are derived from it. */
function withoutExamples(document: object): object {
  return JSON.parse(
    JSON.stringify(document, (key, value) => {
      if (key !== 'content') return value;
      const types = Object.entries(value as Record<string, { schema: unknown }>);
      return Object.fromEntries(types.map(([type, { schema }]) => [type, schema]));
    }),
  );
}

it('the OpenAPI document has the committed paths, operations, parameters and schemas', async () => {
  const { servers: _differPerDeployment, ...document } = openApiDocument('https://svc.example/v1');
  await expect(`${print(withoutExamples(document))}\n`, changed).toMatchFileSnapshot('openapi.snapshot.txt');
});
