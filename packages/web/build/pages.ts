import { execFile } from 'node:child_process';
import { access, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { entries, type PageName } from './entries.ts';
import { fingerprint } from './fingerprint.ts';
import { dist } from './paths.ts';

const run = promisify(execFile);
const BUILDER = path.join(import.meta.dirname, 'main.ts');
/** A build takes a few seconds on an idle machine. */
const BUILD_LIMIT_MS = 180_000;

export interface PageAsset {
  readonly body: Buffer;
  readonly brotli: Buffer;
}

export type { PageName };

export interface Pages {
  readonly html: Readonly<Record<PageName, string>>;
  readonly assets: ReadonlyMap<string, PageAsset>;
}

/** The operator can fix it; the message says how. */
export class PagesError extends Error {
  override readonly name = 'PagesError';
}

/** Reads the pages and builds them first if their sources have changed. */
export async function loadPages(log: (line: string) => void): Promise<Pages> {
  const name = await fingerprint();
  const folder = path.join(dist, name);
  if (!(await exists(folder))) {
    log('Building the pages (only when their sources changed)…');
    await buildInChildProcess();
  }
  const names = Object.keys(entries) as PageName[];
  const texts = names.map(async (page) => [page, await readFile(path.join(folder, entries[page]), 'utf8')] as const);
  const html = Object.fromEntries(await Promise.all(texts)) as Record<PageName, string>;
  return { html, assets: await readAssets(path.join(folder, 'assets')) };
}

/** The build takes much memory once: a process of its own releases it. */
async function buildInChildProcess(): Promise<void> {
  await run(process.execPath, [BUILDER], { timeout: BUILD_LIMIT_MS }).catch((error: Error & { stderr?: string }) => {
    throw new PagesError(
      `The pages could not be built. Where nothing may be written to ${dist}, build them before: npm run build:web\n${error.stderr ?? error.message}`,
    );
  });
}

async function readAssets(folder: string): Promise<Map<string, PageAsset>> {
  const names = (await readdir(folder)).filter((name) => !name.endsWith('.br'));
  const entries = names.map(async (name) => {
    const [body, brotli] = await Promise.all([
      readFile(path.join(folder, name)),
      readFile(path.join(folder, `${name}.br`)),
    ]);
    return [name, { body, brotli }] as const;
  });
  return new Map(await Promise.all(entries));
}

const exists = (place: string) =>
  access(place).then(
    () => true,
    () => false,
  );
