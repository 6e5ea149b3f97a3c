import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrokenInvariants } from '../../packages/server/testing/ledger.ts';
import { type App, field } from '../support/app.ts';
import { auditRelays, settled } from '../support/audit.ts';
import { eventually } from '../support/eventually.ts';
import { openDatabaseProxy, random, seedCount, spread } from '../support/faults.ts';
import type { RunningServer } from '../support/server.ts';
import { TestService } from '../support/service.ts';

const KILLS = seedCount(4);
const EACH_MS = 60_000;
const SETTLE_MS = 180_000;
/** A sweep starts within 15 seconds; an idle victim still polls for jobs, and is killed by that. */
const WAIT_LIMIT_MS = 60_000;
const DEPOSITED = '2.5';
const DEPOSITED_RAW = 2_500_000n;

let service: TestService;
let manager: string;
beforeAll(async () => {
  // Without jobs of its own: victims run all of them.
  service = await TestService.hosted({ SVC_ROLE: 'api' });
  manager = (await service.sandbox.account('manager')).address;
}, 300_000);
afterAll(() => service.stop());

interface Depositor {
  readonly app: App;
  readonly address: string;
}

async function newDepositor(): Promise<Depositor> {
  const app = await service.organization();
  return { app, address: field<string>(await app.get('/organization'), 'depositAddress') };
}

const left = ({ address }: Depositor) => service.app.balance(address, 'USDC');
const managed = () => service.app.balance(manager, 'USDC');
const entriesOf = async ({ app }: Depositor) =>
  field<{ type: string; amountUsd: number }[]>(await app.get('/organization/ledger'), 'data').map(
    ({ type, amountUsd }) => [type, amountUsd],
  );

/** The first victim also sees the report of the hash, which must not count besides. */
async function deposit({ app, address }: Depositor, reportAt: RunningServer | undefined): Promise<void> {
  const transactionHash = await service.sandbox.faucet(address, 'USDC', DEPOSITED);
  const body = { transactionHash, chain: 'STARKNET' };
  if (reportAt)
    await app
      .at(reportAt)
      .post('/organization/deposits', body)
      .catch(() => undefined);
}

/** How often something is sent to the database from the deposit until it is with the manager. */
async function countSteps(depositor: Depositor): Promise<number> {
  const proxy = await openDatabaseProxy(service.databaseUrl);
  const whole = await service.anotherHosted({ DATABASE_URL: proxy.url, SVC_ROLE: 'all' });
  const before = proxy.sent();
  await deposit(depositor, whole);
  expect(
    await eventually(
      () => left(depositor),
      (rest) => rest === 0n,
      WAIT_LIMIT_MS,
    ),
  ).toBe(0n);
  const steps = proxy.sent() - before;
  await whole.stop();
  proxy.close();
  return steps;
}

async function killOne(seed: number, steps: number): Promise<Depositor> {
  const depositor = await newDepositor();
  const proxy = await openDatabaseProxy(service.databaseUrl);
  const victim = await service.another({ DATABASE_URL: proxy.url, SVC_ROLE: 'all' });
  const died = once(victim.process, 'exit', { signal: AbortSignal.timeout(WAIT_LIMIT_MS) });
  const places = Array.from({ length: steps }, (_, step) => step + 1);
  const when = random(seed + KILLS)() < 0.5 ? 'before' : 'after';
  proxy.cutAfter(spread(seed, KILLS, places), when, () => victim.process.kill('SIGKILL'));
  await deposit(depositor, random(seed)() < 0.5 ? victim : undefined);
  await died;
  proxy.close();
  return depositor;
}

describe('a process that is killed while it credits and sweeps a deposit', () => {
  it(
    `leaves it credited once and with the manager once: ${KILLS} seeds`,
    async () => {
      const before = await managed();
      const depositors = [await newDepositor()];
      const steps = await countSteps(depositors[0] as Depositor);
      for (let seed = 0; seed < KILLS; seed += 1) depositors.push(await killOne(seed, steps));
      await service.anotherHosted({ SVC_ROLE: 'all' });
      for (const depositor of depositors) {
        const rest = await eventually(
          () => left(depositor),
          (amount) => amount === 0n,
          SETTLE_MS,
        );
        expect([rest, await entriesOf(depositor)]).toEqual([0n, [['DEPOSIT', Number(DEPOSITED)]]]);
      }
      expect((await managed()) - before).toBe(DEPOSITED_RAW * BigInt(depositors.length));
      expect(await findBrokenInvariants(service.db)).toEqual([]);
      // Money arrives before the relay worker has stored how its relay ended.
      await settled(service.db);
      await auditRelays(service.db, service.sandbox);
    },
    SETTLE_MS + (KILLS + 1) * EACH_MS,
  );
});
