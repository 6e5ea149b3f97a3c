import { classes } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scenarios } from '../../contracts/scenarios/all.ts';
import { treasuryScenarios } from '../../contracts/treasury/scenarios/all.ts';
import { startSandbox } from '../support/service.ts';
import { Chain } from './support/chain.ts';
import { type Accounts, firstDifference, Player } from './support/play.ts';

let chain: Chain;
let accounts: Accounts;
let stop: (() => Promise<void>) | undefined;

beforeAll(async () => {
  const started = await startSandbox();
  stop = started.stop;
  chain = new Chain(started.sandbox);
  // Every transaction sees the time that a scenario sets.
  await started.sandbox.freeze();
  const account = (label: string) => started.sandbox.account(label);
  accounts = {
    relayer: await account('relayer 4'),
    stranger: await account('relayer 3'),
    faucet: await account('faucet'),
    funding: 'mint',
  };
});
afterAll(() => stop?.());

describe('in the sandbox', () => {
  it.each(scenarios.map((scenario, index) => [scenario.name, scenario, index + 1] as const))(
    '%s',
    async (_name, scenario, number) => {
      expect(await firstDifference(new Player(chain, accounts, number), scenario)).toBeUndefined();
    },
  );
});

describe('a treasury in the sandbox', () => {
  it.each(treasuryScenarios.map((scenario, index) => [scenario.name, scenario, scenarios.length + index + 1] as const))(
    '%s',
    async (_name, scenario, number) => {
      const player = new Player(chain, accounts, number, classes.treasury);
      expect(await firstDifference(player, scenario)).toBeUndefined();
    },
  );
});
