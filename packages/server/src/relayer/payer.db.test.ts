import { sql } from '@svc/store';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { manager, transferCall } from '../../testing/chain.ts';
import { type ChainChanges, RelayerFixture } from '../../testing/relayer.ts';
import { padAddress } from '../chains/starknet/chain.ts';
import { readBalances } from './accounts.ts';
import { relayerChecks, relayerStatus } from './module.ts';
import { createPayer, type PayOrder } from './payer.ts';
import { abandonRelay, reopenRelays } from './relay-store.ts';
import { processAccount } from './worker/worker.ts';

const nothing = async () => {};
/** As many looks as a minute of working jobs would take. */
const MAX_LOOKS = 60;
/** After so many blocks the sandbox counts a block as accepted on L1. */
const L1_AFTER_BLOCKS = 100;

let relayers: RelayerFixture;
beforeAll(async () => {
  relayers = await RelayerFixture.start();
});
beforeEach(async () => {
  await relayers.sandbox.reset();
  await relayers.db.run(sql`delete from relay_attempts`);
  await relayers.db.run(sql`delete from relays`);
  await relayers.db.run(sql`delete from relayer_accounts`);
  relayers.outcomes.length = 0;
});
afterAll(() => relayers.stop());

const managerKey = () => manager;
const payerWith = (chain: ChainChanges = {}) =>
  createPayer({ ...relayers.deps, networks: relayers.networksWith(chain), managerKey });
const nonce = async () => (await relayers.chain.nonceAt(manager.address)) ?? 0n;

let orders = 0;
function orderOf(to: bigint, amount = 7n): PayOrder {
  orders += 1;
  const calls = [transferCall('USDC', to, amount)];
  return { environment: 'development', kind: 'payout', purpose: `payout ${orders}`, calls };
}

/** What the workers do with what the manager has under way. */
async function finish(): Promise<void> {
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    const { open } = await processAccount({ ...relayers.deps, managerKey }, 'development', padAddress(manager.address));
    if (!open) return;
    relayers.clock.advance(1_000);
  }
  throw new Error('Relays are open after');
}

describe('a payment of the manager', () => {
  it('is made once: the same purpose again answers the first', async () => {
    const [payer, bob] = [payerWith(), relayers.newAddress()];
    const order = orderOf(bob);
    const [first, second] = await Promise.all([payer.pay(order, nothing), payer.pay(order, nothing)]);
    expect(first).toMatchObject({ ok: true });
    expect(second).toEqual(first);
    expect(await payer.pay(order, nothing)).toEqual(first);
    await finish();
    expect(await relayers.balance(bob)).toBe(7n);
    const about = { kind: 'payout', result: 'SUCCEEDED', account: manager.address };
    expect(relayers.outcomes).toMatchObject([about]);
  });

  it('that was made before is answered also where the manager’s key has left the configuration', async () => {
    const order = orderOf(relayers.newAddress());
    const first = await payerWith().pay(order, nothing);
    const keyless = createPayer({ ...relayers.deps, managerKey: () => undefined });
    expect(await keyless.pay(order, nothing)).toEqual(first);
    await expect(keyless.pay(orderOf(relayers.newAddress()), nothing)).rejects.toMatchObject({
      code: 'chain_not_configured',
    });
    await finish();
  });

  it('that would revert is refused with the chain’s reason, and nothing is stored', async () => {
    const answer = await payerWith().pay(orderOf(0n), nothing);
    expect(answer).toEqual({ ok: false, reason: expect.stringContaining('transfer to 0') });
    expect(await relayers.states()).toEqual([]);
  });

  it('is not made where what belongs to it cannot be stored, and takes no nonce', async () => {
    const [payer, bob] = [payerWith(), relayers.newAddress()];
    const before = await nonce();
    const order = orderOf(bob);
    await expect(payer.pay(order, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await relayers.states()).toEqual([]);
    await payer.pay(order, nothing);
    await finish();
    expect(await nonce()).toBe(before + 1n);
    expect(await relayers.balance(bob)).toBe(7n);
  });

  it('is sent by the relay worker when the process died before it could', async () => {
    const bob = relayers.newAddress();
    const died = payerWith({ send: () => Promise.reject(new Error('died')) });
    await expect(died.pay(orderOf(bob), nothing)).rejects.toThrow('died');
    await finish();
    expect(await relayers.balance(bob)).toBe(7n);
  });

  it('needs a manager', async () => {
    const payer = createPayer({ ...relayers.deps, managerKey: () => undefined });
    expect(() => payer.manager('development')).toThrow('MANAGER_ACCOUNT');
    await expect(payer.pay(orderOf(1n), nothing)).rejects.toMatchObject({ code: 'chain_not_configured' });
  });
});

describe('a payment that ended without being made', () => {
  async function reverted() {
    const [payer, bob] = [payerWith(), relayers.newAddress()];
    await relayers.sandbox.mine(3);
    await relayers.sandbox.fault({ kind: 'revert', reason: 'out of luck' });
    const answer = await payer.pay(orderOf(bob), nothing);
    if (!answer.ok) throw new Error(answer.reason);
    await finish();
    return { payer, bob, id: answer.relayId };
  }

  it('is final once its block is accepted on L1, and not before', async () => {
    const { payer, id } = await reverted();
    await relayers.sandbox.mine(L1_AFTER_BLOCKS - 1);
    expect(await payer.isFailureFinal('development', id)).toBe(false);
    await relayers.sandbox.mine();
    expect(await payer.isFailureFinal('development', id)).toBe(true);
  });

  it('is not final where the chain has executed it after all, in any stored state', async () => {
    const { payer, bob, id } = await reverted();
    await relayers.sandbox.reorganise(1, 'requeue');
    await relayers.sandbox.mine(L1_AFTER_BLOCKS);
    expect(await relayers.states()).toEqual(['REVERTED']);
    expect(await relayers.balance(bob)).toBe(7n);
    expect(await payer.isFailureFinal('development', id)).toBe(false);
  });

  it('only consumes its nonce once it is abandoned, also after a reorganisation', async () => {
    const { bob, id } = await reverted();
    expect(await relayers.db.tx((tx) => abandonRelay(tx, id))).toBe(true);
    const head = await relayers.chain.blockNumber();
    await relayers.sandbox.reorganise(1, 'drop');
    await relayers.db.tx((tx) => reopenRelays(tx, relayers.chain.chainId, head - 1));
    await finish();
    expect(await relayers.states()).toEqual(['VOIDED']);
    expect(await relayers.balance(bob)).toBe(0n);
  });

  it('cannot be abandoned while it is open, or when it succeeded', async () => {
    const [payer, bob] = [payerWith(), relayers.newAddress()];
    const answer = await payer.pay(orderOf(bob), nothing);
    const id = answer.ok ? answer.relayId : '';
    expect(await relayers.db.tx((tx) => abandonRelay(tx, id))).toBe(false);
    await finish();
    expect(await relayers.db.tx((tx) => abandonRelay(tx, id))).toBe(false);
    expect(await payer.isFailureFinal('development', id)).toBe(false);
  });
});

describe('what the manager has', () => {
  it('is read with what the relayers have, and reported apart from them', async () => {
    const deps = { ...relayers.deps, managerKey };
    await readBalances(deps, 'development');
    const status = await relayerStatus(relayers.db.reads);
    const own = status.find(({ address }) => address === padAddress(manager.address));
    expect(own).toMatchObject({ usdc: expect.any(BigInt), empty: false });
    expect(status.filter(({ usdc }) => usdc === undefined)).toHaveLength(1);
    const checks = relayerChecks(relayers.db.reads);
    expect(await checks.manager?.()).toBe('ok');
    await relayers.db.run(sql`update relayer_accounts set usdc = 99999999 where usdc is not null`);
    expect(await checks.manager?.()).toBe('low');
    await relayers.db.run(sql`update relayer_accounts set usdc = 0 where usdc is not null`);
    expect(await checks.manager?.()).toBe('empty');
    expect(await checks.relayers?.()).toBe('ok');
  });
});
