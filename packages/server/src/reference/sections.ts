import { alsoInExample, exampleOf } from '@svc/protocol';
import { breakable, type Html, html, join } from '../util/text.ts';
import {
  credentialsOf,
  curlBox,
  descriptionOf,
  inline,
  jsonBox,
  limitsOf,
  methodBadge,
  operationErrors,
  paragraphs,
  plannedBadge,
  schemaAnchor,
  typeOf,
} from './components.ts';
import { type Operation, type Parameter, referredName, type Schema, type Schemas, type Security } from './document.ts';

export function operationSection(operation: Operation, schemas: Schemas, baseUrl: string): Html {
  const { id, method, path, summary, description, planned } = operation;
  return html`<section class="operation" id="${id}" aria-labelledby="${id}-title">
<div class="explained">
<h3 id="${id}-title"><a href="#${id}">${inline(summary)}</a>${planned && [' ', plannedBadge]}</h3>
<p class="route">${methodBadge(method)} <code>${path}</code></p>
${paragraphs(description)}<p class="credentials"><span class="label">Credentials</span> ${credentialsOf(operation.security)}</p>
${parameters(operation)}${body(operation)}${answers(operation)}${operationErrors(`Errors of ${id}`, operation.errors)}</div>
<div class="examples">
${curlBox('Request', curlOf(operation, schemas, baseUrl))}${operation.answers.map(
  ({ status, schema }) => schema && jsonBox(`Answer ${status}`, exampleOf(schema, schemas)),
)}</div>
</section>
`;
}

function parameters({ id, parameters }: Operation): Html | false {
  return parameters.length > 0 && html`<h4>Parameters</h4>\n${parameterTable(`Parameters of ${id}`, parameters)}`;
}

function body({ id, body }: Operation): Html | false {
  if (!body) return false;
  const table = hasFields(body) ? fieldTable(`Body of ${id}`, body, 'required') : html`<p>${typeOf(body)}</p>\n`;
  return html`<h4>Body</h4>\n${table}`;
}

function answers({ answers }: Operation): Html {
  const items = answers.map(
    ({ status, description, schema }) =>
      html`<li><span class="status">${status}</span> ${schema ? answerType(schema) : inline(description)}</li>\n`,
  );
  return html`<h4>Answers</h4>\n<ul class="answers">\n${items}</ul>\n`;
}

function answerType(schema: Schema): Html {
  const description = referredName(schema) === undefined && descriptionOf(schema);
  return html`${typeOf(schema)}${description && html`: ${inline(description)}`}`;
}

export function schemaSection(name: string, schema: Schema, schemas: Schemas): Html {
  const anchor = schemaAnchor(name);
  return html`<section class="operation" id="${anchor}" aria-labelledby="${anchor}-title">
<div class="explained">
<h3 id="${anchor}-title"><a href="#${anchor}">${name}</a></h3>
${paragraphs(schema.description ?? '')}${
  hasFields(schema)
    ? fieldTable(`Fields of ${name}`, schema, 'optional')
    : html`<p class="type">${typeOf(schema)}</p>\n`
}</div>
<div class="examples">
${jsonBox('Example', exampleOf(schema, schemas, [name]))}</div>
</section>
`;
}

/** Unnamed objects nest two levels deep in the interface. */
const MAX_DEPTH = 4;

/** Requests mark required fields, answers optional ones. */
type Mark = 'required' | 'optional';

interface Field {
  readonly inside: string; // `userSignature.` or `recipients[].`
  readonly name: string;
  readonly place?: string;
  readonly mark?: Mark;
  readonly schema: Schema;
  readonly description: string | undefined;
}

export function fieldTable(label: string, schema: Schema, mark: Mark): Html {
  return table(label, fieldsOf(schema, mark));
}

export function parameterTable(label: string, parameters: readonly Parameter[]): Html {
  return table(
    label,
    parameters.map(({ name, in: place, required, schema, description }) => ({
      inside: '',
      name,
      place,
      ...(required && { mark: 'required' }),
      schema,
      description: description ?? descriptionOf(schema),
    })),
  );
}

export const hasFields = (schema: Schema): boolean => Object.keys(schema.properties ?? {}).length > 0;

function fieldsOf(schema: Schema, mark: Mark, inside = '', depth = 0): Field[] {
  if (depth >= MAX_DEPTH) return [];
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => [
    {
      inside,
      name,
      ...((schema.required?.includes(name) ?? false) === (mark === 'required') && { mark }),
      schema: property,
      description: descriptionOf(property),
    },
    ...objectsIn(property, `${inside}${name}`).flatMap((object) =>
      fieldsOf(object.schema, mark, object.inside, depth + 1),
    ),
  ]);
}

function objectsIn(schema: Schema, path: string): { schema: Schema; inside: string }[] {
  if (schema.properties) return [{ schema, inside: `${path}.` }];
  if (schema.items) return objectsIn(schema.items, `${path}[]`);
  return (schema.anyOf ?? []).flatMap((alternative) => objectsIn(alternative, path));
}

function table(label: string, fields: readonly Field[]): Html {
  return html`<div class="scroll"><table class="fields" aria-label="${label}">
<thead><tr><th scope="col">Name</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${fields.map(row)}</tbody></table></div>
`;
}

function row({ inside, name, place, mark, schema, description }: Field): Html {
  const limits = limitsOf(schema);
  const notes = [place, mark && html`<span class="${mark}">${mark}</span>`].filter(Boolean);
  return html`<tr><th scope="row"><code>${inside && html`<span class="inside">${breakable(inside)}</span><wbr>`}${breakable(name)}</code>${
    notes.length > 0 && html`<span class="note">${join(notes, ', ')}</span>`
  }</th><td><span class="type">${typeOf(schema)}</span>${description && html`<p>${inline(description)}</p>`}${
    limits.length > 0 && html`<p class="limits">${join(limits, ' · ')}</p>`
  }</td></tr>
`;
}

/** For a shell in which PUBLIC_KEY and SECRET_KEY are set. */
export function curlOf(operation: Operation, schemas: Schemas, baseUrl: string): string {
  const lines = [`${commandOf(operation.method)} '${baseUrl}${exampleTarget(operation, schemas)}'`];
  for (const header of credentials(operation.security)) lines.push(`-H "${header}"`);
  if (operation.body) {
    const body = JSON.stringify(exampleOf(operation.body, schemas), null, 2);
    lines.push("-H 'content-type: application/json'", `-d ${singleQuoted(body)}`);
  }
  return lines.join(' \\\n  ');
}

const commandOf = (method: string): string => (method === 'GET' ? 'curl' : `curl -X ${method}`);

function exampleTarget(operation: Operation, schemas: Schemas): string {
  const value = (parameter: Parameter, qualifiers: readonly string[]) => {
    const names = [...qualifiers.map((qualifier) => `${qualifier}.${parameter.name}`), parameter.name];
    return encodeURIComponent(String(exampleOf(parameter.schema, schemas, names)));
  };
  const path = operation.parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce((target, parameter) => {
      const before = target.split(`/{${parameter.name}}`)[0]?.split('/').at(-1) ?? '';
      return target.replace(`{${parameter.name}}`, value(parameter, [operation.id, before]));
    }, operation.path);
  const extra = alsoInExample[operation.id] ?? [];
  const query = operation.parameters
    .filter((parameter) => parameter.in === 'query' && (parameter.required || extra.includes(parameter.name)))
    .map((parameter) => `${encodeURIComponent(parameter.name)}=${value(parameter, [operation.id])}`);
  return query.length > 0 ? `${path}?${query.join('&')}` : path;
}

const headers: Readonly<Record<string, string>> = {
  publicKey: 'x-api-key: $PUBLIC_KEY',
  bearer: 'Authorization: Bearer $SECRET_KEY',
  secretKey: 'Authorization: Bearer $SECRET_KEY',
  recipientToken: 'Authorization: Bearer $RECIPIENT_TOKEN',
  session: 'Cookie: svc_session=$SESSION',
};

/** The secret key where either is accepted: an organisation can require it. */
function credentials(security: Security): string[] {
  const chosen = security.find((alternative) => 'secretKey' in alternative) ?? security[0] ?? {};
  return Object.keys(chosen).flatMap((scheme) => headers[scheme] ?? []);
}

export const singleQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
