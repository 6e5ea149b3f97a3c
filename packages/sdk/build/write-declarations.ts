import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { entrySources, inside, packages, publishedName, root } from './paths.ts';

const run = promisify(execFile);
const TSC = path.join(root, 'node_modules/typescript/bin/tsc');
const SCHEMA_TYPES = 'schema-types';
const PLATFORM_TYPES = 'platform-types';
/** Not in `lib: ["ES2022"]`. */
const PLATFORM_NAMES = ['AbortSignal', 'URL', 'RequestInit', 'Response', 'SubtleCrypto', 'MessagePort'];

/**
 * Self-contained declarations: they reference each other by path, and neither workspace packages nor a schema
 * library.
 */
export async function writeDeclarations(outDir: string): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-declarations-'));
  try {
    await emit(folder);
    const files = await readdir(path.join(folder, 'emitted'), { recursive: true });
    for (const file of files.filter((name) => name.endsWith('.d.ts'))) {
      const name = publishedName(path.join(packages, file.replace(/\.d\.ts$/, '.ts')));
      const text = await readFile(path.join(folder, 'emitted', file), 'utf8');
      await mkdir(path.dirname(path.join(outDir, name)), { recursive: true });
      await writeFile(path.join(outDir, `${name}.d.ts`), withPlatformTypes(rewrite(text, name), name));
    }
    for (const types of [SCHEMA_TYPES, PLATFORM_TYPES]) {
      await copyFile(path.join(import.meta.dirname, `${types}.d.ts`), path.join(outDir, `${types}.d.ts`));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function emit(folder: string): Promise<void> {
  const entry = (name: string) => path.join(packages, name, 'src/index.ts');
  const config = {
    extends: path.join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rewriteRelativeImportExtensions: true,
      rootDir: packages,
      outDir: path.join(folder, 'emitted'),
      typeRoots: [path.join(root, 'node_modules/@types')],
      // By path, so that the compiler emits them; it skips installed packages.
      paths: {
        ...Object.fromEntries(inside.map((name) => [`@svc/${name}`, [entry(name)]])),
        '@svc/protocol/values': [path.join(packages, 'protocol/src/values/index.ts')],
        '@svc/starknet/private-balance': [path.join(packages, 'starknet/src/private-balance/index.ts')],
      },
    },
    include: [],
    files: entrySources,
  };
  const file = path.join(folder, 'tsconfig.json');
  await writeFile(file, JSON.stringify(config));
  await run(process.execPath, [TSC, '--project', file]).catch((error: { stdout?: string }) => {
    throw new Error(`The declarations could not be written:\n${error.stdout}`);
  });
}

/** `from './felt.ts'` and `import('@svc/protocol')`, relative to the file of this name. */
function rewrite(text: string, name: string): string {
  return text.replace(
    /(\bfrom |\bimport\()(['"])([^'"]+)\2/g,
    (whole, before: string, quote: string, target: string) => {
      const found = placeOf(target, name);
      return found === undefined ? whole : `${before}${quote}${found}${quote}`;
    },
  );
}

/** TypeScript before 5.7 knows `Uint8Array` without a parameter only. */
function withPlatformTypes(text: string, name: string): string {
  const simple = text
    .replaceAll('Uint8Array<ArrayBuffer>', 'Uint8Array')
    .replaceAll('typeof crypto.subtle', 'SubtleCrypto');
  const code = simple.replace(/\/\*[\s\S]*?\*\//g, '');
  const used = PLATFORM_NAMES.filter((type) => new RegExp(`(?<![.\\w])${type}\\b`).test(code));
  if (used.length === 0) return simple;
  return `import type { ${used.join(', ')} } from '${relative(name, `${PLATFORM_TYPES}.js`)}';\n${simple}`;
}

function placeOf(target: string, name: string): string | undefined {
  if (target.startsWith('.')) return target.replace(/\.ts$/, '.js');
  const [, ours = '', folder] = /^@svc\/(\w+)(?:\/([\w-]+))?$/.exec(target) ?? [];
  if (inside.some((one) => one === ours)) return relative(name, `${[ours, folder].filter(Boolean).join('/')}/index.js`);
  return target === 'typebox' ? relative(name, `${SCHEMA_TYPES}.js`) : undefined;
}

function relative(from: string, to: string): string {
  const found = path.posix.relative(path.posix.dirname(from), to);
  return found.startsWith('.') ? found : `./${found}`;
}
