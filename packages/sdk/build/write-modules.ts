import path from 'node:path';
import { build } from 'vite';
import { packages, publishedName } from './places.ts';

/** Installed beside the library, so that an app that has them already has them once. */
const installed = [/^hash-wasm$/, /^@scure\//, /^@noble\//];

/**
 * One module for each source file that is used at run time. What an app does not import its bundler leaves out, and what the library
 * itself takes from our other packages only as a type (the schemas of the interface) is not there at all.
 */
export async function writeModules(outDir: string): Promise<void> {
  await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      outDir,
      emptyOutDir: false,
      copyPublicDir: false,
      target: 'es2022',
      minify: false,
      lib: { entry: path.join(packages, 'sdk/src/index.ts'), formats: ['es'] },
      rolldownOptions: {
        external: installed,
        output: {
          preserveModules: true,
          entryFileNames: ({ facadeModuleId }) => `${publishedName(facadeModuleId ?? '')}.js`,
        },
      },
    },
  });
}
