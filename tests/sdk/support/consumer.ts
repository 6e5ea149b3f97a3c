import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { builtSdk } from '../../support/service.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../..');
const TSC = path.join(root, 'node_modules/typescript/bin/tsc');

export interface CheckOptions {
  readonly skipLibCheck?: boolean;
}

/** A project that has installed the library and nothing else. */
export interface Consumer {
  readonly folder: string;
  readonly library: string;
  write(file: string, text: string): Promise<void>;
  typeCheck(file: string, options?: CheckOptions): Promise<string>;
  run(file: string, env: Record<string, string>): Promise<string>;
  remove(): Promise<void>;
}

export async function newConsumer(): Promise<Consumer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-consumer-'));
  const library = path.join(folder, 'node_modules/@svc/sdk');
  await cp(await builtSdk(), library, { recursive: true });
  await install(folder, library);
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  return {
    folder,
    library,
    write: (file, text) => writeFile(path.join(folder, file), text),
    typeCheck: (file, options) => typeCheck(folder, file, options),
    run: async (file, env) => (await run(process.execPath, [file], { cwd: folder, env })).stdout,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function install(folder: string, of: string): Promise<void> {
  const { dependencies = {} } = JSON.parse(await readFile(path.join(of, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) {
    const target = path.join(folder, 'node_modules', name);
    await mkdir(path.dirname(target), { recursive: true });
    await cp(path.join(root, 'node_modules', name), target, { recursive: true });
    await install(folder, target);
  }
}

/** Strict, with browser types and none of Node. */
async function typeCheck(folder: string, file: string, { skipLibCheck = false }: CheckOptions = {}): Promise<string> {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable'],
    module: 'nodenext',
    types: [],
  };
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
  // Its threads check the same types again.
  const env = { ...process.env, GOGC: 'off' };
  return run(process.execPath, [TSC, '--singleThreaded', '--project', folder], { cwd: folder, env }).then(
    () => '',
    (error: { stdout?: string }) => error.stdout ?? String(error),
  );
}
