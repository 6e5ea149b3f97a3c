import { classes } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scenarios } from '../../contracts/scenarios/all.ts';
import { treasuryScenarios } from '../../contracts/treasury/scenarios/all.ts';
import { Chain, type ScenarioNode } from '../contracts/support/chain.ts';
import { type Accounts, firstDifference, Player } from '../contracts/support/play.ts';
import { type BlockMode, Devnet } from './support/devnet.ts';

/** Longer than the run: a block is made when the time is set. */
const HOUR = 3_600;
const modes: readonly (readonly [string, BlockMode])[] = [
  ['a block for each transaction', 'transaction'],
  ['blocks that stay open', HOUR],
];

/** A block with the scenario's time comes before each transaction: contracts see the time of the last block. */
class HeldClock implements ScenarioNode {
  readonly #devnet: Devnet;
  #time = 0;

  constructor(devnet: Devnet) {
    this.#devnet = devnet;
  }

  async setClock(timestamp: number): Promise<void> {
    this.#time = timestamp;
    await this.#devnet.devnet('setTime', { time: timestamp, generate_block: true });
  }

  async rpc(method: string, params: unknown) {
    if (method === 'addInvokeTransaction' || method === 'call') await this.setClock(this.#time);
    return this.#devnet.rpc(method, params);
  }
}

describe.each(modes)('on the Cairo VM, with %s', (_, blocks) => {
  let devnet: Devnet;
  let chain: Chain;
  let accounts: Accounts;
  beforeAll(async () => {
    devnet = await Devnet.start({ blocks, chainId: 'SVC_SANDBOX' });
    chain = new Chain(new HeldClock(devnet));
    accounts = {
      relayer: devnet.account('relayer 1'),
      stranger: devnet.account('stranger'),
      faucet: devnet.account('bank'),
      funding: 'transfer',
    };
  });
  afterAll(() => devnet?.stop());

  it.each(scenarios.map((scenario, index) => [scenario.name, scenario, index + 1] as const))(
    '%s',
    async (_name, scenario, number) => {
      expect(await firstDifference(new Player(chain, accounts, number), scenario)).toBeUndefined();
    },
  );

  it.each(treasuryScenarios.map((scenario, index) => [scenario.name, scenario, scenarios.length + index + 1] as const))(
    'treasury: %s',
    async (_name, scenario, number) => {
      const player = new Player(chain, accounts, number, classes.treasury);
      expect(await firstDifference(player, scenario)).toBeUndefined();
    },
  );
});
