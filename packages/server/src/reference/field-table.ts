import type { Parameter, Schema } from './document.ts';
import { breakable, type Html, html, join } from './html.ts';
import { inline } from './markdown.ts';
import { descriptionOf, limitsOf, typeOf } from './schema-type.ts';

/** Unnamed objects nest two deep in the interface; beyond this a table is no longer readable anyway. */
const MAX_DEPTH = 4;

/** What is worth saying of a field: in a request that it must be there, in an answer that it may be missing. */
type Mark = 'required' | 'optional';

interface Field {
  /** The names of the objects around it, as `userSignature.` or `recipients[].`. */
  readonly inside: string;
  readonly name: string;
  /** Where a parameter stands. */
  readonly place?: string;
  readonly mark?: Mark;
  readonly schema: Schema;
  readonly description: string | undefined;
}

/** The fields of an object, those of objects inside it below their own, each with its whole path. */
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

/** Whether there is anything to show in a table: a bare number or a free-form object has no fields. */
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

/** The unnamed objects that a field holds: itself, the items of a list, or one of several alternatives. */
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
