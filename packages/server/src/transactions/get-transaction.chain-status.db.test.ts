import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { transfer } from '../../testing/chain.ts';
import { stranger, TransactionFixture, transferOf } from '../../testing/transactions.ts';
import { type Owner, refusal } from '../../testing/wallets.ts';
import { Networks } from '../chains/networks.ts';
import { chainStatus } from './get-transaction.ts';

let fixture: TransactionFixture;
let ana: Owner;
beforeAll(async () => {
  fixture = await TransactionFixture.start();
  ana = await fixture.funded('ana');
});
afterAll(() => fixture.stop());
afterEach(async () => {
  fixture.sponsor.beforeSend = () => {};
  await fixture.sandbox.post('/starknet/block-time', { seconds: 0 });
});

const status = (hash: string, caller = fixture.caller(), networks = fixture.networks) =>
  chainStatus({ reads: fixture.db.reads, networks }, caller, hash);
const payment = () => fixture.sendAlone([transfer('STRK', 5n, 1n)]);

/** The hash of a relay that no node has heard of, in a state. */
async function unsent(state: string, more: { block?: number; reason?: string } = {}): Promise<string> {
  fixture.sponsor.beforeSend = () => {
    throw new Error('The process ends here.');
  };
  await fixture.execute(ana, [transferOf(stranger(), 1)]).catch(() => {});
  const relay = await fixture.db.one<{ hash: string }>(sql`
    update relays set state = ${state}, block_number = ${more.block ?? null}, revert_reason = ${more.reason ?? null}
     where id = (select id from relays order by created_at desc limit 1) returning hash`);
  return relay?.hash ?? '';
}

describe('the status of a transaction', () => {
  it('is what the chain says: open block, accepted with its block, accepted on L1', async () => {
    await fixture.sandbox.post('/starknet/block-time', { seconds: 3_600, l1AfterBlocks: 2 });
    const hash = await payment();
    expect(await status(hash)).toEqual({ transactionHash: hash, status: 'PENDING' });
    await fixture.sandbox.post('/starknet/mine', { blocks: 1 });
    const accepted = await status(hash);
    expect(accepted).toEqual({ transactionHash: hash, status: 'ACCEPTED_ON_L2', blockNumber: expect.any(Number) });
    await fixture.sandbox.post('/starknet/mine', { blocks: 3 });
    expect(await status(hash)).toEqual({ ...accepted, status: 'ACCEPTED_ON_L1' });
  });

  it('is REVERTED with the reason', async () => {
    await fixture.sandbox.post('/starknet/faults', { kind: 'revert', reason: 'out of luck' });
    expect(await status(await payment())).toMatchObject({
      status: 'REVERTED',
      revertReason: expect.stringContaining('out of luck'),
      blockNumber: expect.any(Number),
    });
  });

  it('is NOT_RECEIVED for an unknown hash, for any caller', async () => {
    const unknown = { transactionHash: '0x123', status: 'NOT_RECEIVED' };
    expect(await status('0x0123')).toEqual(unknown);
    expect(await status('0x123', fixture.caller('luis', await fixture.newOrganization()))).toEqual(unknown);
  });

  it('answers the hash as the chain spells it', async () => {
    const hash = await payment();
    const spelled = `0x${hash.slice(2).toUpperCase().padStart(64, '0')}`;
    expect(await status(spelled)).toMatchObject({ transactionHash: hash, status: 'ACCEPTED_ON_L2' });
  });

  it.each([
    ['STORED', {}, { status: 'RECEIVED' }],
    ['SENT', {}, { status: 'RECEIVED' }],
    ['VOIDED', {}, { status: 'REJECTED' }],
    ['SUCCEEDED', { block: 7 }, { status: 'ACCEPTED_ON_L2', blockNumber: 7 }],
    ['REVERTED', { block: 7, reason: 'no' }, { status: 'REVERTED', blockNumber: 7, revertReason: 'no' }],
  ])('of our own that the node does not know and that is %s goes by what we know', async (state, more, answer) => {
    const hash = await unsent(state, more);
    expect(await status(hash)).toEqual({ transactionHash: hash, ...answer });
  });

  it('of an attempt that was replaced is that of the one that counts, under its hash', async () => {
    const hash = await fixture.execute(ana, [transferOf(stranger(), 1)]);
    const [record] = await fixture.records(hash);
    const attempt = async (relayId: string | undefined, earlier: string) =>
      fixture.db.run(sql`
        insert into relay_attempts (chain_id, hash, relay_id, kind, transaction)
        values (${toHex(fixture.chain.chainId)}, ${earlier}, ${relayId}, 'FIRST', '{}')`);
    await attempt(record?.relayId, '0xea121');
    expect(await status('0xea121')).toEqual(await status(hash));
    expect(await status('0xea121')).toMatchObject({ transactionHash: hash, status: 'ACCEPTED_ON_L2' });

    const waiting = await unsent('SENT');
    const [other] = await fixture.records(waiting);
    await attempt(other?.relayId, '0xea122');
    expect(await status('0xea122')).toEqual({ transactionHash: waiting, status: 'RECEIVED' });
  });

  it('of an attempt of what came to nothing is REJECTED under its own hash', async () => {
    const last = await unsent('VOIDED');
    const [record] = await fixture.records(last);
    await fixture.db.run(sql`
      insert into relay_attempts (chain_id, hash, relay_id, kind, transaction)
      values (${toHex(fixture.chain.chainId)}, '0xea123', ${record?.relayId}, 'FIRST', '{}')`);
    expect(await status('0xea123')).toEqual({ transactionHash: '0xea123', status: 'REJECTED' });
  });

  it.each(['', 'hash', '123', '0x', `0x${'f'.repeat(64)}`])('is refused for %j, which is no hash', async (text) => {
    expect(await refusal(status(text), 'invalid_request')).toContain('path.hash');
  });

  it('is refused where there is no Starknet', async () => {
    const networks = new Networks({ starknet: undefined, evmRpcUrls: {} }, undefined);
    await refusal(status('0x1', fixture.caller(), networks), 'chain_not_configured');
  });
});
