import { build } from 'vite';
import { entrySources, publishedName } from './paths.ts';

/** External: an app that already has them gets no second copy. */
const installed = [/^hash-wasm$/, /^@zxcvbn-ts\//, /^@scure\//, /^@noble\//];

/**
 * One module per source file used at run time, so that bundlers drop unused ones. Sources used only as types (the
 * interface's schemas) are not emitted.
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
      lib: { entry: [...entrySources], formats: ['es'] },
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
