import { randomUUID } from 'node:crypto';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import { build } from 'vite';
import { entries } from './entries.ts';
import { dist, web } from './paths.ts';
import { sharedHtml } from './shared-html.ts';

const compress = promisify(brotliCompress);
/** A process that started on an older build has read it by then. */
const MAX_AGE_MS = 3_600_000;

/** Builds the pages into a folder of this name. Concurrent builds are equal; the first rename wins. */
export async function buildPages(name: string, pages: readonly string[] = Object.values(entries)): Promise<void> {
  const draft = path.join(dist, `draft-${process.pid}-${randomUUID()}`);
  try {
    await bundle(draft, pages);
    await compressAssets(path.join(draft, 'assets'));
    await rename(draft, path.join(dist, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST' && error.code !== 'EPERM') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  await deleteOldBuilds(name);
}

async function bundle(outDir: string, pages: readonly string[]): Promise<void> {
  await build({
    configFile: false,
    root: web,
    // Relative: the pages work below any path prefix of a proxy.
    base: './',
    plugins: [sharedHtml],
    logLevel: 'warn',
    // Independent of NODE_ENV: builds are named by their sources alone, and a server in production may find one that
    // a test made.
    define: { 'process.env.NODE_ENV': '"production"' },
    oxc: { jsx: { runtime: 'automatic', importSource: 'react', development: false } },
    worker: { format: 'es' },
    build: {
      outDir,
      emptyOutDir: false,
      target: 'es2022',
      // Inlined scripts would violate the content security policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        input: pages.map((file) => path.join(web, file)),
        onwarn: (warning, report) => {
          // Every file of Base UI says that it is for browsers.
          if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') report(warning);
        },
      },
    },
  });
}

async function compressAssets(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name);
    await writeFile(`${file}.br`, await compress(await readFile(file)));
  }
}

async function deleteOldBuilds(current: string): Promise<void> {
  for (const name of await readdir(dist)) {
    const folder = path.join(dist, name);
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Date.now() }));
    if (name !== current && Date.now() - mtimeMs > MAX_AGE_MS) await rm(folder, { recursive: true, force: true });
  }
}
