import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { catalogue, openApiDocument } from '@svc/protocol';
import { type Guide, type GuideLanguage, loadGuides } from '@svc/web/guides';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { escapeText, type Fragment, Html, html } from '../util/text.ts';
import {
  curlBox,
  errorCatalogue,
  errorLink,
  inline,
  jsonBox,
  methodBadge,
  paragraphs,
  plannedBadge,
} from './components.ts';
import { type OpenApi, type Operation, operationsOf, readDocument } from './document.ts';
import { operationSection, schemaSection } from './sections.ts';
import { style } from './style.ts';

interface Topic {
  readonly id: string;
  readonly title: string;
  readonly render: (baseUrl: string) => Html;
}

const rootOf = (baseUrl: string): string => baseUrl.replace(/\/v1$/, '');

const topics: readonly Topic[] = [
  { id: 'base-address', title: 'Base address', render: baseAddress },
  { id: 'first-request', title: 'First request', render: firstRequest },
  { id: 'authentication', title: 'Authentication', render: authentication },
  { id: 'environments', title: 'Environments', render: environments },
  { id: 'user-tokens', title: 'User tokens', render: userTokens },
  { id: 'idempotency', title: 'Idempotency keys', render: idempotency },
  { id: 'rate-limit', title: 'Rate limit', render: rateLimit },
  { id: 'error-body', title: 'Error body', render: errorBody },
  { id: 'pagination', title: 'Pagination', render: pagination },
];

function introduction(
  info: { readonly title: string; readonly description?: string },
  baseUrl: string,
  operations: readonly Operation[],
): Html {
  const sections = topics.map(
    ({ id, title, render }) => html`<section class="topic" id="${id}" aria-labelledby="${id}-title">
<h3 id="${id}-title"><a href="#${id}">${title}</a></h3>
${render(baseUrl)}</section>
`,
  );
  return html`<h1>${info.title} reference</h1>
<p class="lead">${inline(info.description ?? '')} A service that you run yourself, and that your app talks to in JSON over HTTP.</p>
<section class="intro" id="introduction" aria-labelledby="introduction-title">
<h2 id="introduction-title">Introduction</h2>
<p>svc keeps wallets whose keys only their owners can use, pays the gas for what they sign, records transfers and purchases that happened
on the chain, sells services from a catalogue, converts amounts to USD, and turns your organisation’s credits into gift codes.</p>
${
  operations.some(({ planned }) => planned) &&
  html`<p>Operations marked ${plannedBadge} are part of the interface and answer 501 ${errorLink('not_implemented')} until they are built.</p>
`
}${sections}</section>
`;
}

function baseAddress(baseUrl: string): Html {
  return html`<p class="address"><code>${baseUrl}</code></p>
<p>Every path on this page follows this address. Bodies are JSON (<code>application/json</code>) of at most 1 MiB, timestamps are
ISO 8601, and unknown query parameters are ignored.</p>
<p>The same description for machines, in OpenAPI 3.1: <a href="${new URL(baseUrl).pathname}/openapi.json"><code>openapi.json</code></a>.</p>
`;
}

function firstRequest(baseUrl: string): Html {
  const command = `curl '${baseUrl}/skus?limit=3' \\\n  -H "x-api-key: $PUBLIC_KEY" \\\n  -H "Authorization: Bearer $SECRET_KEY"`;
  return html`<p>Take the two keys of your organisation, <code>publicKey</code> and <code>secretKey</code>. A service that was started with
<code>npm start</code> keeps them for development in <code>.svc/credentials.json</code>. Every example on this page reads them from the
variables <code>PUBLIC_KEY</code> and <code>SECRET_KEY</code>.</p>
${curlBox('The first three services of the catalogue', command)}`;
}

function authentication(): Html {
  return html`<div class="scroll"><table aria-label="The two headers">
<thead><tr><th scope="col">Header</th><th scope="col">Holds</th></tr></thead>
<tbody>
<tr><th scope="row"><code>x-api-key</code></th><td>Your <strong>public key</strong>. It names your application and is safe to share.</td></tr>
<tr><th scope="row"><code>Authorization</code></th><td><code>Bearer</code> and, on your server, your <strong>secret key</strong>; in an app, the
<strong>token of the user</strong>. Never put the secret key into an app or under version control.</td></tr>
</tbody></table></div>
<p>Wallets, transactions, SKUs, purchases and exchanges want both headers, and both keys must belong to the same organisation and
environment. Managing gifts takes either one: the secret key as bearer or the public key, until your organisation switches on that it
needs the secret key. A user token never manages gifts. Claiming and redeeming a gift needs no credentials, the code is enough. Each
operation below says what it wants; what is missing or wrong is a 401.</p>
<p>What belongs to another organisation answers exactly as if it did not exist.</p>
`;
}

function environments(): Html {
  return html`<div class="scroll"><table aria-label="The two environments">
<thead><tr><th scope="col">Keys</th><th scope="col">Environment</th></tr></thead>
<tbody>
<tr><th scope="row"><code>pk_dev_…</code> <code>sk_dev_…</code></th><td><strong>Development</strong>, on the sandbox chain inside the service. Nothing
real moves.</td></tr>
<tr><th scope="row"><code>pk_prod_…</code> <code>sk_prod_…</code></th><td><strong>Production</strong>, on the live chains that this deployment is
configured for; for any other the answer is 400 ${errorLink('chain_not_configured')}.</td></tr>
</tbody></table></div>
<p>Each environment has its own keys, wallets, transactions, gifts and credits. Nothing of one can be seen with a key of the other.</p>
`;
}

function userTokens(baseUrl: string): Html {
  const command = `curl -X POST '${rootOf(baseUrl)}/sandbox/identity/token' \\\n  -H 'content-type: application/json' \\\n  -d '{"sub": "user-123"}'`;
  return html`<p>In an app, send the token of the signed-in user where a server sends the secret key. It is a JWT from your identity provider,
checked with the key set (JWKS) that your organisation names.</p>
<ul>
<li>It is signed with RS256, PS256, ES256, ES384 or EdDSA and must have <code>exp</code>. <code>nbf</code> is checked where present, <code>iss</code>
and <code>aud</code> where your organisation sets them. Clocks may differ by 5 seconds.</li>
<li>Its <code>sub</code>, or the claim that your organisation names instead, is the <code>externalUserId</code>.</li>
<li>It reaches only that user’s own wallets and their transactions. Another user’s wallet is a 404 as if it did not exist; creating or
changing for another user is 401 ${errorLink('other_user')}.</li>
</ul>
<p>Development needs no identity provider: while the sandbox is on, the service issues tokens for its development organisation itself.</p>
${curlBox('A token for user-123, answered as {"token": "…"}', command)}`;
}

function idempotency(): Html {
  return html`<p>Every POST takes the header <code>Idempotency-Key</code>, at most 255 characters of your choice, remembered for 24 hours. When you do
not know whether a request arrived, send it again with the same key.</p>
<ul>
<li>The same key and body answer what the first request answered, with <code>idempotency-replayed: true</code>.</li>
<li>The same key with another body is 400 ${errorLink('idempotency_key_reused')}.</li>
<li>While the first request is still running, the answer is 400 ${errorLink('idempotency_key_in_progress')}.</li>
</ul>
`;
}

function rateLimit(): Html {
  return html`<p>Each API key has a number of requests a minute: 100, unless this deployment sets another. Every answer to a request with a key
says where you stand in <code>RateLimit-Limit</code>, <code>RateLimit-Remaining</code> and <code>RateLimit-Reset</code>. Beyond the limit the
answer is 429 ${errorLink('rate_limited')}, and <code>Retry-After</code> says when to go on.</p>
<p>The claim endpoints take no key and count by client address: 100 requests and 10 unknown codes a minute.</p>
`;
}

function errorBody(): Html {
  return html`<p>Every error has the same body. <code>error</code> is a stable code for your program, <code>message</code> says what to do. The
codes are listed with each operation and <a href="#errors">all together</a>.</p>
${jsonBox('400', { error: 'wallet_ambiguous', message: catalogue.wallet_ambiguous.message })}<p>Every answer, good or bad, has an <code>x-request-id</code>. With it the operator finds the request in the log.</p>
`;
}

function pagination(): Html {
  return html`<p>Lists take <code>page</code> (from 1) and <code>limit</code> (10 unless you say otherwise; above 100 counts as 100) and answer an
envelope.</p>
${jsonBox('A page', { data: ['…'], total: 42, page: 1, limit: 10, totalPages: 5 })}`;
}

interface ReferenceOptions {
  readonly baseUrl: string;
  /** Script and style of packages/web, and links to the guides; without them the page makes no request. */
  readonly shell?: Shell;
}

interface Shell {
  /** From the page to the folder that has `docs`. */
  readonly toRoot: string;
  readonly head: string;
  readonly guides: readonly Guide[];
}

/** One HTML page that can be read without its script. Send it with `referenceCsp`. */
export function renderReference(document: object, options: ReferenceOptions): string {
  const openApi = readDocument(document);
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const operations = operationsOf(openApi);
  const groups = byTag(openApi, operations);
  const title = `${openApi.info.title} reference`;
  const content = html`${introduction(openApi.info, baseUrl, operations)}${[...groups].map(([tag, members]) =>
    tagGroup(openApi, tag, members, baseUrl),
  )}${schemaGroup(openApi)}${errorGroup()}<footer>${title} ${openApi.info.version}</footer>\n`;
  const { shell } = options;
  const links = shell && guideLinks(shell, 'en', undefined);
  return layout({ title, bar: bar(title), navigation: navigation(title, groups, links), content, shell });
}

/** The guides of a language; of the one that is shown its sections too. */
function guideLinks({ toRoot, guides }: Shell, language: GuideLanguage, current: Guide | undefined): Html {
  const entries = guides
    .filter((guide) => guide.language === language)
    .map((guide) => {
      const place = guide === current ? html` aria-current="page"` : '';
      const sections =
        guide === current
          ? guide.sections.slice(1).map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>\n`)
          : [];
      const below = sections.length > 0 && html`<ul class="inside-guide">\n${sections}</ul>`;
      return html`<li><a href="${toRoot}docs/${guide.path}"${place}>${guide.title}</a>${below}</li>\n`;
    });
  return html`<p>${language === 'es' ? 'Guías' : 'Guides'}</p>\n<ul>\n${entries}</ul>\n`;
}

function renderGuide(guide: Guide, shell: Shell): string {
  const { language, other } = guide;
  const [reference, translated] = language === 'es' ? ['Referencia', 'English'] : ['Reference', 'Español'];
  const title = 'svc docs';
  const choice =
    other !== undefined &&
    html`<p class="note"><a href="${shell.toRoot}docs/${other}" lang="${language === 'es' ? 'en' : 'es'}">${translated}</a></p>\n`;
  const nav = html`<nav id="${CONTENTS}" aria-label="${language === 'es' ? 'Contenido' : 'Contents'}">
<p class="head"><a class="brand" href="${shell.toRoot}docs">${title}</a> <a class="button" href="#${BAR}">${language === 'es' ? 'Cerrar' : 'Close'}</a></p>
${guideLinks(shell, language, guide)}<ul class="more">
<li><a href="${shell.toRoot}docs">${reference}</a></li>
</ul>
</nav>
`;
  const content = html`<article class="guide">${choice}${new Html(guide.html)}</article>`;
  return layout({
    title: `${guide.title} · svc`,
    bar: bar(title, language),
    navigation: nav,
    content,
    shell,
    language,
  });
}

interface SearchEntry {
  readonly title: string;
  readonly place: string;
  readonly path: string;
  readonly text: string;
}

/** Operations, and the sections of the guides. */
function searchIndex(document: object, guides: readonly Guide[]): SearchEntry[] {
  const operations = operationsOf(readDocument(document)).map(({ id, method, path, summary, description }) => ({
    ...{ title: summary, place: `${method} ${path}`, path: `#${id}`, text: `${id} ${description}` },
  }));
  const sections = guides.flatMap((guide) =>
    guide.sections.map(({ id, title, text }, index) => ({
      ...{ title, place: guide.title, path: `/${guide.path}${index === 0 ? '' : `#${id}`}`, text },
    })),
  );
  return [...operations, ...sections];
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
  readonly shell?: Shell | undefined;
  readonly language?: GuideLanguage;
}

export function layout({ title, bar, navigation, content, shell, language = 'en' }: Layout): string {
  const root = shell && html` data-root="${shell.toRoot}"`;
  return html`<!doctype html>
<html lang="${language}"${root}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${shell ? new Html(shell.head) : html`<link rel="icon" href="data:,">`}
<style>${new Html(style)}</style>
</head>
<body id="top">
<a class="skip" href="#main">${language === 'es' ? 'Ir al contenido' : 'Skip to the content'}</a>
${bar}<div class="frame">
${navigation}<main id="main">
${content}</main>
</div>
</body>
</html>
`.text;
}

/** Anchors that open and close the navigation of a narrow page. */
const CONTENTS = 'contents';
const BAR = 'bar';

const tagAnchor = (tag: string): string => `tag-${tag.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`;

const bar = (title: string, language: GuideLanguage = 'en'): Html =>
  html`<div class="bar" id="${BAR}"><a class="brand" href="#top">${title}</a>
<a class="button" href="#${CONTENTS}">${language === 'es' ? 'Contenido' : 'Contents'}</a></div>
`;

function navigation(
  title: string,
  groups: ReadonlyMap<string, readonly Operation[]>,
  guides: Html | undefined = undefined,
): Html {
  return html`<nav id="${CONTENTS}" aria-label="Contents">
<p class="head"><a class="brand" href="#top">${title}</a> <a class="button" href="#${BAR}">Close</a></p>
${guides}${navigationGroup(
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

/** Allows the page's own style, and script, style and requests of this service. */
export function referenceCsp(page: string): string {
  const style = page.slice(page.indexOf('<style>') + '<style>'.length, page.indexOf('</style>'));
  return [
    "default-src 'none'",
    `style-src 'self' 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    "script-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const compress = promisify(brotliCompress);
/** Half a second for the reference at the best quality; this one takes a tenth. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };

interface Answer {
  readonly body: Buffer;
  readonly brotli: Buffer;
  readonly etag: string;
  readonly type: string;
  readonly policy: string | undefined;
}

async function answerOf(text: string, type: 'text/html' | 'application/json'): Promise<Answer> {
  const body = Buffer.from(text);
  const policy = type === 'text/html' ? referenceCsp(text) : undefined;
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { body, brotli: await compress(body, BROTLI), etag, type: `${type}; charset=utf-8`, policy };
}

function send({ headers }: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  reply.header('cache-control', 'no-cache').header('etag', answer.etag).header('vary', 'accept-encoding');
  if (answer.policy !== undefined) reply.header('content-security-policy', answer.policy);
  if (headers['if-none-match'] === answer.etag) return reply.code(304).send();
  reply.type(answer.type);
  if (!/\bbr\b/.test(headers['accept-encoding']?.toString() ?? '')) return reply.send(answer.body);
  return reply.header('content-encoding', 'br').send(answer.brotli);
}

/** Tags of the built page: its script, style and icon. */
const headOf = (built: string, toRoot: string): string =>
  [...built.matchAll(/<(?:script|link)\b[^>]*"\.\/assets\/[^>]*>(?:<\/script>)?/g)]
    .map(([tag]) => tag.replaceAll('"./assets/', `"${escapeText(toRoot)}assets/`))
    .join('\n');

/** Everything is rendered when it is requested first. */
export function registerReference(app: FastifyInstance, publicUrl: string, built: string): void {
  const baseUrl = `${publicUrl}/v1`;
  const answers = new Map<string, Promise<Answer>>();
  let guides: Promise<readonly Guide[]> | undefined;
  const shellOf = async (toRoot: string): Promise<Shell> => {
    guides ??= loadGuides();
    return { toRoot, head: headOf(built, toRoot), guides: await guides };
  };
  const remembered = (name: string, render: () => Promise<Answer>) => {
    const known = answers.get(name) ?? render();
    answers.set(name, known);
    known.catch(() => answers.delete(name));
    return known;
  };
  const reference = async () =>
    answerOf(renderReference(openApiDocument(baseUrl), { baseUrl, shell: await shellOf('./') }), 'text/html');
  const search = async () => {
    const { guides } = await shellOf('./');
    return answerOf(JSON.stringify(searchIndex(openApiDocument(baseUrl), guides)), 'application/json');
  };
  const guide = (path: string) => async (request: FastifyRequest, reply: FastifyReply) => {
    const shell = await shellOf(path.startsWith('es/') ? '../../' : '../');
    const found = shell.guides.find((one) => one.path === path);
    if (!found) return reply.callNotFound();
    return send(request, reply, await remembered(path, () => answerOf(renderGuide(found, shell), 'text/html')));
  };
  app.get('/docs', async (request, reply) => send(request, reply, await remembered('', reference)));
  app.get('/docs/search.json', async (request, reply) => send(request, reply, await remembered('search.json', search)));
  app.get<{ Params: { name: string } }>('/docs/:name', async (request, reply) =>
    guide(request.params.name)(request, reply),
  );
  app.get<{ Params: { name: string } }>('/docs/es/:name', async (request, reply) =>
    guide(`es/${request.params.name}`)(request, reply),
  );
}
