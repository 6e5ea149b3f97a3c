import { sql } from '@svc/store';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { manager, testCrypto } from '../../testing/chain.ts';
import { order, PaymasterFixture, sendings } from '../../testing/paymaster.ts';
import { createOrganization } from '../organizations/api-keys.ts';
import { createPayer } from '../relayer/payer.ts';
import { depositAddress, requestSweep, sweepDeposits, sweepOutcomes } from './deposit-address.ts';

let fixture: PaymasterFixture;
beforeAll(async () => {
  fixture = await PaymasterFixture.start();
});
afterAll(() => fixture.stop());

const environment = 'development' as const;

it('a paymaster pays for the sweep, which it is asked for again after it gave no answer', async () => {
  const { db, networks, sponsor, deps } = fixture;
  const payer = createPayer({ db, networks, crypto: testCrypto, managerKey: () => manager });
  const owner = { organizationId: await createOrganization(db, 'Tienda Azul'), environment };
  const own = await depositAddress({ db, networks, crypto: testCrypto, payer }, owner);
  const address = own?.address ?? '';
  const sweep = () => sweepDeposits({ db, networks, payer, sponsor, log: deps.log }, environment);
  const outcomes = { ...deps.outcomes, ...sweepOutcomes() };
  for (const amount of ['5', '3']) {
    await fixture.sandbox.faucet(address, 'USDC', amount);
    const before = await fixture.balance(manager.address);
    await requestSweep(db, environment, [address]);
    order(fixture, { instead: 'hang up' });
    await sweep();
    await fixture.ageRelays();
    for (let round = 0; round < 3; round += 1) await fixture.runJobs({ outcomes });
    expect((await fixture.balance(manager.address)) - before).toBe(BigInt(amount) * 1_000_000n);
    expect(await fixture.balance(BigInt(address))).toBe(0n);
    await sweep();
  }
  expect(sendings(fixture)).toBe(4);
  expect(await db.rows(sql`select kind, state from relays`)).toEqual(
    Array(2).fill({ kind: 'sweep', state: 'SUCCEEDED' }),
  );
  expect(await db.rows(sql`select sweep_at, relay_id from deposit_addresses`)).toEqual([
    { sweep_at: null, relay_id: null },
  ]);
});
