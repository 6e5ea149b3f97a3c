import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { build } from 'vite';
import { packages, root } from './paths.ts';

export interface Size {
  /** Bytes of what is loaded at the start. */
  readonly minified: number;
  readonly gzip: number;
  readonly brotli: number;
  /** Gzip bytes of what is loaded when it is needed. */
  readonly lazyGzip: number;
  /** Bytes before minification, by package or folder, largest first. */
  readonly shares: readonly (readonly [name: string, bytes: number])[];
  /** Paths in the repository. */
  readonly modules: readonly string[];
}

/** Bundles an entry of this folder with all its dependencies. */
export async function measureSize(entry: 'first-wallet.ts' | 'everything.ts'): Promise<Size> {
  const { chunks, lazy } = await bundle(path.join(import.meta.dirname, entry));
  const code = Buffer.from(chunks.map((chunk) => chunk.code).join('\n'));
  const modules = chunks.flatMap((chunk) => Object.entries(chunk.modules)).filter(([, bytes]) => bytes > 0);
  const shares = new Map<string, number>();
  for (const [id, bytes] of modules) shares.set(ownerOf(id), (shares.get(ownerOf(id)) ?? 0) + bytes);
  return {
    minified: code.length,
    gzip: (await promisify(gzip)(code)).length,
    brotli: (await promisify(brotliCompress)(code)).length,
    lazyGzip: (await promisify(gzip)(Buffer.from(lazy.map((chunk) => chunk.code).join('\n')))).length,
    shares: [...shares].sort(([, a], [, b]) => b - a),
    modules: modules.map(([id]) => path.relative(root, id)),
  };
}

interface Chunk {
  readonly code: string;
  readonly modules: Readonly<Record<string, number>>;
}

async function bundle(entry: string): Promise<{ chunks: Chunk[]; lazy: Chunk[] }> {
  const result = await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      write: false,
      target: 'es2022',
      minify: true,
      rolldownOptions: { input: entry, preserveEntrySignatures: 'strict' },
    },
  });
  const output = [result].flat().flatMap((built) => {
    if (!('output' in built)) throw new Error('Vite watches instead of building.');
    return built.output.filter((one) => one.type === 'chunk');
  });
  const atStart = new Set<string>();
  const add = (fileName: string) => {
    if (atStart.has(fileName)) return;
    atStart.add(fileName);
    for (const imported of output.find((one) => one.fileName === fileName)?.imports ?? []) add(imported);
  };
  for (const { fileName, isEntry } of output) if (isEntry) add(fileName);
  const toChunk = ({ code, modules }: (typeof output)[number]): Chunk => ({
    code,
    modules: Object.fromEntries(Object.entries(modules).map(([id, { renderedLength }]) => [id, renderedLength])),
  });
  const isAtStart = ({ fileName }: { fileName: string }) => atStart.has(fileName);
  return {
    chunks: output.filter(isAtStart).map(toChunk),
    lazy: output.filter((one) => !isAtStart(one)).map(toChunk),
  };
}

/** `packages/sdk/src/keys/…` is `sdk/keys`; installed modules count for their package. */
function ownerOf(id: string): string {
  if (id.startsWith('\0')) return 'bundler';
  const installed = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1];
  if (installed !== undefined) return installed;
  const [name, , folder = '', ...rest] = path.relative(packages, id).split(path.sep);
  return rest.length > 0 ? `${name}/${folder}` : (name ?? '');
}
