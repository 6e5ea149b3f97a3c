import { classes } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { manager, relayer, testUser } from '../../testing/chain.ts';
import { DepositFixture } from '../../testing/deposits.ts';
import { padAddress } from '../chains/starknet/chain.ts';
import { availableFunds, createPayer, readManagerFunds } from '../relayer/payer.ts';
import type { Sponsor } from '../relayer/relay.ts';
import { requireUsdc } from './deposit.ts';
import { MIN_SWEEP } from './deposit-address.ts';
import { create } from './module.ts';

let fixture: DepositFixture;
let address: bigint;
beforeAll(async () => {
  fixture = await DepositFixture.start();
});
beforeEach(async () => {
  // Nothing is left over from the test before.
  await fixture.db.run(sql`update deposit_addresses set sweep_at = null, relay_id = null`);
  await fixture.relayers.begin();
  address = await fixture.addressOf(await fixture.newCaller());
  await fixture.index();
});
afterEach(() => fixture.sandbox.reset());
afterAll(() => fixture.stop());

const deposit = async (amount = MIN_SWEEP) => {
  await fixture.pay(address, amount);
  await fixture.index();
};
const held = () => fixture.relayers.balance(address);
const managed = () => fixture.relayers.balance(manager.address);
const sweeps = async () => {
  const rows = await fixture.db.rows<{ state: string }>(sql`
    select state from relays where kind = 'sweep' and wallet = ${padAddress(address)} order by nonce`);
  return rows.map(({ state }) => state);
};
const isDue = async () =>
  (await fixture.db.one(sql`
    select from deposit_addresses where address = ${padAddress(address)} and sweep_at is not null`)) !== undefined;
/** Sweeps until nothing is left to do. */
const settle = async () => {
  for (let round = 0; round < 5 && (await isDue()); round += 1) {
    await fixture.makeDue();
    await fixture.sweep();
    await fixture.finish();
  }
};
/** Stores what it is asked for, and is killed before it sends. */
const killedBeforeSending = (): Sponsor => {
  const killed = () => Promise.reject(new Error('killed'));
  return fixture.relayers.sponsorWith({}, { send: killed });
};

describe('a sweep', () => {
  it('is in the audit log of its organisation with amount and transaction, once, by the service', async () => {
    await deposit(5_000_000n);
    await settle();
    const rows = await fixture.db.rows(sql`
      select actor, changes, hash from audit_log join relays on wallet = target
       where action = 'deposit.swept' and target = ${padAddress(address)}
         and audit_log.organization_id = relays.organization_id`);
    expect(rows).toEqual([
      {
        actor: 'service',
        changes: { amountUsd: '5', transactionHash: (rows as { hash: string }[])[0]?.hash },
        hash: expect.any(String),
      },
    ]);
  });

  it('sends what is at a deposit address to the manager; the first one deploys the account', async () => {
    await deposit(5_000_000n);
    const before = await managed();
    await fixture.sweep();
    await fixture.finish();
    expect([await held(), (await managed()) - before]).toEqual([0n, 5_000_000n]);
    expect(await fixture.chain.classHashAt(address)).toBe(classes.svc);
    await deposit(2_000_000n);
    await settle();
    expect([await held(), (await managed()) - before]).toEqual([0n, 7_000_000n]);
    expect(await sweeps()).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    expect(await isDue()).toBe(false);
  });

  it('is paid for by the relayers', async () => {
    const nonceOf = (owner: bigint) => fixture.chain.nonceAt(owner);
    const [managers, relayers] = [await nonceOf(manager.address), await nonceOf(relayer(1).address)];
    await deposit();
    await settle();
    expect(await nonceOf(manager.address)).toBe(managers);
    expect(await nonceOf(relayer(1).address)).toBe((relayers ?? 0n) + 1n);
  });

  it('leaves dust where it is until there is more', async () => {
    await deposit(MIN_SWEEP - 1n);
    await settle();
    expect([await held(), await sweeps(), await isDue()]).toEqual([MIN_SWEEP - 1n, [], false]);
    await deposit(1n);
    await settle();
    expect([await held(), await sweeps()]).toEqual([0n, ['SUCCEEDED']]);
  });

  it('makes money payable when it is with the manager, not before', async () => {
    const deps = fixture.depsWith();
    const payer = createPayer({ ...fixture.relayers.deps, networks: deps.networks, managerKey: () => manager });
    const usdc = requireUsdc(deps.networks, 'development');
    const payable = async () => availableFunds(await readManagerFunds({ ...deps, payer }, 'development', usdc));
    const before = await payable();
    await deposit();
    expect(await payable()).toBe(before);
    await settle();
    expect(await payable()).toBe(before + MIN_SWEEP);
  });

  it('is made once by a process that is killed before it sends, and its successor', async () => {
    await deposit();
    const before = await managed();
    await fixture.sweep({ sponsor: killedBeforeSending() });
    expect(await sweeps()).toEqual(['STORED']);
    await fixture.makeDue();
    await fixture.sweep();
    await settle();
    expect([(await managed()) - before, await sweeps()]).toEqual([MIN_SWEEP, ['SUCCEEDED']]);
  });

  it('is made once by several processes at the same time', async () => {
    await deposit();
    const before = await managed();
    await Promise.all(Array.from({ length: 4 }, () => fixture.sweep()));
    await settle();
    expect([(await managed()) - before, await sweeps()]).toEqual([MIN_SWEEP, ['SUCCEEDED']]);
  });

  it('is made although a stranger has deployed the account', async () => {
    await deposit();
    const { sponsor } = fixture.relayers;
    const row = await fixture.db.one<{ salt: string }>(sql`
      select salt from deposit_addresses where address = ${padAddress(address)}`);
    const deployment = {
      classHash: classes.svc,
      salt: BigInt(row?.salt ?? 0),
      constructorCalldata: [manager.publicKey],
    };
    const request = { environment: 'development', account: address, deployment, calls: [] } as const;
    const execution = await sponsor.prepare(request);
    const signed = await fixture.depsWith().payer.signExecution('development', address, execution);
    await sponsor.sponsor({ ...request, execution, ...signed, kind: 'wallet', user: testUser }, async () => {});
    await fixture.finish();
    await settle();
    expect([await held(), await sweeps()]).toEqual([0n, ['SUCCEEDED']]);
  });

  it('that reverts is made again', async () => {
    await deposit();
    await fixture.sandbox.fault({ kind: 'revert', reason: 'out of luck' });
    await fixture.sweep();
    await fixture.finish();
    expect([await held(), await sweeps()]).toEqual([MIN_SWEEP, ['REVERTED']]);
    await settle();
    expect([await held(), await sweeps()]).toEqual([0n, ['REVERTED', 'SUCCEEDED']]);
  });

  it('that a reorganisation removes is made again, and what it moved is moved once', async () => {
    await deposit();
    const before = await managed();
    await fixture.sweep();
    await fixture.finish();
    await fixture.relayers.reorganise(1, 'drop');
    expect(await managed()).toBe(before);
    await fixture.finish();
    await settle();
    expect([await held(), (await managed()) - before]).toEqual([0n, MIN_SWEEP]);
  });

  it('takes along what arrived while another one was under way', async () => {
    await deposit();
    await fixture.sweep();
    await deposit(3_000_000n);
    await fixture.finish();
    await settle();
    expect(await held()).toBe(0n);
  });

  it('that fails does not hold up the others', async () => {
    const other = await fixture.addressOf(await fixture.newCaller());
    await deposit();
    await fixture.pay(other, MIN_SWEEP);
    await fixture.index();
    const { balanceOf } = fixture.chain;
    const networks = fixture.relayers.networksWith({
      balanceOf: (token, owner, at) =>
        owner === address ? Promise.reject(new Error('no answer')) : balanceOf.call(fixture.chain, token, owner, at),
    });
    await fixture.sweep({ networks });
    await fixture.finish();
    expect([await held(), await fixture.relayers.balance(other)]).toEqual([MIN_SWEEP, 0n]);
    await settle();
    expect(await held()).toBe(0n);
  });
});

it('the age of the oldest deposit that is not swept grows while sweeps fail', async () => {
  const { gauges = [] } = create({ ...fixture.depsWith(), environments: [] });
  const ages = async () => {
    const gauge = gauges.find(({ name }) => name === 'svc_deposits_oldest_unswept_seconds');
    return (await gauge?.read())?.map(({ value }) => Math.floor(value / 60));
  };
  await deposit();
  await fixture.db.run(
    sql`update deposit_addresses set unswept_since = now() - interval '5 minutes' where sweep_at is not null`,
  );
  await deposit();
  await fixture.sweep({
    networks: fixture.relayers.networksWith({ balanceOf: () => Promise.reject(new Error('no')) }),
  });
  expect(await ages()).toEqual([5]);
  await settle();
  expect(await ages()).toEqual([]);
});

it('the manager signs for other accounts only', async () => {
  const { payer, sponsor } = fixture.depsWith();
  const request = { environment: 'development', account: manager.address, deployment: undefined, calls: [] } as const;
  const execution = await sponsor.prepare(request);
  await expect(payer.signExecution('development', manager.address, execution)).rejects.toThrow('own account');
});
