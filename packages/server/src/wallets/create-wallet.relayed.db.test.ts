import { classes } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { relayer } from '../../testing/chain.ts';
import { type CreateBody, Owner, refusal, WalletFixture } from '../../testing/wallets.ts';
import { padAddress } from '../chains/starknet/chain.ts';
import { createRelayerSponsor } from '../relayer/relayer-sponsor.ts';
import { processAccount } from '../relayer/worker/worker.ts';
import { createWallet } from './create-wallet.ts';
import { relayOutcomes } from './module.ts';
import type { WalletDeps } from './signed-execution.ts';
import { findWallet } from './wallet.ts';

const account = relayer(3);
let fixture: WalletFixture;
let deps: WalletDeps;
beforeAll(async () => {
  fixture = await WalletFixture.start();
  deps = { ...fixture, sponsor: createRelayerSponsor({ ...fixture, keys: () => [account] }) };
});
afterAll(() => fixture.stop());

const create = (body: CreateBody) => createWallet(deps, fixture.caller(), body);
const kept = (owner: Owner) => findWallet(fixture.db.reads, fixture.caller(), owner.address);
const relays = async () => (await fixture.db.one<{ n: bigint }>(sql`select count(*) as n from relays`))?.n ?? 0n;

/** What the workers do: sees how everything ended and tells the wallets. */
async function tendOnce(): Promise<void> {
  const log = { info() {}, warn() {}, error() {} };
  const nothing = async () => {};
  const others = { calls: nothing, sweep: nothing, payout: nothing, burn: nothing, refund: nothing };
  const treasuries = { treasury: nothing, 'treasury-deployment': nothing, 'solana-transfer': nothing };
  const outcomes = { ...relayOutcomes(), ...others, ...treasuries };
  await processAccount(
    { ...fixture, keys: () => [account], outcomes, log },
    'development',
    padAddress(account.address),
  );
}

describe('with relayer accounts of our own', () => {
  it.each([
    ['SVC', classes.svc],
    ['READY', classes.ready],
  ])('a wallet of type %s is created, and deployed when the chain says so', async (_, classHash) => {
    const owner = new Owner(classHash);
    const created = await create(await fixture.request(owner, 'ana'));
    expect(created).toMatchObject({ isDeployed: false, success: true });
    await tendOnce();
    expect(await kept(owner)).toMatchObject({ isDeployed: true, classHash });
    const events = await fixture.db.rows<{ type: string; data: object }>(sql`
      select type, data from events where subject = ${created.id}`);
    expect(events).toMatchObject([{ type: 'wallet.created', data: { id: created.id, isDeployed: true } }]);
    expect(JSON.stringify(events)).not.toContain('encrypted');
  });

  it('many requests at once make one relay', async () => {
    const owner = new Owner();
    const bodies = [await fixture.request(owner, 'ana'), await fixture.request(owner, 'ana')];
    const before = await relays();
    const answers = await Promise.all([...bodies, ...bodies, ...bodies].map(create));
    expect(new Set(answers.map(({ id, txHash }) => `${id} ${txHash}`)).size).toBe(1);
    expect(await relays()).toBe(before + 1n);
  });

  it('a deployment that reverted can be signed anew', async () => {
    const owner = new Owner();
    const body = await fixture.request(owner, 'ana');
    await fixture.sandbox.post('/starknet/faults', { kind: 'revert', reason: 'out of luck' });
    const first = await create(body);
    await tendOnce();
    expect(await kept(owner)).toMatchObject({ isDeployed: false });
    await refusal(create(body), 'transaction_reverted');
    const second = await create(await fixture.request(owner, 'ana'));
    expect(second.id).toBe(first.id);
    await tendOnce();
    expect(await kept(owner)).toMatchObject({ isDeployed: true });
  });

  it('an account that stands already is taken over', async () => {
    const owner = new Owner(classes.svcSessions);
    await createWallet(fixture, fixture.caller(), await fixture.request(owner, 'ana'));
    await fixture.db.run(sql`delete from wallets where address = ${owner.address}`);
    const created = await create(await fixture.request(owner, 'luis'));
    await tendOnce();
    expect(await kept(owner)).toMatchObject({ id: created.id, isDeployed: true, classHash: classes.svcSessions });
  });
});
