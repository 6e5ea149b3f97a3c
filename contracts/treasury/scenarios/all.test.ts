import { expect, it } from 'vitest';
import { planted } from '../build/planted.ts';
import { treasurySlices } from '../cairo/slices.ts';
import { treasuryScenarios } from './all.ts';

/** All revert reasons of the treasury. */
const refusals = [
  'Account: invalid caller',
  'Account: unauthorized',
  'SRC9: duplicated nonce',
  'SRC9: invalid caller',
  'SRC9: now <= execute_after',
  'SRC9: now >= execute_before',
  'Treasury: bad calldata',
  'Treasury: exceeds limit',
  'Treasury: invalid class hash',
  'Treasury: invalid limit',
  'Treasury: invalid signature',
  'Treasury: invalid signers',
  'Treasury: invalid threshold',
  'Treasury: threshold not reached',
  'Treasury: unordered signatures',
];

it('the scenarios of the treasury are at least forty, with names of their own', () => {
  expect(treasuryScenarios.length).toBeGreaterThanOrEqual(40);
  expect(new Set(treasuryScenarios.map(({ name }) => name)).size).toBe(treasuryScenarios.length);
});

it('the scenarios of the treasury reach every refusal', () => {
  const outcomes = treasuryScenarios.flatMap(({ steps }) => steps.map(({ outcome }) => outcome));
  const reached = new Set(outcomes.flatMap((outcome) => ('reverts' in outcome ? [outcome.reverts] : [])));
  expect(refusals.filter((reason) => !reached.has(reason))).toEqual([]);
});

it('each scenario of the treasury is one Cairo test, and each planted bug has one that catches it', () => {
  const sources = treasurySlices(treasuryScenarios).map(({ modules }) => modules.at(-1)?.source ?? '');
  const tests = sources.flatMap((source) => [...source.matchAll(/#\[test\]\nfn (\w+)\(/g)].map(([, name]) => name));
  expect(new Set(tests).size).toBe(treasuryScenarios.length);
  const names = treasuryScenarios.map(({ name }) => name);
  expect(planted.map(({ caughtBy }) => caughtBy).filter((name) => !names.includes(name))).toEqual([]);
});
