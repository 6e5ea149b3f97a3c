import { allEndpoints, openApiDocument } from '@svc/protocol';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { readSection } from '../../testing/reference-page.ts';
import { renderReference } from './page.ts';
import { singleQuoted } from './sections.ts';

const baseUrl = 'https://pay.example/v1';
const document = openApiDocument(baseUrl);
const page = renderReference(document, { baseUrl });

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormatsModule.default(ajv);
ajv.addSchema(document, 'document');

/** What is wrong with a value, by the schema at a place in the document. */
function faults(place: readonly string[], value: unknown): unknown {
  const pointer = place.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1')).map(encodeURIComponent);
  const validate = ajv.compile({ $ref: `document#/${pointer.join('/')}` });
  return validate(value) ? [] : validate.errors;
}

/** The words of a command, by the quoting rules that the examples use. */
function shellWords(command: string): string[] {
  const words = command.match(/(?:'[^']*'|"[^"]*"|\\'|[^\s'"\\])+/g) ?? [];
  return words.map((word) => word.replace(/'([^']*)'|"([^"]*)"|\\(')/g, '$1$2$3'));
}

function readCurl(command: string) {
  const [program, ...words] = shellWords(command);
  const headers: string[] = [];
  let method = 'GET';
  let url = '';
  let body: string | undefined;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? '';
    if (word === '-X') method = words[++i] ?? '';
    else if (word === '-H') headers.push(words[++i] ?? '');
    else if (word === '-d') body = words[++i];
    else url += word;
  }
  return { program, method, url, headers, body };
}

const exampleRequest = (operationId: string) =>
  readCurl(readSection(page, operationId).find(({ attributes }) => attributes.class === 'curl')?.text ?? '');

const publicKey = 'x-api-key: $PUBLIC_KEY';
const secretKey = 'Authorization: Bearer $SECRET_KEY';
const session = 'Cookie: svc_session=$SESSION';
const credentials = {
  both: [publicKey, secretKey],
  secret: [publicKey, secretKey],
  either: [secretKey],
  public: [publicKey],
  none: [],
  'sign-in': [],
  recipient: [publicKey, 'Authorization: Bearer $RECIPIENT_TOKEN'],
  session: [session],
  operator: [session],
};

describe.each(allEndpoints)('the example of $operationId', (endpoint) => {
  const { operationId, method, path } = endpoint;
  const operation = ['paths', path, method.toLowerCase()];

  it('calls its address with its method and credentials', () => {
    const request = exampleRequest(operationId);
    expect(request.program).toBe('curl');
    expect(request.method).toBe(method);
    const { origin, pathname } = new URL(request.url);
    const pattern = path.replace(/\{[^}]+\}/g, '[^/{}]+');
    expect(origin + pathname).toMatch(new RegExp(`^${baseUrl}${pattern}$`));
    const json = endpoint.body ? ['content-type: application/json'] : [];
    expect(request.headers).toEqual([...credentials[endpoint.access], ...json]);
  });

  it('gives every required query parameter a value that fits', () => {
    const given = new URL(exampleRequest(operationId).url).searchParams;
    const { parameters } = (document.paths as Documented)[path]?.[method.toLowerCase()] ?? { parameters: [] };
    parameters.forEach((parameter, i) => {
      const value = given.get(parameter.name);
      if (parameter.in !== 'query') return;
      if (parameter.required) expect(value).not.toBeNull();
      if (value === null) return;
      const typed = /^(integer|number)$/.test(parameter.schema.type ?? '') ? Number(value) : value;
      expect(faults([...operation, 'parameters', String(i), 'schema'], typed)).toEqual([]);
    });
  });

  it('sends a body that the schema accepts, and none where none is taken', () => {
    const { body } = exampleRequest(operationId);
    expect(body !== undefined).toBe('body' in endpoint);
    if (body === undefined) return;
    const place = [...operation, 'requestBody', 'content', 'application/json', 'schema'];
    expect(faults(place, JSON.parse(body))).toEqual([]);
  });

  it('shows an answer that the schema accepts for every success', () => {
    const shown = readSection(page, operationId).filter(({ attributes }) => attributes.class === 'json');
    const statuses = Object.keys(endpoint.answers);
    expect(shown).toHaveLength(statuses.length);
    statuses.forEach((status, i) => {
      const type = 'stream' in endpoint ? 'text/event-stream' : 'application/json';
      const place = [...operation, 'responses', status, 'content', type, 'schema'];
      expect(faults(place, JSON.parse(shown[i]?.text ?? ''))).toEqual([]);
    });
  });
});

type Documented = Record<
  string,
  Record<string, { parameters: { name: string; in: string; required?: boolean; schema: { type?: string } }[] }>
>;

describe('examples', () => {
  it('of every named schema fit it', () => {
    for (const name of Object.keys((document.components as { schemas: object }).schemas)) {
      const shown = readSection(page, `schema-${name}`).find(({ attributes }) => attributes.class === 'json');
      expect(faults(['components', 'schemas', name], JSON.parse(shown?.text ?? ''))).toEqual([]);
    }
  });

  it('name the wallet whose balance they ask for', () => {
    expect(exampleRequest('getTokenBalance').url).toMatch(/[?&]externalUserId=user-123(&|$)/);
  });

  it('hold no filler text', () => {
    const shown = allEndpoints.flatMap(({ operationId }) => readSection(page, operationId));
    const code = shown.filter(({ name }) => name === 'pre').map(({ text }) => text);
    expect(code.filter((text) => /"text"/.test(text))).toEqual([]);
  });

  it('survive a quote in a body', () => {
    const body = '{"name": "Año \'26"}';
    expect(shellWords(`curl -d ${singleQuoted(body)}`)).toEqual(['curl', '-d', body]);
  });
});
