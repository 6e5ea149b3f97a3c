import path from 'node:path';
import { build, type Plugin } from 'vite';

const pages = path.resolve(import.meta.dirname, '../pages');

const ONCE = path.join(pages, 'stretch-once.ts');
const stretchOnce: Plugin = {
  name: 'stretch-once',
  enforce: 'pre',
  resolveId: (source, importer) => (source === 'hash-wasm' && importer !== ONCE ? ONCE : undefined),
};

const bundles = new Map<string, Promise<string>>();

export interface BundleOptions {
  /** The same secret and salt are stretched once, for pages whose tests are about something else. */
  readonly stretchesOnce?: boolean;
}

/** Built once for all test files of a worker. */
export function bundle(file: string, { stretchesOnce = false }: BundleOptions = {}): Promise<string> {
  const name = `${file} ${stretchesOnce}`;
  const known = bundles.get(name) ?? make(file, stretchesOnce);
  bundles.set(name, known);
  return known;
}

async function make(file: string, stretchesOnce: boolean): Promise<string> {
  const result = await build({
    configFile: false,
    // Warnings are about 'use client', which a bundle for browsers does not need.
    logLevel: 'error',
    plugins: stretchesOnce ? [stretchOnce] : [],
    // React asks for it, and a library build leaves it as it is.
    define: { 'process.env.NODE_ENV': '"production"' },
    oxc: { jsx: { runtime: 'automatic', development: false } },
    build: {
      write: false,
      target: 'es2022',
      lib: { entry: path.join(pages, file), formats: ['es'] },
    },
  });
  const [output] = [result].flat();
  if (!output || !('output' in output)) throw new Error('Vite watches instead of building.');
  const [chunk] = output.output;
  return chunk.code;
}
