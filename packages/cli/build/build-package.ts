import { chmod, copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { build, type Rolldown } from 'vite';

const root = path.resolve(import.meta.dirname, '../../..');
const own = path.join(root, 'packages/cli');
const ENTRY = 'svc.js';

/** Writes everything that `npm publish` needs into a folder: plain JavaScript, without a dependency to install. */
export async function buildPackage(outDir: string): Promise<void> {
  await mkdir(outDir, { recursive: true });
  const modules = await bundle(outDir);
  await chmod(path.join(outDir, ENTRY), 0o755);
  await writeFile(path.join(outDir, 'package.json'), `${JSON.stringify(await manifest(), undefined, 2)}\n`);
  await writeFile(path.join(outDir, 'THIRD-PARTY-LICENSES.txt'), await licences(modules));
  await copyFile(path.join(own, 'README.md'), path.join(outDir, 'README.md'));
  await copyFile(path.join(root, 'LICENSE'), path.join(outDir, 'LICENSE'));
}

async function bundle(outDir: string): Promise<string[]> {
  const result = (await build({
    configFile: false,
    logLevel: 'warn',
    ssr: { noExternal: true },
    build: {
      outDir,
      emptyOutDir: false,
      copyPublicDir: false,
      target: 'node20',
      minify: false,
      ssr: path.join(own, 'src/main.ts'),
      rolldownOptions: {
        external: [...builtinModules, /^node:/],
        output: { entryFileNames: ENTRY, chunkFileNames: 'chunks/[name]-[hash].js' },
      },
    },
  })) as Rolldown.RolldownOutput;
  return result.output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
}

async function manifest(): Promise<Record<string, unknown>> {
  const { version, engines } = JSON.parse(await readFile(path.join(own, 'package.json'), 'utf8'));
  return {
    name: '@svc/cli',
    version,
    description: 'The command line of svc: wallets, payments and gift codes that you run yourself',
    license: 'MIT',
    type: 'module',
    bin: { svc: ENTRY },
    engines,
    publishConfig: { access: 'public' },
  };
}

/** Of every package that is part of the bundle: their licences ask for it. */
async function licences(modules: readonly string[]): Promise<string> {
  const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
  const texts = [...new Set(folders)].sort().map(async (folder) => {
    const { name, version, license } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? await readFile(path.join(folder, file), 'utf8') : '';
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`);
}
