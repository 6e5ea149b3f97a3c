import { classes, contractAddress, starkKey, starknetKeccak, type WalletClass, walletClass } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { manager, testCrypto } from '../../testing/chain.ts';
import { DepositFixture } from '../../testing/deposits.ts';
import { Networks } from '../chains/networks.ts';
import { depositAddress, depositAddressReader, deriveAddress, insertAddress } from './deposit-address.ts';

let fixture: DepositFixture;
beforeAll(async () => {
  fixture = await DepositFixture.start();
});
afterAll(() => fixture.stop());

const rows = (organizationId: string) =>
  fixture.db.rows(sql`select address from deposit_addresses where organization_id = ${organizationId}`);

const waiting = () =>
  fixture.db.rows(sql`
    select from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into deposit_addresses%'`);

describe('a deposit address', () => {
  it('is an account of the manager’s key that organisation and environment choose', async () => {
    const caller = await fixture.newCaller();
    const address = contractAddress({
      classHash: classes.svc,
      salt: starknetKeccak(`svc deposit address ${caller.organizationId} development`),
      constructorCalldata: [manager.publicKey],
      deployer: 0n,
    });
    expect(await fixture.addressOf(caller)).toBe(address);
    expect(await fixture.chain.classHashAt(address)).toBeUndefined();
  });

  it('differs between organisations, and between the environments of one', async () => {
    const [ana, eva] = [await fixture.newCaller(), await fixture.newCaller()];
    const starknet = () => fixture.relayers.networks.starknet('development');
    const networks = { starknet, environments: () => [] };
    const of = async (owner: typeof ana) =>
      (await deriveAddress({ networks, crypto: testCrypto }, owner, manager.publicKey)).address;
    const all = [await of(ana), await of(eva), await of({ ...ana, environment: 'production' })];
    expect(new Set(all).size).toBe(3);
  });

  it('is the same in every answer and process, and stored once', async () => {
    const caller = await fixture.newCaller();
    const shown = await Promise.all(Array.from({ length: 8 }, () => fixture.addressOf(caller)));
    expect(new Set(shown).size).toBe(1);
    expect(await rows(caller.organizationId)).toHaveLength(1);
  });

  it('is stored by one of two requests at once, also while the other has written one index of two', async () => {
    const { db } = fixture;
    const address = await deriveAddress(fixture.depsWith(), await fixture.newCaller(), manager.publicKey);
    // Stands between the two unique indexes, because they are written in the order in which they were made.
    for (const statement of [
      sql`create function held(text) returns text immutable language plpgsql
            as 'begin perform pg_advisory_xact_lock_shared(77); return $1; end'`,
      sql`create index deposit_addresses_held on deposit_addresses (held(address))`,
      sql`alter table deposit_addresses drop constraint deposit_addresses_organization_id_environment_public_key_key,
            add unique (organization_id, environment, public_key)`,
    ]) {
      await db.run(statement);
    }
    const inserts = await db.tx(async (tx) => {
      await tx.rows(sql`select pg_advisory_xact_lock(77)`);
      const both = Promise.allSettled([insertAddress(db, address), insertAddress(db, address)]);
      await vi.waitFor(async () => expect(await waiting()).toHaveLength(2), { timeout: 60_000 });
      return { both };
    });
    expect(await inserts.both).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }]);
    expect(await rows(address.organizationId)).toHaveLength(1);
    await db.run(sql`drop index deposit_addresses_held`);
  });

  it('is read from the database once', async () => {
    const caller = await fixture.newCaller();
    let reads = 0;
    const db = new Proxy(fixture.db, {
      get: (target, name, receiver) => {
        if (name === 'reads') reads += 1;
        return Reflect.get(target, name, receiver);
      },
    });
    const read = depositAddressReader({ ...fixture.depsWith(), db });
    const [first, second] = [await read(caller), await read(caller)];
    expect(second).toBe(first);
    expect(reads).toBe(1);
    expect(await read(await fixture.newCaller())).not.toBe(first);
  });

  it('needs no row to be found again', async () => {
    const caller = await fixture.newCaller();
    const shown = await fixture.addressOf(caller);
    await fixture.db.run(sql`delete from deposit_addresses where organization_id = ${caller.organizationId}`);
    expect(await fixture.addressOf(caller)).toBe(shown);
  });

  it('stays when another class becomes the current one', async () => {
    const caller = await fixture.newCaller();
    const shown = await fixture.addressOf(caller);
    const deps = fixture.depsWith();
    const network = deps.networks.starknet('development');
    const walletClasses = network.walletClasses.map((known) => ({
      ...known,
      current: known.classHash !== classes.svc,
    }));
    const networks = Object.assign(Object.create(deps.networks), {
      starknet: () => ({ ...network, walletClasses }),
      environments: () => ['development'],
    }) as Networks;
    const stored = await depositAddress({ ...deps, networks }, caller);
    expect(BigInt(stored?.address ?? 0)).toBe(shown);
    expect(stored?.deployment.classHash).toBe(classes.svc);
    const other = await depositAddress({ ...deps, networks }, await fixture.newCaller());
    expect(other?.deployment.classHash).not.toBe(classes.svc);
  });

  it('is another one with another key, and money at the former one is not credited', async () => {
    const caller = await fixture.newCaller();
    const former = await fixture.addressOf(caller);
    const deps = { ...fixture.depsWith(), payer: { ...fixture.depsWith().payer, publicKey: () => starkKey(0x77n) } };
    const own = await depositAddress(deps, caller);
    expect(BigInt(own?.address ?? 0)).not.toBe(former);
    expect(await rows(caller.organizationId)).toHaveLength(2);
    await fixture.pay(former, 5n);
    await fixture.index(undefined, deps);
    expect(await fixture.total(caller)).toBe(0n);
  });

  it('is missing where there is no manager, and where there is no chain', async () => {
    const deps = fixture.depsWith();
    const caller = await fixture.newCaller();
    const payer = { ...deps.payer, publicKey: () => undefined };
    expect(await depositAddress({ ...deps, payer }, caller)).toBeUndefined();
    expect(await depositAddress(deps, { ...caller, environment: 'production' })).toBeUndefined();
    const networks = new Networks({ starknet: undefined, evmRpcUrls: {} }, undefined);
    expect(await depositAddress({ ...deps, networks }, caller)).toBeUndefined();
    expect(await rows(caller.organizationId)).toEqual([]);
  });
});

it('the address of an organisation is the same in every release', async () => {
  const walletClasses = [{ ...(walletClass(classes.svcPolicies) as WalletClass), current: true }];
  const starknet = () => ({ ...fixture.relayers.networks.starknet('development'), walletClasses });
  const networks = { starknet, environments: () => [] };
  const owner = { organizationId: 'org_1', environment: 'production' } as const;
  const { address } = await deriveAddress({ networks, crypto: testCrypto }, owner, starkKey(1n));
  expect(address).toMatchInlineSnapshot(`"0x07b71105bb14166dc3e1eec30c0306a7c5adc04eea25a728c474fea652166eec"`);
});
