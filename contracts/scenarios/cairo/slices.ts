import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { CairoModule } from '../../build/bundle.ts';
import type { Scenario, ScenarioCall } from '../model.ts';
import { encode } from './encode.ts';
import { hashVectors } from './hash-vectors.ts';
import { runsOf } from './runs.ts';

export interface ScenarioSlice {
  readonly name: string;
  readonly modules: readonly CairoModule[];
}

/** The test runner loads the program at each entry (about 20 MB) and never frees it; a process has 4 GB at most. */
const MAX_RUNS = 105;

export function scenarioSlices(scenarios: readonly Scenario[]): ScenarioSlice[] {
  const [withReady, others] = [scenarios.filter(needsReady), scenarios.filter((scenario) => !needsReady(scenario))];
  const packs = [
    ...packed(others).map((some) => ({ some, ready: false })),
    ...packed(withReady).map((some) => ({ some, ready: true })),
  ];
  return packs.map(({ some, ready }, index) => {
    const name = `scenarios_${index + 1}`;
    const tests = some.map((scenario) => testOf(scenario, ready)).join('\n');
    const vectors = index === packs.length - 1 ? hashVectors() : '';
    const generated = {
      name,
      file: `contracts/scenarios (${name}, generated)`,
      source: header(ready) + tests + vectors,
    };
    return { name, modules: [...support(ready), generated] };
  });
}

/** Whether an account is, or becomes, of READY's class. */
function needsReady({ steps }: Scenario): boolean {
  return steps.some((step) => {
    if (step.kind === 'deploy') return step.of === 'READY class';
    if (step.kind !== 'relay' || step.signed.signature.session) return false;
    return step.signed.execution.calls.some(
      ({ entrypoint, calldata }) => entrypoint === 'upgrade' && isReady(calldata),
    );
  });
}

const isReady = (calldata: ScenarioCall['calldata']) => Array.isArray(calldata) && calldata[0] === 'READY class';

/** Greedy, in order. */
function packed(scenarios: readonly Scenario[]): Scenario[][] {
  const slices: Scenario[][] = [];
  let runs = MAX_RUNS;
  for (const scenario of scenarios) {
    const more = runsOf(scenario);
    if (runs + more > MAX_RUNS) {
      slices.push([]);
      runs = 0;
    }
    runs += more;
    slices.at(-1)?.push(scenario);
  }
  return slices;
}

function support(withReady: boolean): CairoModule[] {
  return ['player', 'row', 'calls', 'comparison', 'signing', 'snip12', 'token', ...(withReady ? ['ready'] : [])].map(
    (name) => {
      const file = path.join(import.meta.dirname, `${name}.cairo`);
      return { name, file, source: readFileSync(file, 'utf8') };
    },
  );
}

function header(withReady: boolean): string {
  const ready = withReady ? ['use super::ready::Ready;'] : [];
  return ['use crate::account::SvcAccount;', 'use super::player::play;', ...ready].join('\n');
}

/** A class that is named but never run needs no code. */
const NO_READY = '0x4ead1';

/** A constant: code that builds the array would be many times larger. */
function testOf(scenario: Scenario, withReady: boolean): string {
  const felts = encode(scenario);
  const name = functionName(scenario.name);
  const constant = name.toUpperCase();
  return `
const ${constant}: [felt252; ${felts.length}] = [${felts.map((felt) => `0x${felt.toString(16)}`).join(', ')}];
#[test]
fn ${name}() {
    play(${constant}.span(), SvcAccount::TEST_CLASS_HASH, ${withReady ? 'Ready::TEST_CLASS_HASH' : NO_READY});
}`;
}

/** Readable test names. */
export function functionName(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
}
