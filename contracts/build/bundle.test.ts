import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contractBundle, inlineModules, sourceOf, testBundle } from './bundle.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'svc-bundle-'));
  mkdirSync(path.join(folder, 'room'));
  writeFileSync(path.join(folder, 'room.cairo'), 'pub mod drawer;\nfn open() {}\n');
  writeFileSync(path.join(folder, 'room/drawer.cairo'), 'fn pull() {}\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a bundle', () => {
  it('has each module in the place of its line, and knows where every line is from', () => {
    const file = path.join(folder, 'lib.cairo');
    const bundle = inlineModules({ name: '', file, source: '// first\nmod room;\n// last\n' }, '');
    expect(sourceOf(bundle)).toBe(
      '// first\nmod room {\npub mod drawer {\nfn pull() {}\n}\nfn open() {}\n}\n// last\n',
    );
    const places = bundle.map((line) => `${path.relative(folder, line.file)}:${line.line} ${line.module}`);
    expect(places).toEqual([
      'lib.cairo:1 ',
      'lib.cairo:2 ',
      'room.cairo:1 room',
      'room/drawer.cairo:1 room::drawer',
      'room.cairo:1 room',
      'room.cairo:2 room',
      'lib.cairo:2 ',
      'lib.cairo:3 ',
    ]);
  });

  it('leaves modules alone that stand where they are declared', () => {
    const source = 'mod here {\n}\n';
    expect(sourceOf(inlineModules({ name: '', file: 'lib.cairo', source }, ''))).toBe(source);
  });

  it('of tests begins with the contract that is compiled', () => {
    const source = sourceOf(testBundle([{ name: 'mine', file: 'generated', source: '#[test]\nfn one() {}' }]));
    const contract = sourceOf(contractBundle());
    expect(source.startsWith(contract)).toBe(true);
    expect(source.slice(contract.length)).toBe(
      '#[cfg(test)] mod tests {\npub mod mine {\n#[test]\nfn one() {}\n}\n}\n',
    );
  });
});
