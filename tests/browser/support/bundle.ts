import path from 'node:path';
import { build } from 'vite';

const pages = path.resolve(import.meta.dirname, '../pages');

const bundles = new Map<string, Promise<string>>();

/** Built once for all test files of a worker. */
export function bundle(file: string): Promise<string> {
  const known = bundles.get(file) ?? make(file);
  bundles.set(file, known);
  return known;
}

async function make(file: string): Promise<string> {
  const result = await build({
    configFile: false,
    // Warnings are about 'use client', which a bundle for browsers does not need.
    logLevel: 'error',
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
