import { exampleOf } from '@svc/protocol';
import { jsonBox } from './code.ts';
import type { Schema, Schemas } from './document.ts';
import { fieldTable, hasFields } from './field-table.ts';
import { type Html, html } from './html.ts';
import { paragraphs } from './markdown.ts';
import { schemaAnchor, typeOf } from './schema-type.ts';

/** A named schema: its fields on the left, an example on the right. */
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
