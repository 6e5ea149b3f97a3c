import { createHash } from 'node:crypto';
import { allEndpoints, catalogue, openApiDocument } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { readPage, readSection } from '../../testing/reference-page.ts';
import { referenceCsp, renderReference } from './page.ts';

const baseUrl = 'https://pay.example/v1';
const page = renderReference(openApiDocument(baseUrl), { baseUrl });
const elements = readPage(page);
const byId = new Map(elements.map((element) => [element.attributes.id, element]));
const hrefs = elements.flatMap(({ attributes }) => attributes.href ?? []);

describe('the reference page', () => {
  it.each(allEndpoints)('shows $operationId with its method, path, summary and place in the navigation', (endpoint) => {
    const section = readSection(page, endpoint.operationId);
    const route = section.find(({ attributes }) => attributes.class === 'route');
    expect(route?.text).toBe(`${endpoint.method} ${endpoint.path}`);
    expect(section.find(({ name }) => name === 'h3')?.text).toContain(endpoint.summary);
    expect(byId.get('contents')?.text).toContain(`${endpoint.method} ${endpoint.operationId}`);
    expect(hrefs).toContain(`#${endpoint.operationId}`);
  });

  it.each(allEndpoints)('marks $operationId as not built exactly while it is planned', (endpoint) => {
    const section = readSection(page, endpoint.operationId);
    const planned = endpoint.planned ?? false;
    expect(section.some(({ attributes }) => attributes.class === 'planned')).toBe(planned);
    expect(section.at(-1)?.text.match(/not built yet/gi)?.length ?? 0).toBe(planned ? 2 : 0);
  });

  it('shows for every endpoint which credentials it needs', () => {
    const credentials = {
      both: 'x-api-key public key and Bearer secret key or user token',
      secret: 'x-api-key public key and Bearer secret key',
      either: 'x-api-key public key or Bearer secret key',
      public: 'x-api-key public key',
      none: 'No credentials',
      'sign-in': 'No credentials',
      recipient: "x-api-key public key and Bearer recipient's token",
      session: 'Cookie session of a member',
      operator: 'Cookie session of a member or Bearer OPERATOR_TOKEN',
    };
    for (const { operationId, access } of allEndpoints) {
      const line = readSection(page, operationId).find(({ attributes }) => attributes.class === 'credentials');
      expect(line?.text).toBe(`Credentials ${credentials[access]}`);
    }
  });

  it('has a row for every error of the catalogue', () => {
    for (const [code, { status, message }] of Object.entries(catalogue)) {
      expect(byId.get(`error-${code}`)?.text).toBe(`${code}${status}${message}`);
    }
  });

  it('has a target for every link', () => {
    const elsewhere = hrefs.filter((href) => !href.startsWith('#'));
    expect(elsewhere).toEqual(['data:,', '/v1/openapi.json']);
    for (const href of hrefs.filter((href) => href.startsWith('#'))) expect([...byId.keys()]).toContain(href.slice(1));
  });

  it('uses every id once', () => {
    const ids = elements.flatMap(({ attributes }) => attributes.id ?? []);
    expect(ids.length).toBe(new Set(ids).size);
  });

  it('makes no request: no address, script or inline style in an attribute', () => {
    for (const { name, attributes } of elements) {
      expect(name).not.toBe('script');
      for (const [key, value] of Object.entries(attributes)) {
        expect(key).not.toMatch(/^(style|src|srcset|action|on.*)$/);
        expect(value).not.toMatch(/https?:|\/\//);
      }
    }
    expect(page).not.toMatch(/@import|url\(/);
  });

  it('allows its own style and nothing else', () => {
    const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(style).toContain('prefers-color-scheme: dark');
    expect(page.match(/<style/g)).toHaveLength(1);
    expect(referenceCsp(page)).toContain("default-src 'none'");
    expect(referenceCsp(page)).toContain(`style-src 'self' 'sha256-${hash}';`);
    expect(referenceCsp(page)).not.toMatch(/unsafe|https?:|\*/);
  });

  it('has a language, a title, landmarks, a skip link and headings that skip no level', () => {
    const names = elements.map(({ name }) => name);
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(elements.find(({ name }) => name === 'title')?.text).toBe('svc reference');
    for (const name of ['main', 'nav', 'h1']) expect(names.filter((other) => other === name)).toHaveLength(1);
    expect(elements.find(({ name }) => name === 'a')?.attributes).toEqual({ class: 'skip', href: '#main' });
    const levels = names.flatMap((name) => (/^h[1-6]$/.test(name) ? Number(name[1]) : []));
    levels.reduce((before, level) => {
      expect(level).toBeLessThanOrEqual(before + 1);
      return level;
    }, 0);
  });

  it('keeps every table and every command in a box that scrolls by itself', () => {
    const scrolling = page.match(/<div class="scroll"><table/g)?.length;
    expect(scrolling).toBe(elements.filter(({ name }) => name === 'table').length);
    expect(page).toMatch(/\.scroll \{ overflow-x: auto;/);
    expect(page).toMatch(/\npre \{[^}]*overflow-x: auto;/);
  });

  it('shows no word for what the document lacks', () => {
    const main = byId.get('main')?.text ?? '';
    expect(main).not.toMatch(/undefined|\[object|NaN/);
  });

  it('takes the base address with or without a slash at its end', () => {
    expect(renderReference(openApiDocument(baseUrl), { baseUrl: `${baseUrl}/` })).toBe(page);
  });
});

describe('text from the document', () => {
  const hostile = '<script>alert(1)</script>"\'><img src=x onerror=alert(1)>&amp; `<b>` **<i>**';
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const isText =
          ['summary', 'description', 'pattern', 'default', 'title'].includes(key) && typeof item === 'string';
        return [key, isText ? hostile : walk(item)];
      }),
    );
  };

  it('stays text, wherever it stands', () => {
    const poisoned = walk(openApiDocument(baseUrl)) as Record<string, unknown>;
    const names = new Set(readPage(renderReference(poisoned, { baseUrl })).map(({ name }) => name));
    const usual = new Set(elements.map(({ name }) => name));
    expect([...names].filter((name) => !usual.has(name))).toEqual([]);
    expect(names.has('script')).toBe(false);
  });

  it('stays text in names, paths, tags and examples', () => {
    const document = JSON.parse(
      JSON.stringify(openApiDocument(baseUrl))
        .replaceAll('externalUserId', '<u x=1>')
        .replaceAll('Transactions', "<u x='1'>")
        .replaceAll('/skus', '/<u x=1>')
        .replaceAll('getSku', '<u>')
        .replaceAll('RECARGAS', '</pre><u>'),
    ) as Record<string, unknown>;
    const rendered = readPage(renderReference(document, { baseUrl }));
    expect(rendered.some(({ name }) => name === 'u')).toBe(false);
    expect(rendered.find(({ attributes }) => attributes.id === 'main')?.text).toContain('</pre><u>');
  });
});
