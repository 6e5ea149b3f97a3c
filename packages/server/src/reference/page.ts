import type { OpenApi } from './document.ts';
import { errorCatalogue } from './error-table.ts';
import { type Fragment, type Html, html } from './html.ts';
import { introduction } from './introduction.ts';
import { layout } from './layout.ts';
import { paragraphs } from './markdown.ts';
import { bar, navigation, tagAnchor } from './navigation.ts';
import { operationSection } from './operation-section.ts';
import { type Operation, operationsOf } from './operations.ts';
import { schemaSection } from './schema-section.ts';

export { referenceCsp } from './csp.ts';

export interface ReferenceOptions {
  /** The base address that the examples use, ending in the version segment. */
  readonly baseUrl: string;
}

/**
 * The reference as one HTML page that needs nothing else: no script, no font, no request. Send it with `referenceCsp`.
 *
 *   renderReference(openApiDocument(baseUrl), { baseUrl })
 */
export function renderReference(document: Readonly<Record<string, unknown>>, options: ReferenceOptions): string {
  // The document is our own, made from typed endpoints; the page only names the parts that it reads.
  const openApi = document as unknown as OpenApi;
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const operations = operationsOf(openApi);
  const groups = byTag(openApi, operations);
  const title = `${openApi.info.title} reference`;
  const content = html`${introduction(openApi.info, baseUrl, operations)}${[...groups].map(([tag, members]) =>
    tagGroup(openApi, tag, members, baseUrl),
  )}${schemaGroup(openApi)}${errorGroup()}<footer>${title} ${openApi.info.version}</footer>\n`;
  return layout({ title, bar: bar(title), navigation: navigation(title, groups), content });
}

/** In the order of the document's tags. */
function byTag(openApi: OpenApi, operations: readonly Operation[]): Map<string, Operation[]> {
  const groups = new Map<string, Operation[]>(openApi.tags.map(({ name }) => [name, []]));
  for (const operation of operations) groups.set(operation.tag, [...(groups.get(operation.tag) ?? []), operation]);
  return groups;
}

function tagGroup(openApi: OpenApi, tag: string, members: readonly Operation[], baseUrl: string): Html {
  const description = openApi.tags.find(({ name }) => name === tag)?.description ?? '';
  const sections = members.map((operation) => operationSection(operation, openApi.components.schemas, baseUrl));
  return group(tagAnchor(tag), tag, [paragraphs(description), sections]);
}

function schemaGroup({ components: { schemas } }: OpenApi): Html {
  const names = Object.keys(schemas).sort();
  const sections = names.map((name) => schemaSection(name, schemas[name] ?? {}, schemas));
  return group('schemas', 'Schemas', [
    html`<p>The named objects that requests and answers are made of.</p>\n`,
    sections,
  ]);
}

const errorGroup = (): Html =>
  group('errors', 'Errors', [html`<p>Every code that the field <code>error</code> can hold.</p>\n`, errorCatalogue()]);

const group = (anchor: string, title: string, content: Fragment): Html =>
  html`<section class="group" id="${anchor}" aria-labelledby="${anchor}-title">
<h2 id="${anchor}-title">${title}</h2>
${content}</section>
`;
