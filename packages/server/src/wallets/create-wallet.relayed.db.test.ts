import { classes } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CreateBody, Owner } from '../../testing/owner.ts';
import { relayer } from '../../testing/starknet.ts';
import { openWalletHouse, refusal, type WalletHouse } from '../../testing/wallets.ts';
import { padded } from '../chains/starknet/chain.ts';
import { createOwnSponsor } from '../relayer/relayer-sponsor.ts';
import { tend } from '../relayer/worker/worker.ts';
import { createWallet } from './create-wallet.ts';
import { walletOutcomes } from './relay-outcome.ts';
import type { WalletParts } from './signed-execution.ts';
import { findWallet } from './wallet.ts';

const account = relayer(3);
let house: WalletHouse;
let parts: WalletParts;
beforeAll(async () => {
  house = await openWalletHouse();
  parts = { ...house, sponsor: createOwnSponsor({ ...house, keys: () => [account] }) };
});
afterAll(() => house.stop());

const create = (body: CreateBody) => createWallet(parts, house.caller(), body);
const kept = (owner: Owner) => findWallet(house.db.reads, house.caller(), owner.address);
const relays = async () => (await house.db.one<{ n: bigint }>(sql`select count(*) as n from relays`))?.n ?? 0n;

/** What the workers do: sees how everything ended and tells the wallets. */
async function tendOnce(): Promise<void> {
  const log = { info() {}, warn() {}, error() {} };
  const nothing = async () => {};
  const outcomes = { ...walletOutcomes(), calls: nothing, payout: nothing, burn: nothing, refund: nothing };
  await tend({ ...house, keys: () => [account], outcomes, log }, 'development', padded(account.address));
}

describe('with relayer accounts of our own', () => {
  it.each([
    ['SVC', classes.svc],
    ['READY', classes.ready],
  ])('a wallet of type %s is created, and deployed when the chain says so', async (_, classHash) => {
    const owner = new Owner(classHash);
    const created = await create(await house.request(owner, 'ana'));
    expect(created).toMatchObject({ isDeployed: false, success: true });
    await tendOnce();
    expect(await kept(owner)).toMatchObject({ isDeployed: true, classHash });
  });

  it('many requests at once make one relay', async () => {
    const owner = new Owner();
    const bodies = [await house.request(owner, 'ana'), await house.request(owner, 'ana')];
    const before = await relays();
    const answers = await Promise.all([...bodies, ...bodies, ...bodies].map(create));
    expect(new Set(answers.map(({ id, txHash }) => `${id} ${txHash}`)).size).toBe(1);
    expect(await relays()).toBe(before + 1n);
  });

  it('a deployment that reverted can be signed anew', async () => {
    const owner = new Owner();
    const body = await house.request(owner, 'ana');
    await house.control('/starknet/faults', { kind: 'revert', reason: 'out of luck' });
    const first = await create(body);
    await tendOnce();
    expect(await kept(owner)).toMatchObject({ isDeployed: false });
    await refusal(create(body), 'transaction_reverted');
    const second = await create(await house.request(owner, 'ana'));
    expect(second.id).toBe(first.id);
    await tendOnce();
    expect(await kept(owner)).toMatchObject({ isDeployed: true });
  });

  it('an account that stands already is taken over', async () => {
    const owner = new Owner(classes.svcSessions);
    await createWallet(house, house.caller(), await house.request(owner, 'ana'));
    await house.db.run(sql`delete from wallets where address = ${owner.address}`);
    const created = await create(await house.request(owner, 'luis'));
    await tendOnce();
    expect(await kept(owner)).toMatchObject({ id: created.id, isDeployed: true, classHash: classes.svcSessions });
  });
});
