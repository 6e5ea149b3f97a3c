import { endpoints } from '@svc/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Organization, Owner, transferOf } from '../support/app.ts';
import { expectAnswer, expectError } from '../support/assertions.ts';
import { type AnyService, TestService } from '../support/service.ts';
import { STRK, USDC } from '../support/starknet-client.ts';

const POLL = { timeout: 60_000, interval: 50 };

let service: AnyService;
beforeAll(async () => {
  service = await TestService.shared();
});
afterAll(() => service.stop());

interface Shown {
  readonly used: { readonly strk: string; readonly transactions: number; readonly wallets: number };
  readonly user: { readonly strk: string; readonly transactions: number };
}

async function shownOf(app: Organization, user: string): Promise<Shown> {
  const reply = await app.get(`/organization/sponsorship?externalUserId=${user}`);
  expectAnswer(reply, endpoints.getSponsorship);
  return reply.body as Shown;
}

const limitTo = (app: Organization, limits: object) => app.patch('/organization/sponsorship', limits);

describe('sponsored gas', () => {
  it('is bounded per user: fifty transfers at once, of which the limit and no more are sent', async () => {
    const app = await service.organization();
    const owner = new Owner();
    await app.createWallet(owner, 'ana');
    await service.sandbox.faucet(owner.address, 'USDC', '1');
    expectAnswer(await limitTo(app, { userDailyTransactions: 11 }), endpoints.updateSponsorship);
    const signed = [];
    for (let count = 0; count < 50; count += 1) {
      const typedData = await app.prepare(owner.address, [transferOf(USDC, '0xb0b5', 1n)]);
      signed.push({ publicKey: owner.address, typedData, userSignature: owner.sign(typedData) });
    }
    const replies = await Promise.all(
      signed.map((body) => app.post('/transactions/execute-sponsored-transaction', body)),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
    for (const reply of replies.filter(({ status }) => status !== 200)) {
      expectError(reply, 400, 'sponsorship_limit_reached');
      expect(reply.text).toMatch(/userDailyTransactions .* resets at \d{4}-\d\d-\d\dT00:00:00\.000Z/);
    }
    await expect.poll(() => app.balance(owner.address, 'USDC'), POLL).toBe(999_990n);
    expect((await shownOf(app, 'ana')).user.transactions).toBe(11);
    await limitTo(app, { userDailyTransactions: null });
    expect((await app.execute(owner, [transferOf(USDC, '0xb0b5', 1n)])).status).toBe(200);
  });

  it('is shown with what was reserved first and with what was paid in the end', async () => {
    const app = await service.organization();
    await app.createWallet(new Owner(), 'eva');
    const fees = async () => {
      const rows = await service.db.pool.query<{ fee: string | null; user: string; organization: string }>(
        'select fee, external_user_id as user, organization_id as organization from relays where organization_id = $1',
        [app.id],
      );
      return rows.rows;
    };
    await expect.poll(async () => (await fees())[0]?.fee, POLL).toBeTruthy();
    const [relay] = await fees();
    expect(relay).toMatchObject({ user: 'eva', organization: app.id });
    const { used, user } = await shownOf(app, 'eva');
    expect(used).toMatchObject({ transactions: 1, wallets: 1 });
    expect(BigInt(used.strk.replace('0.', '').padEnd(18, '0'))).toBe(BigInt(relay?.fee ?? 0));
    expect(user.strk).toBe(used.strk);
  });

  it('is bounded in wallets of a user, and the next user creates one', async () => {
    const app = await service.organization();
    await limitTo(app, { userDailyWallets: 1 });
    await app.createWallet(new Owner(), 'ana');
    const second = await app.post('/svc-wallets', await app.creation(new Owner(), 'ana'));
    expectError(second, 400, 'sponsorship_limit_reached');
    expect(second.text).toContain('userDailyWallets');
    await app.createWallet(new Owner(), 'eva');
  });

  it('is for listed contracts only, where the organisation lists them', async () => {
    const app = await service.organization();
    const owner = new Owner();
    await app.createWallet(owner, 'ana');
    await service.sandbox.faucet(owner.address, 'USDC', '1');
    const typedData = await app.prepare(owner.address, [transferOf(STRK, '0xb0b5', 0n)]);
    await limitTo(app, { allowedContracts: [USDC] });
    const body = { publicKey: owner.address, typedData, userSignature: owner.sign(typedData) };
    expectError(await app.post('/transactions/execute-sponsored-transaction', body), 400, 'sponsorship_not_allowed');
    const prepare = { publicKey: owner.address, calls: [transferOf(STRK, '0xb0b5', 0n)] };
    expectError(await app.post('/transactions/prepare-typed-data', prepare), 400, 'sponsorship_not_allowed');
    expect((await app.execute(owner, [transferOf(USDC, '0xb0b5', 1n)])).status).toBe(200);
  });
});
