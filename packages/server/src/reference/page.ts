import { createHash } from 'node:crypto';
import { openApiDocument } from '@svc/protocol';
import type { FastifyInstance } from 'fastify';
import { type Fragment, Html, html } from '../util/html.ts';
import { errorCatalogue, methodBadge, paragraphs } from './components.ts';
import { type OpenApi, type Operation, operationsOf } from './document.ts';
import { introduction, topics } from './introduction.ts';
import { operationSection, schemaSection } from './sections.ts';
import { style } from './style.ts';

export interface ReferenceOptions {
  readonly baseUrl: string;
}

/** One HTML page without scripts, fonts and requests. Send it with `referenceCsp`. */
export function renderReference(document: Readonly<Record<string, unknown>>, options: ReferenceOptions): string {
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

interface Layout {
  readonly title: string;
  readonly bar: Html;
  readonly navigation: Html;
  readonly content: Html;
}

export function layout({ title, bar, navigation, content }: Layout): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${new Html(style)}</style>
</head>
<body id="top">
<a class="skip" href="#main">Skip to the content</a>
${bar}<div class="frame">
${navigation}<main id="main">
${content}</main>
</div>
</body>
</html>
`.text;
}

/** Anchors that open and close the navigation of a narrow page. */
export const CONTENTS = 'contents';
export const BAR = 'bar';

export const tagAnchor = (tag: string): string => `tag-${tag.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`;

export const bar = (title: string): Html => html`<div class="bar" id="${BAR}"><a class="brand" href="#top">${title}</a>
<a class="button" href="#${CONTENTS}">Contents</a></div>
`;

export function navigation(title: string, groups: ReadonlyMap<string, readonly Operation[]>): Html {
  return html`<nav id="${CONTENTS}" aria-label="Contents">
<p class="head"><a class="brand" href="#top">${title}</a> <a class="button" href="#${BAR}">Close</a></p>
${navigationGroup(
  'Introduction',
  'introduction',
  topics.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>\n`),
)}${[...groups].map(([tag, operations]) => navigationGroup(tag, tagAnchor(tag), operations.map(entry)))}<ul class="more">
<li><a href="#schemas">Schemas</a></li>
<li><a href="#errors">Errors</a></li>
</ul>
</nav>
`;
}

const navigationGroup = (title: string, anchor: string, entries: readonly Html[]): Html =>
  html`<p><a href="#${anchor}">${title}</a></p>\n<ul>\n${entries}</ul>\n`;

function entry({ id, method, planned }: Operation): Html {
  const name = planned ? html`<span class="muted">${id}</span><span class="hidden"> (not built yet)</span>` : id;
  return html`<li><a href="#${id}">${methodBadge(method)} ${name}</a></li>\n`;
}

/** Allows the page's own style and, as `data:`, its empty icon. */
export function referenceCsp(page: string): string {
  const style = page.slice(page.indexOf('<style>') + '<style>'.length, page.indexOf('</style>'));
  return [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

export function registerReference(app: FastifyInstance, publicUrl: string): void {
  const baseUrl = `${publicUrl}/v1`;
  let html: string | undefined;
  app.get('/docs', async (_, reply) => {
    html ??= renderReference(openApiDocument(baseUrl), { baseUrl });
    reply.header('content-security-policy', referenceCsp(html));
    return reply.type('text/html; charset=utf-8').send(html);
  });
}
