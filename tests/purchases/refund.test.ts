import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashOf, Owner, transferOf } from '../support/app.ts';
import { keyHeaders, send, userToken } from '../support/client.ts';
import { PRICE_RAW, PurchaseFixture, references } from '../support/purchases.ts';
import { type AnyService, TestService } from '../support/service.ts';
import { USDC } from '../support/starknet-client.ts';

/** Two processes, and the machine may be busy. */
const PROCESSES_MS = 120_000;

let service: AnyService;
let fixture: PurchaseFixture;
beforeAll(async () => {
  service = await TestService.hosted();
  fixture = await PurchaseFixture.start(service);
});
afterAll(async () => {
  // A refund that cannot be sent is logged for the operator.
  const errors = service.errors(/manager wallet balance/);
  await service.stop();
  expect(errors).toEqual([]);
});

const failed = async () => (await fixture.bought(references.failing)).id;
const refunded = (id: string) => fixture.until(id, ({ refundStatus }) => refundStatus === 'REFUNDED');

describe('a refund', () => {
  it(
    'gives the payer back what was paid, once, however often and wherever it is asked for at once',
    async () => {
      const before = await fixture.balance();
      const id = await failed();
      expect(await fixture.balance()).toBe(before - PRICE_RAW);
      const other = await service.anotherHosted();
      const servers = [service.server, other, service.server, other, service.server, other];
      const answers = await Promise.all(servers.map((server) => fixture.refund(id, {}, server)));
      for (const { status, body } of answers) {
        expect([status, body]).toMatchObject([200, { id, refundStatus: expect.stringMatching(/^REFUND(ING|ED)$/) }]);
      }
      const ended = await refunded(id);
      expect(ended).toMatchObject({ status: 'FAILED', refundTransactionHash: expect.stringMatching(/^0x/) });
      expect((await fixture.refund(id)).body).toEqual(ended);
      expect(await fixture.balance()).toBe(before);
      const { result } = await fixture.sandbox.rpc('getTransactionReceipt', [ended.refundTransactionHash]);
      expect(result).toMatchObject({ execution_status: 'SUCCEEDED' });
      expect(
        await service.database.db.rows(sql`select state from relays where purpose like ${`refund ${id} %`}`),
      ).toEqual([{ state: 'SUCCEEDED' }]);
      await other.stop();
    },
    PROCESSES_MS,
  );

  it('may be a transfer of the organisation’s own, and one transfer is one refund', async () => {
    const treasurer = new Owner();
    await fixture.app.createWallet(treasurer, 'treasurer');
    await fixture.sandbox.faucet(treasurer.address, 'USDC', '100');
    const [id, other] = [await failed(), await failed()];
    const give = async (amount: bigint) =>
      hashOf(await fixture.app.execute(treasurer, [transferOf(USDC, fixture.buyer.address, amount)]));
    const tooLittle = await fixture.refund(id, { transactionHash: await give(PRICE_RAW - 1n) });
    expect([tooLittle.status, tooLittle.body]).toMatchObject([400, { error: 'transaction_mismatch' }]);
    const hash = await give(PRICE_RAW);
    const before = await fixture.balance();
    const answer = await fixture.refund(id, { transactionHash: hash });
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { refundStatus: 'REFUNDED', refundTransactionHash: hash },
    ]);
    const again = await fixture.refund(other, { transactionHash: hash });
    expect([again.status, again.body]).toMatchObject([400, { error: 'transaction_already_used' }]);
    expect((await fixture.refund(id)).body).toEqual(answer.body);
    expect(await fixture.balance()).toBe(before);
    // Neither the payment nor a refund counts as a deposit.
    const deposit = await fixture.app.post('/organization/deposits', { transactionHash: hash, chain: 'STARKNET' });
    expect(deposit.status).toBe(400);
  });

  it('is refused for what was delivered, and where the manager has too little nothing is stored', async () => {
    const delivered = await fixture.bought(references.quick);
    const refused = await fixture.refund(delivered.id);
    expect([refused.status, refused.body]).toMatchObject([400, { error: 'purchase_not_refundable' }]);
    const id = await failed();
    // The error of a node for an uncovered transfer; the manager receives the payments, so its balance is never too low here.
    const message = 'ERC20: insufficient balance';
    await fixture.sandbox.orderFault({ kind: 'error', method: 'starknet_estimateFee', code: 41, message });
    const poor = await fixture.refund(id);
    expect([poor.status, poor.body]).toMatchObject([500, { error: 'refund_failed' }]);
    expect(await fixture.read(id)).toMatchObject({ refundStatus: 'DUE' });
    expect(await service.database.db.rows(sql`select from relays where purpose like ${`refund ${id} %`}`)).toEqual([]);
  });

  it('needs the secret key', async () => {
    const id = await failed();
    const { 'x-api-key': key, authorization: _ } = keyHeaders(service.server) as Record<string, string>;
    const token = await userToken(service.server, 'buyer');
    for (const headers of [{ 'x-api-key': key ?? '' }, { 'x-api-key': key ?? '', authorization: `Bearer ${token}` }]) {
      for (const action of ['refund', 'cancel']) {
        const url = `${fixture.app.baseUrl}/sku-purchases/${id}/${action}`;
        expect((await send(url, { method: 'POST', headers, body: {} })).status).toBe(401);
      }
    }
    expect(await fixture.read(id)).toMatchObject({ refundStatus: 'DUE' });
  });
});
