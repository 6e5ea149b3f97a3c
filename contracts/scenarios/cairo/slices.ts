import { readFileSync } from 'node:fs';
import path from 'node:path';
import { chainIds, outsideExecutionTypedData, selector } from '@svc/starknet';
import { type TypedData, typedData } from 'starknet';
import type { CairoModule } from '../../build/bundle.ts';
import type { Execution, Scenario, ScenarioCall, Step } from '../model.ts';
import { encode } from './encode.ts';

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
export function packed(scenarios: readonly Scenario[]): Scenario[][] {
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

/** How often a scenario enters a contract, which determines its memory use. */
function runsOf({ steps }: Scenario): number {
  return TOKENS + steps.reduce((sum, step) => sum + runsOfStep(step), 0);
}

/** Both tokens are deployed by a constructor. */
const TOKENS = 2;

function runsOfStep(step: Step): number {
  switch (step.kind) {
    case 'clock':
      return 0;
    case 'deploy':
    case 'read':
      return 1;
    case 'relay':
      return 1 + (failsBeforeCalls(step) ? 0 : runsOfCalls(step.signed.execution));
    case 'transaction':
      return 2 + runsOfCalls(step);
    case 'call':
      return runsOfCall(step.call);
  }
}

/** Refused before any call, unless by an inner execution. */
function failsBeforeCalls({ signed, outcome }: Extract<Step, { kind: 'relay' }>): boolean {
  const { execution, signature } = signed;
  if (!('reverts' in outcome) || execution.calls.some(({ calldata }) => 'execution' in calldata)) return false;
  if (signature.session) return !/^(ERC20|ENTRYPOINT)/.test(outcome.reverts);
  return /^(SRC9: |Account: invalid signature|Treasury: (invalid signature|unordered|threshold|exceeds|bad))/.test(
    outcome.reverts,
  );
}

function runsOfCalls({ calls }: Pick<Execution, 'calls'>): number {
  return calls.reduce((sum, call) => sum + runsOfCall(call), 0);
}

/** An upgrade of READY enters three times: the call and two library calls. */
function runsOfCall({ entrypoint, calldata }: ScenarioCall): number {
  if ('execution' in calldata) return 1 + runsOfCalls(calldata.execution);
  return entrypoint === 'upgrade' ? 3 : 1;
}

const hex = (felt: bigint) => `0x${felt.toString(16)}`;

const ACCOUNT = 0x1a2b3cn;
const CALLS = [
  { to: 0xabcn, selector: selector('transfer'), calldata: [0x123n, 5n, 0n] },
  { to: 0xdefn, selector: selector('approve'), calldata: [] },
];

/** Compares the player's hash and the contract's with starknet.js, an independent implementation. */
function hashVectors(): string {
  const execution = { caller: 0x77n, nonce: 0x88n, executeAfter: 100n, executeBefore: 5_000n, calls: CALLS };
  const message = outsideExecutionTypedData(execution, chainIds.SVC_SANDBOX) as TypedData;
  const expected = typedData.getMessageHash(message, hex(ACCOUNT));
  const calls = CALLS.map(
    ({ to, selector: of, calldata }) =>
      `Call { to: ${hex(to)}.try_into().unwrap(), selector: ${hex(of)}, calldata: array![${calldata.map(hex).join(', ')}].span() }`,
  );
  return `

use starknet::account::Call;

#[test]
fn the_hash_of_the_player_is_that_of_starknet_js() {
    let calls = array![${calls.join(', ')}];
    let execution = super::snip12::execution_hash(0x77, 0x88, 100, 5000, calls.span());
    let found = super::snip12::message_hash(execution, ${hex(chainIds.SVC_SANDBOX)}, ${hex(ACCOUNT)});
    assert(found == ${expected}, 'the hash differs');
}
`;
}
