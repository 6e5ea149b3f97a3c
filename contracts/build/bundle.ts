import { readFileSync } from 'node:fs';
import path from 'node:path';
import { paths } from './paths.ts';

/** A line of the bundled source and its original position. */
export interface SourceLine {
  readonly text: string;
  readonly file: string;
  readonly line: number;
  /** Path of the enclosing module below the crate. */
  readonly module: string;
}

export type Bundle = readonly SourceLine[];

/** `file` of a generated module names its origin. */
export interface CairoModule {
  readonly name: string;
  readonly file: string;
  readonly source: string;
}

/** `mod name;`: a module in its own file. */
const MODULE = /^(\s*(?:pub(?:\(crate\))? )?mod (\w+));\s*$/;

export function sourceOf(bundle: Bundle): string {
  return `${bundle.map(({ text }) => text).join('\n')}\n`;
}

/** The contract alone, as compiled for the class hash. */
export function contractBundle(): Bundle {
  return inlineModules({ name: '', file: paths.source, source: readFileSync(paths.source, 'utf8') }, '');
}

/** The contract and the given modules, as `crate::tests::<name>`. */
export function testBundle(modules: readonly CairoModule[]): Bundle {
  const children = modules.flatMap((module) => nested(module, 'tests'));
  const at = { file: paths.tests, line: 1, module: '' };
  return [...contractBundle(), ...wrapped('#[cfg(test)] mod tests', children, at)];
}

/** A file of contracts/tests. */
export function testModule(name: string): CairoModule {
  const file = path.join(paths.tests, `${name}.cairo`);
  return { name, file, source: readFileSync(file, 'utf8') };
}

/** Inlines each `mod name;`, because the compiler takes a single text. */
export function inlineModules({ file, source }: CairoModule, module: string): SourceLine[] {
  return source
    .trimEnd()
    .split('\n')
    .flatMap((text, index): SourceLine[] => {
      const here: SourceLine = { text, file, line: index + 1, module };
      const [, head, name] = MODULE.exec(text) ?? [];
      if (head === undefined || name === undefined) return [here];
      const child = path.join(folderOf(file), `${name}.cairo`);
      const lines = inlineModules({ name, file: child, source: readFileSync(child, 'utf8') }, joined(module, name));
      return wrapped(head, lines, here);
    });
}

function nested(child: CairoModule, parent: string): SourceLine[] {
  const module = joined(parent, child.name);
  return wrapped(`pub mod ${child.name}`, inlineModules(child, module), { file: child.file, line: 1, module: parent });
}

function wrapped(head: string, lines: readonly SourceLine[], at: Omit<SourceLine, 'text'>): SourceLine[] {
  return [{ ...at, text: `${head} {` }, ...lines, { ...at, text: '}' }];
}

/** Modules of lib.cairo are beside it, those of another file in the folder of its name. */
function folderOf(file: string): string {
  return path.basename(file) === 'lib.cairo' ? path.dirname(file) : file.replace(/\.cairo$/, '');
}

function joined(parent: string, name: string): string {
  return parent === '' ? name : `${parent}::${name}`;
}
