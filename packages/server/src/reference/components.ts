import { catalogue, type ErrorCode } from '@svc/protocol';
import { breakable, type Html, html, join } from '../util/text.ts';
import { type OperationError, referredName, type Schema, type Security } from './document.ts';

export const methodBadge = (method: string): Html =>
  html`<span class="method ${method.toLowerCase()}">${method}</span>`;

export const plannedBadge = html`<span class="planned">Not built yet</span>`;

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*/g;

export function codeBox(title: string, kind: 'curl' | 'json', content: Html): Html {
  return html`<figure class="code"><figcaption>${title}</figcaption><pre class="${kind}"><code>${content}</code></pre></figure>
`;
}

export const curlBox = (title: string, command: string): Html => codeBox(title, 'curl', html`${command}`);

export const jsonBox = (title: string, value: unknown): Html =>
  codeBox(title, 'json', highlight(JSON.stringify(value, null, 2)));

function highlight(json: string): Html {
  const pieces: Html[] = [];
  let end = 0;
  for (const match of json.matchAll(TOKEN)) {
    const [token, text, colon] = match;
    const kind = text === undefined ? 'number' : colon === undefined ? 'string' : 'name';
    pieces.push(html`${json.slice(end, match.index)}<span class="${kind}">${token}</span>`);
    end = match.index + token.length;
  }
  return html`${pieces}${json.slice(end)}`;
}

const CODE_OR_BOLD = /(`[^`]+`|\*\*[^*]+\*\*)/;

/** Marks of descriptions: `code`, **bold** and, in `paragraphs`, an empty line. */
export function inline(text: string): Html {
  return html`${text.split(CODE_OR_BOLD).map((piece) => {
    if (/^`.+`$/s.test(piece)) return html`<code>${piece.slice(1, -1)}</code>`;
    if (/^\*\*.+\*\*$/s.test(piece)) return html`<strong>${piece.slice(2, -2)}</strong>`;
    return piece;
  })}`;
}

export function paragraphs(text: string): Html {
  const pieces = text.split(/\n{2,}/).filter((piece) => piece.trim() !== '');
  return html`${pieces.map((piece) => html`<p>${inline(piece)}</p>\n`)}`;
}

const errorAnchor = (code: string): string => `error-${code}`;

export const errorLink = (code: ErrorCode): Html =>
  html`<a href="#${errorAnchor(code)}"><code>${breakable(code)}</code></a>`;

/** Folded, because most errors are the same for every operation. */
export function operationErrors(label: string, errors: readonly OperationError[]): Html {
  if (errors.length === 0) return html``;
  const statuses = [...new Set(errors.map((error) => error.status))];
  const rows = errors.map(({ status, code, meaning }) => {
    const name = code in catalogue ? html`<a href="#${errorAnchor(code)}">${breakable(code)}</a>` : breakable(code);
    return html`<tr>${cells(name, status, meaning)}</tr>\n`;
  });
  return html`<details class="errors"><summary>Errors <span class="note">${statuses.join(', ')}</span></summary>
${errorTable(label, rows)}</details>
`;
}

export function errorCatalogue(): Html {
  const rows = Object.entries(catalogue).map(
    ([code, { status, message }]) =>
      html`<tr id="${errorAnchor(code)}">${cells(breakable(code), status, message)}</tr>\n`,
  );
  return errorTable('Every error', rows);
}

const cells = (name: Html, status: string | number, meaning: string): Html =>
  html`<th scope="row"><code>${name}</code><span class="note">${status}</span></th><td>${inline(meaning)}</td>`;

const errorTable = (label: string, rows: readonly Html[]): Html =>
  html`<div class="scroll"><table class="fields" aria-label="${label}">
<thead><tr><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${rows}</tbody></table></div>
`;

const schemes: Readonly<Record<string, { header: string; value: string }>> = {
  publicKey: { header: 'x-api-key', value: 'public key' },
  bearer: { header: 'Bearer', value: 'secret key or user token' },
  secretKey: { header: 'Bearer', value: 'secret key' },
  session: { header: 'Cookie', value: 'session of a member' },
  recipientToken: { header: 'Bearer', value: "recipient's token" },
  operatorToken: { header: 'Bearer', value: 'OPERATOR_TOKEN' },
};

export function credentialsOf(security: Security): Html {
  if (security.length === 0) return html`No credentials`;
  return join(
    security.map((alternative) => join(Object.keys(alternative).map(credential), ' and ')),
    ' or ',
  );
}

function credential(scheme: string): Html {
  const { header, value } = schemes[scheme] ?? { header: scheme, value: '' };
  return html`<span class="credential"><code>${header}</code> ${value}</span>`;
}

export const schemaAnchor = (name: string): string => `schema-${name}`;

/** `string`, `array of Call`, `integer or null`; named schemas are links. */
export function typeOf(schema: Schema): Html {
  const name = referredName(schema);
  if (name !== undefined) return html`<a href="#${schemaAnchor(name)}">${name}</a>`;
  if (schema.anyOf) return join(schema.anyOf.map(typeOf), ' or ');
  if (schema.type === 'array') return html`array of ${typeOf(schema.items ?? {})}`;
  if (schema.format) return html`${schema.type ?? 'value'} (${schema.format})`;
  return html`${schema.type ?? 'any value'}`;
}

/** A nullable field has its description at the other alternative. */
export const descriptionOf = (schema: Schema): string | undefined =>
  schema.description ?? schema.anyOf?.find((alternative) => alternative.description)?.description;

export function limitsOf(schema: Schema): Html[] {
  const limits: Html[] = [];
  const words = schema.enum ?? schema.anyOf?.find((alternative) => alternative.enum)?.enum;
  if (words) limits.push(html`${words.length === 1 ? 'Only' : 'One of'} ${join(words.map(code), ', ')}`);
  if (schema.pattern) limits.push(html`Matches ${code(schema.pattern)}`);
  else if (!words && !schema.format) limits.push(...range(schema.minLength, schema.maxLength, 'characters'));
  limits.push(...range(schema.minItems, schema.maxItems, 'items'));
  if (schema.exclusiveMinimum !== undefined) limits.push(html`Above ${count(schema.exclusiveMinimum)}`);
  limits.push(...range(schema.minimum, schema.maximum, ''));
  if (schema.default !== undefined) limits.push(html`Default ${code(JSON.stringify(schema.default))}`);
  return limits;
}

const code = (text: string): Html => html`<code>${text}</code>`;

const numbers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 });
const count = (value: number): string => numbers.format(value);

function range(least: number | undefined, most: number | undefined, unit: string): Html[] {
  const units = unit && ` ${unit}`;
  if (least !== undefined && most !== undefined) return [html`${count(least)} to ${count(most)}${units}`];
  if (most !== undefined) return [html`At most ${count(most)}${units}`];
  if (least !== undefined) return [html`At least ${count(least)}${units}`];
  return [];
}
