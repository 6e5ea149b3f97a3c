import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Bundle, type CairoModule, inlineModules, type SourceLine } from '../../build/bundle.ts';

const treasury = path.resolve(import.meta.dirname, '..');
const ownSources = path.join(treasury, 'src');
const walletSources = path.resolve(treasury, '../src');
const compiled = path.resolve(treasury, '../compiled');

export const paths = {
  compiledClass: path.join(compiled, 'svc_treasury.json'),
  classHash: path.join(compiled, 'treasury-class-hash.txt'),
  /** Digest of the inputs with which the Cairo suite last passed. */
  record: path.join(compiled, 'treasury-sources.sha256'),
} as const;

const MODULE = /^pub mod (\w+);$/gm;

/** The modules of lib.cairo, each from the treasury's own folder or, where it has none, from the wallet's. */
export function contractBundle(): Bundle {
  const lib = readFileSync(path.join(ownSources, 'lib.cairo'), 'utf8');
  return [...lib.matchAll(MODULE)].flatMap(([, name = '']) => {
    const own = path.join(ownSources, `${name}.cairo`);
    const file = existsSync(own) ? own : path.join(walletSources, `${name}.cairo`);
    return wrapped({ name, file, source: readFileSync(file, 'utf8') }, '');
  });
}

/** The contract and the given modules, as `crate::tests::<name>`. */
export function testBundle(modules: readonly CairoModule[]): Bundle {
  const at = { file: 'contracts/treasury', line: 1, module: '' };
  return [
    ...contractBundle(),
    { ...at, text: '#[cfg(test)] mod tests {' },
    ...modules.flatMap((module) => wrapped(module, 'tests')),
    { ...at, text: '}' },
  ];
}

function wrapped(child: CairoModule, parent: string): SourceLine[] {
  const at = { file: child.file, line: 1, module: parent };
  const module = parent === '' ? child.name : `${parent}::${child.name}`;
  return [{ ...at, text: `pub mod ${child.name} {` }, ...inlineModules(child, module), { ...at, text: '}' }];
}
