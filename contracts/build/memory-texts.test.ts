import { describe, expect, it } from 'vitest';
import { findDiagnostics, findReports } from './memory-texts.ts';

/** Texts separated by non-text bytes. */
function memory(...texts: readonly string[]): Uint8Array {
  return new Uint8Array(Buffer.from(texts.map((text) => `\0\x01${text}\xff\0`).join(''), 'latin1'));
}

const HEAD = 'Cairo Test outputs: \n';

describe('in the memory of the compiler', () => {
  it('the report is found whole, and not as it was before it ended', () => {
    const begun = `${HEAD}test astro::a ... ok (gas usage est.: 1)\n`;
    const whole = 'test astro::a ... ok\ntest astro::b ... fail\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored';
    expect(findReports(memory(begun, `-${HEAD}${whole}\nand what follows`))).toEqual([whole]);
    expect(findReports(memory(begun))).toEqual([]);
  });

  it('messages are found with their line and marks, each place once and as long as it is left', () => {
    const message = 'error: Unknown type.\n --> lib.cairo:7:9\n    let a: Nothing;\n           ^*****^\n';
    const beheaded = message.slice(12);
    const other = 'r. Method not found.\n --> lib.cairo:8:1\n    a.b();\n      ^\n\n';
    expect(findDiagnostics(memory(beheaded, message, other))).toEqual([message.trimEnd(), other.trimEnd()]);
    expect(findDiagnostics(memory('a text --> without a place'))).toEqual([]);
  });
});
