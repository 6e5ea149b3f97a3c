import { mkdir, mkdtemp, rm, rmdir, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ExampleServer, startExample } from '../../examples/wallet-app/server/example-server.ts';

const root = path.resolve(import.meta.dirname, '../..');
const app = path.join(root, 'examples/wallet-app');
const SECRET = 'sk_dev_of_nobody';
const KEYS = JSON.stringify({ secretKey: SECRET });
/** Plain, or as Vite embeds files into modules. */
const gaveAway = (body: string) => body.includes(SECRET) || body.includes(btoa(KEYS));
const credentials = { baseUrl: 'http://127.0.0.1:9/v1', publicKey: 'pk_dev_of_nobody' };

let example: ExampleServer;
/** Data folders of a start at the root and of one within the app. */
const dataFolders = [path.join(root, '.svc'), path.join(app, '.svc')];
const keyFolders: string[] = [];

beforeAll(async () => {
  for (const dataFolder of dataFolders) {
    await mkdir(dataFolder, { recursive: true, mode: 0o700 });
    // Next to a developer's files, never replacing them.
    const keyFolder = await mkdtemp(path.join(dataFolder, 'example-test-'));
    keyFolders.push(keyFolder);
    await writeFile(path.join(keyFolder, 'credentials.json'), KEYS);
  }
  // Vite logs every file that it refuses.
  for (const level of ['error', 'warn'] as const) vi.spyOn(console, level).mockImplementation(() => undefined);
  example = await startExample(credentials, { port: 0, watch: false });
});
afterAll(async () => {
  await example?.stop();
  vi.restoreAllMocks();
  await Promise.all(keyFolders.map((folder) => rm(folder, { recursive: true, force: true })));
  // Fails if a developer has files there, which must stay.
  await Promise.all(dataFolders.map((folder) => rmdir(folder).catch(() => undefined)));
});

/** `fetch` would normalise `..`. */
async function ask(spelt: string): Promise<{ status: number | undefined; body: string }> {
  const { hostname, port } = new URL(example.url);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ hostname, port, path: spelt }, resolve).on('error', reject);
  });
  return { status: response.statusCode, body: await text(response) };
}

/** Vite handles a file differently for each of these. */
const QUERIES = ['', '?raw', '?import&raw', '?url', '?import&url', '?inline', '?import', '?raw??', '?html-proxy'];

/** Equivalent and similar paths to the two files. */
function waysToKeys(): { readonly same: string[]; readonly astray: string[] } {
  const [outer = '', inner = ''] = keyFolders;
  const [fromRoot, fromApp] = [path.relative(root, outer), path.relative(app, inner)];
  const same = [
    `/@fs/${outer}`,
    `/@fs${root}/packages/../${fromRoot}`,
    `/@fs${root}/packages/%2e%2e/${fromRoot}`,
    `/@fs${app}/../../${fromRoot}`,
    `/${fromApp}`,
    `/src/../${fromApp}`,
  ];
  const astray = [
    `/@fs${root}/packages/..%5c${fromRoot}`,
    `/@fs${root}/packages/..%2f${fromRoot}`,
    `/@fs${root}/packages/..%252f${fromRoot}`,
    `/../../${fromRoot}`,
    `/%2e%2e/%2e%2e/${fromRoot}`,
    `/..%2f..%2f${fromRoot}`,
    `/src/../../../${fromRoot}`,
    `/src/..%2f${fromApp}`,
  ];
  return { same, astray };
}

describe('the server of the example app', () => {
  it.each(QUERIES)("refuses the files of the service's data folder: credentials.json%s", async (query) => {
    for (const folder of keyFolders) {
      const { status, body } = await ask(`/@fs${folder}/credentials.json${query}`);
      expect(status).toBe(403);
      expect(gaveAway(body)).toBe(false);
    }
  });

  it('does not serve it under any form of its path', async () => {
    const { same, astray } = waysToKeys();
    for (const way of [...same, ...astray]) {
      for (const query of QUERIES) {
        const { status, body } = await ask(`${way}/credentials.json${query}`);
        expect(gaveAway(body), way + query).toBe(false);
        if (same.includes(way)) expect(status, way + query).toBe(403);
      }
    }
  });

  it('refuses the rest of the repository', async () => {
    for (const file of ['package.json', 'README.md', '.gitignore', 'tests/browser/example-files.test.ts']) {
      expect((await ask(`/@fs${root}/${file}`)).status, file).toBe(403);
    }
  });

  it("serves the page's files, the library and its dependencies", async () => {
    const [page, source, library, protocol] = await Promise.all([
      ask('/'),
      ask('/src/main.ts'),
      ask(`/@fs${root}/packages/sdk/src/index.ts`),
      ask(`/@fs${root}/packages/protocol/src/index.ts`),
    ]);
    expect([page, source, library, protocol].map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(page.body).toContain('/src/main.ts');
    const [hashWasm = ''] =
      /\/[^"']*hash-wasm\.js[^"']*/.exec((await ask(`/@fs${root}/packages/sdk/src/keys/cipher.ts`)).body) ?? [];
    expect((await ask(hashWasm)).body).toContain('argon2id');
  });
});
