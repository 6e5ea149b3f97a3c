import { referredName, type Schema } from './document.ts';
import { type Html, html, join } from './html.ts';

export const schemaAnchor = (name: string): string => `schema-${name}`;

/** What a field holds, in words: `string`, `array of Call`, `integer or null`. Named schemas are links. */
export function typeOf(schema: Schema): Html {
  const name = referredName(schema);
  if (name !== undefined) return html`<a href="#${schemaAnchor(name)}">${name}</a>`;
  if (schema.anyOf) return join(schema.anyOf.map(typeOf), ' or ');
  if (schema.type === 'array') return html`array of ${typeOf(schema.items ?? {})}`;
  if (schema.format) return html`${schema.type ?? 'value'} (${schema.format})`;
  return html`${schema.type ?? 'any value'}`;
}

/** The description of a field that may be null stands at its other alternative. */
export const descriptionOf = (schema: Schema): string | undefined =>
  schema.description ?? schema.anyOf?.find((alternative) => alternative.description)?.description;

/** What the schema asks of a value beyond its type, a short phrase each. */
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
