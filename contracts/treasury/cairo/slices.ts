import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { CairoModule } from '../../build/bundle.ts';
import { encode } from '../../scenarios/cairo/encode.ts';
import { functionName, packed, type ScenarioSlice } from '../../scenarios/cairo/slices.ts';
import type { Scenario } from '../../scenarios/model.ts';

const wallet = path.resolve(import.meta.dirname, '../../scenarios/cairo');
/** The wallet's player, with calls that a treasury's signers sign. */
const support: readonly CairoModule[] = [
  ...['player', 'row', 'comparison', 'signing', 'snip12', 'token'].map((name) => read(wallet, name)),
  ...['calls', 'other_account'].map((name) => read(import.meta.dirname, name)),
];

function read(folder: string, name: string): CairoModule {
  const file = path.join(folder, `${name}.cairo`);
  return { name, file, source: readFileSync(file, 'utf8') };
}

export function treasurySlices(scenarios: readonly Scenario[]): ScenarioSlice[] {
  return packed(scenarios).map((some, index) => {
    const name = `treasury_${index + 1}`;
    return { name, modules: [...support, testsOf(name, some)] };
  });
}

/** One Cairo test a scenario. */
export function testsOf(name: string, scenarios: readonly Scenario[]): CairoModule {
  return {
    name,
    file: `contracts/treasury/scenarios (${name}, generated)`,
    source: HEADER + scenarios.map(testOf).join('\n'),
  };
}

const HEADER = `use crate::treasury::Treasury;
use super::other_account::OtherAccount;
use super::player::play;
`;

/** The class under test stands where the player has the wallet's, the other account where it has READY's. */
function testOf(scenario: Scenario): string {
  const felts = encode(scenario);
  const name = functionName(scenario.name);
  const constant = name.toUpperCase();
  return `
const ${constant}: [felt252; ${felts.length}] = [${felts.map((felt) => `0x${felt.toString(16)}`).join(', ')}];
#[test]
fn ${name}() {
    play(${constant}.span(), Treasury::TEST_CLASS_HASH, OtherAccount::TEST_CLASS_HASH);
}`;
}
