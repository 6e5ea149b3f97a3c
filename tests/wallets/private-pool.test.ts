import { endpoints } from '@svc/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hashOf, type Organization, Owner } from '../support/app.ts';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { eventually } from '../support/eventually.ts';
import { approval, feeApproval, PrivateAccount, poolCall, setTerms } from '../support/private-pool.ts';
import { TestService } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';

const STRK = 10n ** 18n;

let service: TestService;
let app: Organization;
beforeAll(async () => {
  service = await TestService.hosted();
  app = await service.organization();
});
afterEach(() => setTerms(service.sandbox, {}));
afterAll(() => service.stop());

let users = 0;
async function newWallet() {
  users += 1;
  const [owner, user] = [new Owner(), `user-${users}-${Date.now()}`];
  await app.createWallet(owner, user);
  await service.sandbox.faucet(owner.address, 'USDC', '10');
  return { owner, user, account: new PrivateAccount(service.sandbox, owner) };
}

interface Shown {
  readonly type: string;
  readonly status: string;
  readonly amount?: string;
  readonly token?: string;
  readonly destinationAddress: string;
  readonly transactionHash: string;
}

async function historyOf(owner: Owner): Promise<readonly Shown[]> {
  const reply = await app.get(`/transactions/transaction-list?walletAddress=${owner.address}&limit=50`);
  expectAnswer(reply, endpoints.listTransactions);
  return (reply.body as { data: Shown[] }).data;
}

/** All records of a transaction, once they are final. */
async function recordsOf(owner: Owner, hash: string): Promise<readonly Shown[]> {
  const found = await eventually(
    async () => (await historyOf(owner)).filter(({ transactionHash }) => BigInt(transactionHash) === BigInt(hash)),
    (all) => all.length > 0 && all.every(({ status }) => status !== 'PENDING'),
  );
  return found.filter(({ type }) => type !== 'CONTRACT_CALL');
}

const relays = async () => {
  const { rows } = await service.db.pool.query<{ count: string }>('select count(*) as count from relays');
  return rows[0]?.count;
};

async function usedFri(user: string): Promise<bigint> {
  const { rows } = await service.db.pool.query<{ fri: string }>(
    'select fri from sponsored_user_days where external_user_id = $1',
    [user],
  );
  return BigInt(rows[0]?.fri ?? 0);
}

const spent = async (user: string) => {
  const { rows } = await service.db.pool.query<{ fee: string | null; pool: string }>(
    'select fee, pool_fee as pool from relays where external_user_id = $1',
    [user],
  );
  return rows;
};

describe('the private pool', () => {
  it('is in the history with public amounts, and private transfers without one', async () => {
    const [ana, luis] = [await newWallet(), await newWallet()];
    const shielded = hashOf(await app.execute(ana.owner, await ana.account.shield([5_000_000n])));
    const [shield, ...more] = await recordsOf(ana.owner, shielded);
    expect(shield).toMatchObject({ type: 'SHIELD', status: 'SUCCESS', token: 'USDC', amount: '5000000' });
    expect(more).toEqual([]);
    const transfer = await ana.account.transfer(5_000_000n, 1_000_000n, luis.account);
    const [moved] = await recordsOf(ana.owner, hashOf(await app.execute(ana.owner, [transfer])));
    expect(moved).toMatchObject({ type: 'PRIVATE_TRANSFER', status: 'SUCCESS' });
    expect(moved).not.toHaveProperty('amount');
    const unshield = await ana.account.unshield(4_000_000n, 3_000_000n, ana.owner.address);
    const hash = hashOf(await app.execute(ana.owner, [unshield]));
    expect(await recordsOf(ana.owner, hash)).toMatchObject([
      { type: 'UNSHIELD', status: 'SUCCESS', amount: '3000000', token: 'USDC' },
    ]);
    expect(await app.balance(ana.owner.address, 'USDC')).toBe(8_000_000n);
    // The indexer passes these blocks, too: money from the pool is recorded once.
    await app.post('/transactions/sync-on-chain', { walletAddress: ana.owner.address });
    expect(await recordsOf(ana.owner, hash)).toHaveLength(1);
    const list = await app.get(`/transactions?type=UNSHIELD&walletAddress=${ana.owner.address}`);
    expectAnswer(list, endpoints.listEnvironmentTransactions);
    expect((list.body as { data: unknown[] }).data).toHaveLength(1);
  });

  it('follows the chain when it takes a shield back and executes it again', async () => {
    const { owner, account } = await newWallet();
    const hash = hashOf(await app.execute(owner, await account.shield([2_000_000n])));
    await recordsOf(owner, hash);
    await service.sandbox.ask('/starknet/reorg', { blocks: 1, transactions: 'drop' });
    await expect.poll(() => app.balance(owner.address, 'USDC'), { timeout: 60_000 }).toBe(8_000_000n);
    const records = await eventually(
      async () => (await historyOf(owner)).filter(({ type }) => type === 'SHIELD'),
      (all) => all.every(({ status }) => status === 'SUCCESS'),
    );
    expect(records).toMatchObject([{ amount: '2000000' }]);
  });

  it('refuses to sponsor shields while they are paused, before and after signing, and nothing else', async () => {
    const { owner, account } = await newWallet();
    const calls = await account.shield([2_000_000n]);
    const typedData = await app.prepare(owner.address, calls);
    await setTerms(service.sandbox, { shieldPaused: true });
    const before = await relays();
    const body = { publicKey: owner.address, typedData, userSignature: owner.sign(typedData) };
    expectError(
      await app.post('/transactions/prepare-typed-data', { publicKey: owner.address, calls }),
      400,
      'shield_paused',
    );
    expectError(await app.post('/transactions/execute-sponsored-transaction', body), 400, 'shield_paused');
    expect(await relays()).toBe(before);
    expect((await historyOf(owner)).map(({ type }) => type)).not.toContain('SHIELD');
    await setTerms(service.sandbox, {});
    const hash = hashOf(await app.post('/transactions/execute-sponsored-transaction', body));
    await setTerms(service.sandbox, { shieldPaused: true });
    // What is relayed already is answered again.
    expect(hashOf(await app.post('/transactions/execute-sponsored-transaction', body))).toBe(hash);
    const out = await account.unshield(2_000_000n, 2_000_000n, owner.address);
    expect((await app.execute(owner, [out])).status).toBe(200);
  });

  it('has its fee paid by the sponsor and counted on the budget to the last FRI; a batch of shields pays once', async () => {
    const { owner, user, account } = await newWallet();
    await eventually(
      () => spent(user),
      (rows) => rows.every(({ fee }) => fee !== null),
    );
    await setTerms(service.sandbox, { fee: '4' });
    const calls = await account.shield([1_000_000n, 2_000_000n]);
    const unpaid = await app.post('/transactions/prepare-typed-data', { publicKey: owner.address, calls });
    expectError(unpaid, 400, 'pool_fee_unpaid');
    expect(unpaid.text).toContain('4 STRK');
    const hash = hashOf(await app.execute(owner, [feeApproval(4n), ...calls]));
    expect(await recordsOf(owner, hash)).toMatchObject([{ type: 'SHIELD' }, { type: 'SHIELD' }]);
    const rows = await eventually(
      () => spent(user),
      (all) => all.every(({ fee }) => fee !== null),
    );
    expect(rows.map(({ pool }) => BigInt(pool)).toSorted()).toEqual([0n, 4n * STRK]);
    const gas = rows.reduce((sum, { fee }) => sum + BigInt(fee ?? 0), 0n);
    expect(await usedFri(user)).toBe(gas + 4n * STRK);
    expect(await app.balance(owner.address, 'STRK')).toBe(0n);
    const received = (await historyOf(owner)).filter(({ type, token }) => type === 'RECEIVE' && token === 'STRK');
    expect(received).toEqual([]);
  });

  it('counts on the limit before anything is sent', async () => {
    const { owner, account } = await newWallet();
    await setTerms(service.sandbox, { fee: '4' });
    const calls = [feeApproval(4n), ...(await account.shield([1_000_000n]))];
    await app.patch('/organization/sponsorship', { userDailyStrk: '3.9' });
    const before = await relays();
    const refused = await app.execute(owner, calls);
    await app.patch('/organization/sponsorship', { userDailyStrk: null });
    expectError(refused, 400, 'sponsorship_limit_reached');
    expect(await relays()).toBe(before);
    expect((await app.execute(owner, calls)).status).toBe(200);
  });

  it('says how long an account is busy, and that a proof is wrong', async () => {
    const { owner, account } = await newWallet();
    const forged = await app.execute(owner, await account.shield([1_000_000n], 2_000_000n));
    expectError(forged, 400, 'proof_rejected');
    await setTerms(service.sandbox, { lagBlocks: 12 });
    expect((await app.execute(owner, await account.shield([1_000_000n]))).status).toBe(200);
    const again = await app.execute(owner, await account.shield([1_000_000n]));
    expectError(again, 400, 'pool_busy');
    expect(again.text).toMatch(/busy for \d+ blocks/);
    expect((await app.execute(owner, [approval(USDC, 0n)])).status).toBe(200);
    expectError(await app.execute(owner, [poolCall('rollover', [])]), 400, 'transaction_reverted');
  });
});
