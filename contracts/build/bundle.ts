import { readFileSync } from 'node:fs';
import path from 'node:path';
import { places } from './places.ts';

/** A line of the one text that the compiler takes, and where a reader finds it. */
export interface SourceLine {
  readonly text: string;
  readonly file: string;
  readonly line: number;
  /** The path of the module that it stands in, below the crate. */
  readonly module: string;
}

export type Bundle = readonly SourceLine[];

/** A module that may have no file: a generated one names what it was made from. */
export interface CairoModule {
  readonly name: string;
  readonly file: string;
  readonly source: string;
}

/** A file of its own: `mod name;`, as Cairo projects have it. */
const MODULE = /^(\s*(?:pub(?:\(crate\))? )?mod (\w+));\s*$/;

export function sourceOf(bundle: Bundle): string {
  return `${bundle.map(({ text }) => text).join('\n')}\n`;
}

/** The contract alone: what is compiled, and what its class hash is computed from. */
export function contractBundle(): Bundle {
  return inlineModules({ name: '', file: places.source, source: readFileSync(places.source, 'utf8') }, '');
}

/** The contract and the given modules, as `crate::tests::<name>`. */
export function testBundle(modules: readonly CairoModule[]): Bundle {
  const children = modules.flatMap((module) => nested(module, 'tests'));
  const at = { file: places.tests, line: 1, module: '' };
  return [...contractBundle(), ...wrapped('#[cfg(test)] mod tests', children, at)];
}

/** A file of contracts/tests. */
export function testModule(name: string): CairoModule {
  const file = path.join(places.tests, `${name}.cairo`);
  return { name, file, source: readFileSync(file, 'utf8') };
}

/** Puts the text of each `mod name;` in its place, as the compiler takes one text only. */
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

/** lib.cairo's modules are its neighbours; those of any other file lie in the folder of its name. */
function folderOf(file: string): string {
  return path.basename(file) === 'lib.cairo' ? path.dirname(file) : file.replace(/\.cairo$/, '');
}

function joined(parent: string, name: string): string {
  return parent === '' ? name : `${parent}::${name}`;
}
