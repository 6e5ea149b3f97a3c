import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { compiledClass, readCompiled, staleFiles } from './compiled-class.ts';
import { allSlices } from './slices.ts';
import { digestOf, planSuite, readRecord, suiteInputs, writeRecord } from './suite-record.ts';

const inputs = [
  { name: 'contract', text: 'mod account;' },
  { name: 'slice owner', text: 'mod tests;' },
];
const compiled = { json: '{}', classHash: '0x1' };
const digest = digestOf(inputs, compiled);

it('without --if-changed the suite always runs', () => {
  expect(planSuite([], digest, digest).run).toBe(true);
  expect(planSuite(['--write'], digest, digest).run).toBe(true);
});

it('with --if-changed the suite runs unless the same inputs passed before', () => {
  expect(planSuite(['--if-changed'], digest, digest)).toEqual({ run: false });
  expect(planSuite(['--if-changed'], undefined, digest).run).toBe(true);
  expect(planSuite(['--if-changed'], digestOf([], compiled), digest).run).toBe(true);
});

it('named slices run regardless of the record', () => {
  expect(planSuite(['--if-changed', 'owner'], digest, digest).run).toBe(true);
});

it('a changed, added, removed or renamed input, or another class, changes the digest', () => {
  const [contract, slice] = inputs as [(typeof inputs)[0], (typeof inputs)[0]];
  const others = [
    digestOf([{ ...contract, text: 'mod accounts;' }, slice], compiled),
    digestOf([{ ...contract, name: 'contracts' }, slice], compiled),
    digestOf([contract, slice, { name: 'slice upgrade', text: '' }], compiled),
    digestOf([contract], compiled),
    digestOf([slice, contract], compiled),
    digestOf(inputs, { ...compiled, classHash: '0x2' }),
    digestOf(inputs, { ...compiled, json: '[]' }),
  ];
  expect(new Set([digest, ...others]).size).toBe(others.length + 1);
  expect(digestOf([...inputs], compiled)).toBe(digest);
});

it('the inputs are the compiler, the contract, every slice, and the code that runs them without its tests', () => {
  const slices = allSlices();
  const names = suiteInputs(slices).map(({ name }) => name);
  expect(names.slice(0, 2)).toEqual(['wasm-cairo', 'contract']);
  expect(names).toEqual(expect.arrayContaining(slices.map(({ name }) => `slice ${name}`)));
  expect(names).toEqual(expect.arrayContaining(['contracts/build/run-tests.ts', 'contracts/build/compiler.ts']));
  expect(names.filter((name) => name.endsWith('.test.ts'))).toEqual([]);
});

it('a record is read as it was written, and none is no record', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-record-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'sources.sha256');
  expect(readRecord(file)).toBeUndefined();
  writeRecord(digest, file);
  expect(readRecord(file)).toBe(digest);
});

it('the committed class has the committed hash', () => {
  expect(staleFiles(compiledClass(readCompiled()))).toEqual([]);
});

/** The compiler's patch version. */
const COMPILER_PATCH = 5;

it('a class with one other felt has another hash', () => {
  const { sierra_program: program, ...rest } = JSON.parse(readCompiled()) as { sierra_program: string[] };
  const other = compiledClass(JSON.stringify({ ...rest, sierra_program: program.with(COMPILER_PATCH, '0x99') }));
  expect(staleFiles(other)).toContain('contracts/compiled/class-hash.txt');
});
