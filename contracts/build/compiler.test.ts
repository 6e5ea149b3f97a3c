import { describe, expect, it } from 'vitest';
import { readable } from './compiler.ts';

const bundle = [
  { text: 'mod a {', file: 'contracts/src/lib.cairo', line: 3, module: '' },
  { text: 'fn x() {', file: 'contracts/src/a.cairo', line: 1, module: 'a' },
];

describe('what the compiler says', () => {
  it('names the file and line of the reader', () => {
    expect(readable(['Bad.\n --> lib.cairo:2:5\nfn x() {'], bundle)).toEqual([
      'Bad.\n --> contracts/src/a.cairo:1:5\nfn x() {',
    ]);
  });

  it('keeps a place that is not of the bundle', () => {
    expect(readable(['Bad.\n --> lib.cairo:9:5'], bundle)).toEqual(['Bad.\n --> lib.cairo:9:5']);
  });
});
