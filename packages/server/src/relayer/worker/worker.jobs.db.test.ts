import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { relayer, transferCall } from '../../../testing/chain.ts';
import { BOUND, QUICK, silent } from '../../../testing/jobs.ts';
import { RelayerFixture } from '../../../testing/relayer.ts';
import { padAddress } from '../../chains/starknet/chain.ts';
import { enqueueRecurring } from '../../jobs/job.ts';
import { startWorkers } from '../../jobs/workers.ts';
import { LOW_BALANCE } from '../accounts.ts';
import { relayerStatus } from '../module.ts';
import { createRelayerSponsor } from '../relayer-sponsor.ts';
import { relayerJobs } from './worker.ts';

const nothing = async () => {};
const cutOff = { send: async () => ({ outcome: 'unknown', reason: 'cut off' }) as const };

let relayers: RelayerFixture;
beforeAll(async () => {
  relayers = await RelayerFixture.start({ accounts: 2 });
});
afterAll(() => relayers.stop());

const jobs = () => relayerJobs({ ...relayers.deps, environments: ['development'] });

/** Without the sweep, which would find everything in the end. */
async function startJobs() {
  const { handlers } = jobs();
  const workers = await startWorkers({ handlers, url: relayers.db.url, concurrency: 4, log: silent, timing: QUICK });
  onTestFinished(() => workers.stop());
}

const run = (task: string) => jobs().handlers[task]?.({} as never, {} as never);
const ended = () => vi.waitFor(async () => expect(await relayers.states()).toEqual(['SUCCEEDED']), BOUND);

describe('the workers', () => {
  it('send what a request could only store, while it still waits, and store how it ended', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    await startJobs();
    const networks = relayers.networksWith(cutOff);
    const sponsor = createRelayerSponsor({ ...relayers.deps, networks });
    const { hash } = await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]), nothing);
    await ended();
    expect(relayers.outcomes).toMatchObject([{ result: 'SUCCEEDED', hash }]);
    expect(await relayers.balance(bob)).toBe(7n);
    await vi.waitFor(async () => {
      expect(await relayers.db.rows(sql`select from jobs where task like 'tend-relayer%'`)).toEqual([]);
    }, BOUND);
  });

  it('take care of what a process stored that died before it sent', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const died = relayers.sponsorWith({}, { send: () => Promise.reject(new Error('died')) });
    const asked = await payer.prepared(died, [transferCall('USDC', bob, 7n)]);
    await expect(died.sponsor(asked, nothing)).rejects.toThrow('died');
    await startJobs();
    await ended();
    expect(await relayers.balance(bob)).toBe(7n);
  });

  it('are called at once when something was sent', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    const { sponsor, db } = relayers;
    await db.run(sql`delete from jobs`);
    await sponsor.sponsor(await payer.prepared(sponsor, [transferCall('USDC', bob, 7n)]), nothing);
    const due = await db.rows(sql`select task from jobs where run_at <= now()`);
    expect(due).toEqual([{ task: 'tend-relayer-development' }]);
  });

  it('find what no job looks after any more', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    await relayers.sponsor.sponsor(await payer.prepared(relayers.sponsor, [transferCall('USDC', bob, 7n)]), nothing);
    await relayers.db.run(sql`delete from jobs`);
    await run('sweep-relayers-development');
    const waiting = await relayers.db.rows<{ task: string }>(sql`select task from jobs`);
    expect(waiting).toEqual([{ task: 'tend-relayer-development' }]);
    await relayers.finish();
    await relayers.db.run(sql`delete from jobs`);
    await run('sweep-relayers-development');
    expect(await relayers.db.rows(sql`select from jobs`)).toEqual([]);
  });

  it('have tasks for the environments that the process reaches, and no others', async () => {
    const all = relayerJobs({ ...relayers.deps, environments: ['production', 'development'] });
    const tasks = ['tend-relayer', 'sweep-relayers', 'read-relayer-balances', 'watch-unexecuted-relays'];
    const names = (environment: string) => tasks.map((task) => `${task}-${environment}`);
    expect(Object.keys(all.handlers)).toEqual([...names('production'), ...names('development')]);
    expect(Object.keys(jobs().handlers)).toEqual(names('development'));
    await enqueueRecurring(relayers.db, jobs().recurring);
  });
});

describe('the balances of relayer accounts', () => {
  it('are read and shown, with what is under way', async () => {
    const [payer, bob] = [await relayers.begin(), relayers.newAddress()];
    await run('read-relayer-balances-development');
    const before = await relayerStatus(relayers.db.reads);
    const well = {
      low: false,
      empty: false,
      openRelays: 0,
      oldestOpenSeconds: 0,
      balance: expect.any(BigInt),
      usdc: undefined,
    };
    const addresses = [1, 2].map((number) => padAddress(relayer(number).address)).sort();
    expect(before).toEqual(addresses.map((address) => ({ ...well, chainId: relayers.chain.chainId, address })));
    await relayers.sponsor.sponsor(await payer.prepared(relayers.sponsor, [transferCall('USDC', bob, 7n)]), nothing);
    const during = await relayerStatus(relayers.db.reads);
    expect(during.map(({ openRelays }) => openRelays).sort()).toEqual([0, 1]);
    await relayers.finish();
  });

  it('raise the alarm while there is still something left, and once there is nothing', async () => {
    await relayers.begin();
    const { deps } = relayers;
    for (const [balance, low, empty] of [
      [LOW_BALANCE, false, false],
      [LOW_BALANCE - 1n, true, false],
      [5n, true, true],
    ] as const) {
      const networks = relayers.networksWith({ balanceOf: async () => balance });
      const { handlers } = relayerJobs({ ...deps, networks, environments: ['development'] });
      await handlers['read-relayer-balances-development']?.({} as never, {} as never);
      for (const status of await relayerStatus(relayers.db.reads))
        expect(status).toMatchObject({ balance, low, empty });
    }
    expect(relayers.warnings).toContain('relayer account low on STRK');
    expect(relayers.warnings).toContain('relayer account out of STRK, it gets no new relays');
  });

  it('of accounts that are no longer used are not shown', async () => {
    await relayers.begin();
    await run('read-relayer-balances-development');
    await relayers.db.run(sql`update relayer_accounts set balance_read_at = now() - interval '1 hour'`);
    expect(await relayerStatus(relayers.db.reads)).toEqual([]);
  });
});
