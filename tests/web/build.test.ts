import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildPages } from '../../packages/web/build/build.ts';
import { entries, type PageName } from '../../packages/web/build/entries.ts';
import { fingerprint } from '../../packages/web/build/fingerprint.ts';
import { loadPages } from '../../packages/web/build/pages.ts';
import { dist } from '../../packages/web/build/paths.ts';

const BUILD_LIMIT_MS = 120_000;
const FIRST_VIEW_BYTES = 250_000;

const assetsOf = (html: string) =>
  [...html.matchAll(/(?:src|href)="\.\/assets\/([^"]+)"/g)].map(([, name = '']) => name);

/** What a browser loads before a page runs. */
function withStaticImports(names: readonly string[], assets: ReadonlyMap<string, { body: Buffer }>): string[] {
  const found = new Set<string>();
  const add = (name: string) => {
    const asset = assets.get(name);
    if (!asset || found.has(name)) return;
    found.add(name);
    if (!name.endsWith('.js')) return;
    for (const [, next = ''] of asset.body.toString().matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g)) add(next);
  };
  for (const name of names) add(name);
  return [...found];
}

describe('a fingerprint', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'svc-fingerprint-'));
    await mkdir(path.join(folder, 'src'));
    await write('src/page.ts', 'one');
    await write('lock.json', '{}');
  });
  afterEach(() => rm(folder, { recursive: true }));

  const write = (name: string, text: string) => writeFile(path.join(folder, name), text);
  const read = () => fingerprint(folder, ['src', 'lock.json']);

  it('is the same for the same sources, regardless of tests', async () => {
    const before = await read();
    await write('src/page.test.ts', 'a test');
    expect(await read()).toBe(before);
  });

  it.each([
    ['a file changes', () => write('src/page.ts', 'two')],
    ['a file is added', () => write('src/other.ts', '')],
    ['a version changes', () => write('lock.json', '{"a":1}')],
  ])('changes when %s', async (_, change) => {
    const before = await read();
    await change();
    expect(await read()).not.toBe(before);
  });
});

describe('the pages', () => {
  it(
    'are complete after concurrent builds, and leave nothing else behind',
    async () => {
      const name = `test-${randomUUID()}`;
      try {
        // Two of them: all are built before the tests.
        const pages = [entries.claim, entries.home];
        await Promise.all([buildPages(name, pages), buildPages(name, pages)]);
        const files = await readdir(path.join(dist, name, 'assets'));
        const plain = files.filter((file) => !file.endsWith('.br'));
        expect(files).toHaveLength(plain.length * 2);
        expect([...new Set(plain.map((file) => path.extname(file)))].sort()).toEqual(['.css', '.js', '.svg']);
        expect(await readdir(path.join(dist, name))).toEqual(expect.arrayContaining(pages));
        expect((await readdir(dist)).filter((other) => other.startsWith(`draft-${process.pid}`))).toEqual([]);
      } finally {
        await rm(path.join(dist, name), { recursive: true, force: true });
      }
    },
    BUILD_LIMIT_MS,
  );

  it.each(Object.keys(entries) as PageName[])(
    'name their assets by content, and contain no inline scripts: %s',
    async (page) => {
      const { html, assets } = await loadPages(() => undefined);
      const named = assetsOf(html[page]);
      expect(named.length).toBeGreaterThan(1);
      expect(named.filter((name) => !assets.has(name) || !/-[\w-]{8}\.\w+$/.test(name))).toEqual([]);
      expect(html[page]).not.toMatch(/<script[^>]*>[^<]|<style|\son\w+=|\sstyle=/);
    },
    BUILD_LIMIT_MS,
  );

  it(
    'show the dashboard first with less than 250 kB, without the schemas of the interface',
    async () => {
      const { html, assets } = await loadPages(() => undefined);
      const first = withStaticImports(assetsOf(html.dashboard), assets);
      const bytes = first.reduce((sum, name) => sum + (assets.get(name)?.brotli.length ?? 0), 0);
      expect(bytes).toBeGreaterThan(50_000);
      expect(bytes).toBeLessThan(FIRST_VIEW_BYTES);
      const scripts = first.map((name) => assets.get(name)?.body.toString() ?? '');
      expect(scripts.filter((text) => text.includes('operationId'))).toEqual([]);
    },
    BUILD_LIMIT_MS,
  );

  it(
    'are production builds regardless of NODE_ENV, with the scanner in a chunk of its own',
    async () => {
      expect(process.env.NODE_ENV).toBe('test');
      const { html, assets } = await loadPages(() => undefined);
      const scripts = [...assets].map(([name, { body }]) => ({ name, text: body.toString() }));
      expect(scripts.filter(({ text }) => text.includes('jsxDEV')).map(({ name }) => name)).toEqual([]);
      const scanner = scripts.filter(({ text }) => text.includes('getUserMedia')).map(({ name }) => name);
      expect(scanner).toHaveLength(1);
      expect(withStaticImports(assetsOf(html.claim), assets)).not.toContain(scanner[0]);
    },
    BUILD_LIMIT_MS,
  );
});
