import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PurchaseBody, PurchaseFixture } from '../../testing/purchases.ts';
import { Owner, refusal } from '../../testing/wallets.ts';
import { Networks } from '../chains/networks.ts';

let fixture: PurchaseFixture;
beforeAll(async () => {
  fixture = await PurchaseFixture.start();
});
afterAll(() => fixture.stop());

const NOWHERE = { url: 'http://127.0.0.1:2', publicUrl: 'http://127.0.0.1:2', paymentAddress: 0x99n };
const noNode = () => new Networks({ starknet: undefined, evmRpcUrls: {} }, NOWHERE);
const padded = (hash: string) => `0x${BigInt(hash).toString(16).toUpperCase().padStart(64, '0')}`;

describe('a payment buys once', () => {
  it('and its body again, in any spelling, answers the same purchase', async () => {
    const hash = await fixture.pay();
    const first = await fixture.record(fixture.body(hash));
    const spelled = fixture.body(padded(hash), { walletAddress: padded(fixture.ana.address) });
    expect(await fixture.record(spelled)).toEqual(first);
    expect(await fixture.traces(hash)).toMatchObject({
      uses: [{ reference: first.id }],
      purchases: [{ id: first.id }],
    });
  });

  it('and the same body is answered when no node, no provider, no rate and no service is there any more', async () => {
    const hash = await fixture.pay();
    const first = await fixture.record(fixture.body(hash));
    await fixture.db.run(sql`update skus set retired_at = now() where id = 'pase-recarga'`);
    try {
      const exchange = { ratesOfLast: () => Promise.reject(new Error('There is no rate.')) };
      const deps = { networks: noNode(), providers: () => undefined, exchange };
      expect(await fixture.record(fixture.body(hash), { deps })).toEqual(first);
    } finally {
      await fixture.db.run(sql`update skus set retired_at = null where id = 'pase-recarga'`);
    }
  });

  it('and the same body answers what the purchase has become', async () => {
    const hash = await fixture.pay();
    const { id } = await fixture.record(fixture.body(hash));
    await fixture.db.run(sql`update transactions set status = 'PROCESSING' where id = ${id}`);
    expect(await fixture.record(fixture.body(hash))).toMatchObject({ id, status: 'PROCESSING' });
  });

  it.each<[string, Partial<PurchaseBody>]>([
    ['another service', { skuId: 'televia-recarga' }],
    ['another reference', { skuReference: 'IMDM28417937' }],
    ['another amount', { currencyAmount: 184.99 }],
    ['another token', { token: 'USDT' }],
  ])('and is refused for %s', async (_, changes) => {
    const hash = await fixture.pay();
    await fixture.record(fixture.body(hash));
    await refusal(fixture.record(fixture.body(padded(hash), changes)), 'transaction_already_used');
  });

  it('and is refused for another wallet', async () => {
    const hash = await fixture.pay();
    await fixture.record(fixture.body(hash));
    const luis = new Owner();
    await fixture.wallet(luis, 'luis');
    await refusal(fixture.record(fixture.body(hash, { walletAddress: luis.address })), 'transaction_already_used');
  });

  it('also when it is offered many times at once', async () => {
    const hash = await fixture.pay();
    const bodies = Array.from({ length: 6 }, (_, index) => fixture.body(index % 2 ? hash : padded(hash)));
    const answers = await Promise.all(bodies.map((body) => fixture.record(body)));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(await fixture.traces(hash)).toMatchObject({ uses: [{}], purchases: [{}], jobs: [{}] });
  });

  it('also when it is offered at once for different things', async () => {
    const hash = await fixture.pay();
    const bodies = Array.from({ length: 6 }, (_, index) => fixture.body(hash, { skuReference: `IMDM2841793${index}` }));
    const answers = await Promise.allSettled(bodies.map((body) => fixture.record(body)));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'transaction_already_used' });
    }
    expect(await fixture.traces(hash)).toMatchObject({ uses: [{}], purchases: [{}], jobs: [{}] });
  });

  it('unless it is the transfer that gave a payment back', async () => {
    const { id } = await fixture.record(fixture.body(await fixture.pay()));
    const [hash, { organizationId }] = [await fixture.pay(), fixture.caller()];
    await fixture.db.run(sql`
      insert into used_payments (chain_id, transaction_hash, organization_id, environment, purpose, reference)
      values (${toHex(fixture.chain.chainId)}, ${hash}, ${organizationId}, 'development', 'refund', ${id})`);
    await refusal(fixture.record(fixture.body(hash)), 'transaction_already_used');
  });

  it('unless it was credited as a deposit, as payments could be before deposit addresses', async () => {
    const [hash, { organizationId }] = [await fixture.pay(), fixture.caller()];
    await fixture.db.run(sql`
      insert into used_payments (chain_id, transaction_hash, organization_id, environment, purpose, reference)
      values (${toHex(fixture.chain.chainId)}, ${hash}, ${organizationId}, 'development', 'deposit', 'led_1')`);
    await refusal(fixture.record(fixture.body(padded(hash))), 'transaction_already_used');
  });
});
