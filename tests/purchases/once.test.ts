import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App, field, Owner } from '../support/app.ts';
import { expectError } from '../support/assertions.ts';
import type { Reply } from '../support/client.ts';
import { PurchaseFixture, references } from '../support/purchases.ts';
import { errorLines, type RunningServer } from '../support/server.ts';
import { TestService } from '../support/service.ts';

/** Requests at once. */
const OFFERS = 12;

let service: TestService;
let fixture: PurchaseFixture;
/** One app and another organisation, each at two processes. */
let ours: [App, App];
let theirs: [App, App];
let theirWallet: Owner;
let servers: [RunningServer, RunningServer];
beforeAll(async () => {
  service = await TestService.hosted();
  fixture = await PurchaseFixture.start(service);
  servers = [service.server, await service.anotherHosted()];
  const keys = (await service.organization({ name: 'Otra Tienda' })).keys;
  const at = (headers: App['headers']): [App, App] => [new App(servers[0], headers), new App(servers[1], headers)];
  ours = at(fixture.app.headers);
  theirs = at(keys.headers);
  theirWallet = new Owner();
  await theirs[0].createWallet(theirWallet, 'eva');
});
afterAll(async () => {
  const errors = servers.flatMap((server) => errorLines(server.output()));
  await service.stop();
  expect(errors).toEqual([]);
});

/** The two spellings of a hash: as nodes have it, and as others do. */
const spellings = (hash: string): [string, string] => [
  hash,
  `0x${BigInt(hash).toString(16).toUpperCase().padStart(64, '0')}`,
];
const uses = (hash: string) =>
  service.database.db.rows<{ purpose: string; reference: string }>(sql`
    select purpose, reference from used_payments where transaction_hash = ${hash}`);
const codes = (replies: readonly Reply[]) =>
  replies.map(({ status, body }) => (status === 200 ? 'recorded' : (body as { error: string }).error)).toSorted();

/** Sends all at once, alternating processes and spellings. */
function offer(hash: string, make: (app: 0 | 1, spelling: string, index: number) => Promise<Reply>): Promise<Reply[]> {
  return Promise.all(
    Array.from({ length: OFFERS }, (_, index) =>
      make(index % 2 === 0 ? 0 : 1, spellings(hash)[index % 4 < 2 ? 0 : 1], index),
    ),
  );
}

describe('one payment', () => {
  it('that is offered many times at once, in both spellings, at two processes, is one purchase', async () => {
    const hash = await fixture.pay();
    const replies = await offer(hash, (app, spelling) =>
      ours[app].post('/sku-purchases', fixture.body(spelling, references.quick)),
    );
    expect(codes(replies)).toEqual(replies.map(() => 'recorded'));
    const [id, ...others] = new Set(replies.map((reply) => field<string>(reply, 'id')));
    expect(others).toEqual([]);
    expect(await uses(hash)).toEqual([{ purpose: 'purchase', reference: id }]);
    expect(await fixture.ended(id ?? '')).toMatchObject({ status: 'SUCCESS' });
    expect(await fixture.providerOrder(id ?? '')).toMatchObject({ delivered: 1 });
  });

  it('that is offered at once for different things buys one of them', async () => {
    const hash = await fixture.pay();
    const replies = await offer(hash, (app, spelling, index) =>
      ours[app].post('/sku-purchases', fixture.body(spelling, `55123456${index + 10}`)),
    );
    expect(codes(replies)).toEqual(['recorded', ...Array(OFFERS - 1).fill('transaction_already_used')]);
    expect(await uses(hash)).toHaveLength(1);
  });

  it('that is offered at once as a purchase and as a deposit is a purchase', async () => {
    const hash = await fixture.pay();
    const replies = await offer(hash, (app, spelling, index) =>
      index < OFFERS / 2
        ? ours[app].post('/sku-purchases', fixture.body(spelling, references.quick))
        : ours[app].post('/organization/deposits', { transactionHash: spelling, chain: 'STARKNET' }),
    );
    // The payment address takes no deposits.
    expect(codes(replies)).toEqual([
      ...Array(OFFERS / 2).fill('recorded'),
      ...Array(OFFERS / 2).fill('transaction_mismatch'),
    ]);
    const ids = new Set(replies.filter(({ status }) => status === 200).map((reply) => field<string>(reply, 'id')));
    expect(await uses(hash)).toMatchObject([{ reference: [...ids][0] }]);
    expect(ids.size).toBe(1);
  });

  it('that is offered at once by two organisations counts for the one whose wallet paid', async () => {
    const hash = await fixture.pay();
    const replies = await offer(hash, (app, spelling, index) => {
      const body = fixture.body(spelling, references.quick);
      if (index % 3 === 0) return ours[app].post('/sku-purchases', body);
      if (index % 3 === 1) return theirs[app].post('/sku-purchases', { ...body, walletAddress: theirWallet.address });
      return theirs[app].post('/organization/deposits', { transactionHash: spelling, chain: 'STARKNET' });
    });
    const [mine, foreign] = [0, 1].map((side) => replies.filter((_, index) => (index % 3 === 0) === (side === 0)));
    expect(codes(mine ?? [])).toEqual(Array(OFFERS / 3).fill('recorded'));
    for (const reply of foreign ?? []) {
      expect(['transaction_mismatch', 'transaction_already_used']).toContain((reply.body as { error: string }).error);
    }
    expect(await uses(hash)).toHaveLength(1);
  });

  it('that bought something buys nothing else, for any caller', async () => {
    const { id, transactionHash } = await fixture.bought(references.quick);
    for (const spelling of spellings(transactionHash)) {
      const body = fixture.body(spelling, references.quick);
      expect(field<string>(await ours[1].post('/sku-purchases', body), 'id')).toBe(id);
      const other = { ...body, skuReference: references.slow };
      expectError(await ours[0].post('/sku-purchases', other), 400, 'transaction_already_used');
      const deposit = { transactionHash: spelling, chain: 'STARKNET' };
      expectError(await ours[1].post('/organization/deposits', deposit), 400, 'transaction_mismatch');
      expectError(await theirs[0].post('/organization/deposits', deposit), 400, 'transaction_mismatch');
      const stolen = { ...body, walletAddress: theirWallet.address };
      expectError(await theirs[1].post('/sku-purchases', stolen), 400, 'transaction_already_used');
    }
    expect(await fixture.providerOrder(id)).toMatchObject({ delivered: 1 });
  });
});
