import { readdirSync } from 'node:fs';
import { scenarios } from '../scenarios/all.ts';
import { scenarioSlices } from '../scenarios/cairo/slices.ts';
import { type CairoModule, testModule } from './bundle.ts';
import { paths } from './paths.ts';

/** Tests that share a compiler process: 1 GB plus about 20 MB per contract entered, 4 GB at most. */
export interface Slice {
  readonly name: string;
  readonly modules: readonly CairoModule[];
}

/** One slice per file of contracts/tests, then the scenarios. */
export function allSlices(): Slice[] {
  return [...testSlices(), ...scenarioSlices(scenarios)];
}

const SHARED = 'support';

function testSlices(): Slice[] {
  const names = readdirSync(paths.tests).flatMap((file) => /^(\w+)\.cairo$/.exec(file)?.[1] ?? []);
  const tests = names.filter((name) => name !== SHARED).sort();
  return tests.map((name) => ({ name, modules: [testModule(SHARED), testModule(name)] }));
}
