import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { paths } from './paths.ts';
import {
  brokenTargets,
  FALLTHROUGH,
  findBranches,
  packProgram,
  repairProgram,
  unpackProgram,
} from './sierra-program.ts';

const FALLTHROUGH_32 = 2n ** 32n - 1n;
const compiled = path.dirname(paths.compiledClass);
const committed = readdirSync(compiled).filter((file) => /^svc_.*\.json$/.test(file));
const read = (file: string) => JSON.parse(readFileSync(path.join(compiled, file), 'utf8'));

describe.each(committed)('the committed class %s', (file) => {
  const definition = read(file);
  const program = unpackProgram(definition.sierra_program);

  it('has no branch target beyond its statements but the fall-through that nodes know', () => {
    expect(findBranches(program).targets.length).toBeGreaterThan(1_000);
    expect(new Set(brokenTargets(program))).toEqual(new Set());
    expect(program.values).not.toContain(FALLTHROUGH_32);
  });

  it('is the same after unpacking and packing', () => {
    expect(packProgram(program)).toEqual(definition.sierra_program);
  });

  it('stays as it is when it is repaired again', () => {
    expect(repairProgram(definition.sierra_program)).toEqual(definition.sierra_program);
  });

  it('is what the repair makes of the program with the fall-through of a 32-bit compiler', () => {
    const values = program.values.map((value) => (value === FALLTHROUGH ? FALLTHROUGH_32 : value));
    const broken = packProgram({ ...program, values });
    expect(brokenTargets(unpackProgram(broken)).length).toBeGreaterThan(1_000);
    expect(repairProgram(broken)).toEqual(definition.sierra_program);
  });
});

describe('the repair of a Sierra program', () => {
  const versions = [1n, 6n, 0n, 2n, 8n, 2n];
  /** One type, a libfunc with a number as its argument, a call that branches to `target`, a return, a function. */
  const values = (target: bigint, argument = 7n) => [
    ...[1n, 0xfen, 2n ** 191n],
    ...[1n, 0xadn, 1n, 2n, argument],
    ...[2n, 0n, 0n, 0n, 1n, target, 1n, 0n, 1n, 1n, 0n],
    ...[1n, 1n, 0n, 1n, 0n, 0n, 0n],
  ];
  const program = (target: bigint, argument?: bigint) => packProgram({ versions, values: values(target, argument) });

  it('changes the 32-bit fall-through alone', () => {
    expect(repairProgram(program(FALLTHROUGH_32))).toEqual(program(FALLTHROUGH));
    expect(repairProgram(program(1n))).toEqual(program(1n));
  });

  it('names targets that are no statement', () => {
    const broken = (target: bigint) => brokenTargets({ versions, values: values(target) });
    expect(broken(FALLTHROUGH)).toEqual([]);
    expect(broken(1n)).toEqual([]);
    expect(broken(2n)).toEqual([2n]);
    expect(broken(FALLTHROUGH_32)).toEqual([FALLTHROUGH_32]);
  });

  it('stops where 2^32 - 1 stands for something else', () => {
    expect(() => repairProgram(program(FALLTHROUGH_32, FALLTHROUGH_32))).toThrow('outside its branches');
  });

  it('stops at what is no whole program', () => {
    const whole = program(FALLTHROUGH_32);
    expect(() => repairProgram(whole.slice(0, -1))).toThrow('ends too early');
    expect(() => repairProgram([...whole, '0x1'])).toThrow('goes on after its end');
    expect(() => repairProgram(packProgram({ versions, values: values(1n).slice(0, -1) }))).toThrow('ends too early');
    expect(() => repairProgram(packProgram({ versions, values: [...values(1n), 0n] }))).toThrow('goes on');
  });
});
