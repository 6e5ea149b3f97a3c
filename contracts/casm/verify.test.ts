import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readCasmRecord, verifyCasm } from './verify.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'svc-casm-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** In place of starknet-sierra-compile. */
function compilerThat(name: string, does: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, `#!${process.execPath}\nconst [from, to] = process.argv.slice(2);\n${does}\n`);
  chmodSync(file, 0o755);
  return file;
}

const empty = {
  ...{ prime: '0x1', compiler_version: '2.19.4', bytecode: ['0x1'], hints: [] },
  entry_points_by_type: { EXTERNAL: [], L1_HANDLER: [], CONSTRUCTOR: [] },
};
const writes = `else require('node:fs').writeFileSync(to, ${JSON.stringify(JSON.stringify(empty))});`;

describe('checking the committed classes with a compiler to CASM', () => {
  it('says how to install it where it is not', async () => {
    const missing = verifyCasm(path.join(folder, 'missing'));
    await expect(missing).rejects.toThrow('cargo install starknet-sierra-compile --version');
  });

  it('fails with the words of a compiler that refuses a class', async () => {
    const refusal = "else { console.error('branch #0 target mismatch'); process.exit(1); }";
    const compiler = compilerThat('refuses', `if (from === '--version') console.log('x 2.19.4');\n${refusal}`);
    await expect(verifyCasm(compiler)).rejects.toThrow('does not compile to CASM: branch #0 target mismatch');
  });

  it('fails where the recorded release makes something else of a class', async () => {
    const { compiler: recorded } = await readCasmRecord();
    const compiler = compilerThat('differs', `if (from === '--version') console.log('x ${recorded}');\n${writes}`);
    await expect(verifyCasm(compiler)).rejects.toThrow('contracts/compiled/casm.json has');
  });

  it('compares no hashes of another release', async () => {
    const compiler = compilerThat('newer', `if (from === '--version') console.log('x 3.0.0');\n${writes}`);
    const lines = await verifyCasm(compiler);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('compiles to CASM with 3.0.0');
  });
});
