import { exampleOf } from '@svc/protocol';
import { methodBadge, plannedBadge } from './badges.ts';
import { curlBox, jsonBox } from './code.ts';
import { credentialsOf } from './credentials.ts';
import { curlOf } from './curl.ts';
import { referredName, type Schema, type Schemas } from './document.ts';
import { operationErrors } from './error-table.ts';
import { fieldTable, hasFields, parameterTable } from './field-table.ts';
import { type Html, html } from './html.ts';
import { inline, paragraphs } from './markdown.ts';
import type { Operation } from './operations.ts';
import { descriptionOf, typeOf } from './schema-type.ts';

/** One operation: what it is for and takes on the left, what travels on the right. */
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
