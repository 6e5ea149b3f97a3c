import { describe, expect, it } from 'vitest';
import { scenarios } from './all.ts';
import { scenarioSlices } from './cairo/slices.ts';
import { generate } from './generated/generate.ts';
import type { Scenario } from './model.ts';

/** All revert reasons of the account. */
const refusals = [
  'Account: guardian is set',
  'Account: invalid caller',
  'Account: invalid class hash',
  'Account: invalid public key',
  'Account: invalid signature',
  'Account: no legacy owner',
  'Account: unauthorized',
  'Account: unexpected data',
  'Index out of bounds',
  'SRC9: duplicated nonce',
  'SRC9: invalid caller',
  'SRC9: now <= execute_after',
  'SRC9: now >= execute_before',
  'Session: entrypoint not allowed',
  'Session: expired',
  'Session: invalid key',
  'Session: no calls left',
  'Session: not registered',
  'Spending: bad calldata',
  'Spending: exceeds per-call',
  'Spending: exceeds window limit',
  'Spending: invalid window',
];

function refusalsOf(some: readonly Scenario[]): Set<string> {
  const outcomes = some.flatMap(({ steps }) => steps.map(({ outcome }) => outcome));
  return new Set(outcomes.flatMap((outcome) => ('reverts' in outcome ? [outcome.reverts] : [])));
}

describe('the scenarios', () => {
  it('have names of their own', () => {
    expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
  });

  it('reach every refusal of the account', () => {
    const reached = refusalsOf(scenarios);
    expect(refusals.filter((reason) => !reached.has(reason))).toEqual([]);
  });

  it('are each one Cairo test', () => {
    const sources = scenarioSlices(scenarios).map(({ modules }) => modules.at(-1)?.source ?? '');
    const names = sources.flatMap((source) => [...source.matchAll(/#\[test\]\nfn (\w+)\(/g)].map(([, name]) => name));
    // One more compares the hash with that of starknet.js.
    expect(new Set(names).size).toBe(scenarios.length + 1);
  });
});

describe('a seed', () => {
  it('always makes the same scenario', () => {
    expect(generate(7)).toEqual(generate(7));
    expect(generate(7)).not.toEqual(generate(8));
  });

  it('is among others that reach every refusal of a session and of a policy', () => {
    const reached = refusalsOf(scenarios.filter(({ name }) => name.startsWith('seed ')));
    const all = refusals.filter((reason) => /^(Session|Spending: exceeds)/.test(reason) && !/invalid key/.test(reason));
    expect(all.filter((reason) => !reached.has(reason))).toEqual([]);
  });
});
