import { sql } from '@svc/store';
import { RpcProvider } from 'starknet';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sized } from '../support/faults.ts';
import { type Payment, pay, payment, Sandbox, type ShownAccount } from '../support/sandbox.ts';
import type { ServerProcess } from '../support/server.ts';
import { TestService } from '../support/service.ts';
import { STRK } from '../support/starknet-client.ts';

const TRANSFERS = sized(1_000, 200);
const KILL_AFTER = sized(300, 60);
const SENDERS = 4;

let service: TestService<ServerProcess>;
beforeEach(async () => {
  service = await TestService.start();
});
afterEach(() => service.stop());

async function relayers(sandbox: Sandbox): Promise<ShownAccount[]> {
  return (await sandbox.show()).accounts.filter(({ label }) => label.startsWith('relayer'));
}

async function strk(sandbox: Sandbox, owner: string): Promise<bigint> {
  const provider = new RpcProvider({ nodeUrl: sandbox.rpcUrl });
  const [low = '0x0', high = '0x0'] = await provider.callContract({
    contractAddress: STRK,
    entrypoint: 'balance_of',
    calldata: [owner],
  });
  return BigInt(low) + (BigInt(high) << 128n);
}

describe(`a chain whose process is killed during ${TRANSFERS} transfers`, () => {
  it('has every acknowledged one after the restart, no unit of STRK more or less, and goes on', async () => {
    const before = new Sandbox(service.server);
    const senders = await relayers(before);
    expect(senders).toHaveLength(SENDERS);
    const { sequencer, others } = await holders(before);
    const supply = await sum(before, [...others, sequencer]);
    const recipients = senders.map((_, index) => BigInt(0xd00d + index));
    const queues = senders.map((sender, index) =>
      Array.from({ length: TRANSFERS / SENDERS }, (_, nonce) => payment(sender, nonce, recipients[index] ?? 0n)),
    );
    await slowDownStoring();
    const acknowledged: Payment[] = [];
    await Promise.all(
      queues.map(async (queue) => {
        for (const one of queue) {
          if (!(await pay(before.rpcUrl, one))) return;
          acknowledged.push(one);
          if (acknowledged.length === KILL_AFTER) service.server.process.kill('SIGKILL');
        }
      }),
    );
    await service.server.end();
    await service.database.db.rows(sql`drop trigger slow on sandbox.transactions`);
    expect(acknowledged.length).toBeGreaterThanOrEqual(KILL_AFTER);
    expect(acknowledged.length).toBeLessThan(TRANSFERS);

    const after = new Sandbox(await service.another());
    const provider = new RpcProvider({ nodeUrl: after.rpcUrl });
    for (const { hash } of acknowledged) expect((await provider.getTransactionReceipt(hash)).isSuccess()).toBe(true);
    // A payment that was open at the kill may be stored or not: sent again, each is there once.
    const done = new Set(acknowledged);
    await Promise.all(
      queues.map(async (queue) => {
        for (const one of queue) if (!done.has(one)) await pay(after.rpcUrl, one);
      }),
    );
    const received = await Promise.all(recipients.map((recipient) => strk(after, `0x${recipient.toString(16)}`)));
    expect(received).toEqual(recipients.map(() => BigInt(TRANSFERS / SENDERS)));
    const everyone = [...others, sequencer, ...recipients.map((recipient) => `0x${recipient.toString(16)}`)];
    expect(await sum(after, everyone)).toBe(supply);
  }, 300_000);
});

describe('two processes on one PostgreSQL', () => {
  it('share one chain: what one takes the other shows, and nonces never clash', async () => {
    const one = new Sandbox(service.server);
    const other = new Sandbox(await service.another());
    const [sender] = await relayers(one);
    if (!sender) throw new Error('no relayer');
    const payments = Array.from({ length: 60 }, (_, nonce) => payment(sender, nonce, 0xbeefn));
    const sent = await Promise.all(payments.map((item, index) => pay((index % 2 ? one : other).rpcUrl, item)));
    expect(sent.every((acknowledged) => acknowledged)).toBe(true);
    for (const sandbox of [one, other]) {
      const provider = new RpcProvider({ nodeUrl: sandbox.rpcUrl });
      for (const { hash } of payments) expect((await provider.getTransactionReceipt(hash)).isSuccess()).toBe(true);
      expect(BigInt(await provider.getNonceForAddress(sender.address))).toBe(60n);
      expect(await strk(sandbox, '0xbeef')).toBe(60n);
    }
    const [first, second] = [await one.show(), await other.show()];
    expect(first.blockNumber).toBe(second.blockNumber);
  });
});

/** Slows the commit, so that the kill comes while a batch is being stored. */
async function slowDownStoring(): Promise<void> {
  const { db } = service.database;
  await db.rows(sql`create function sandbox.slow() returns trigger language plpgsql as
    'begin perform pg_sleep(0.01); return null; end'`);
  await db.rows(sql`create trigger slow before insert on sandbox.transactions
    for each statement execute function sandbox.slow()`);
}

/** All holders of STRK at the start, and the receiver of fees. */
async function holders(sandbox: Sandbox): Promise<{ sequencer: string; others: string[] }> {
  const { result } = await sandbox.rpc('getBlockWithTxHashes', ['latest']);
  const { sequencer_address } = result as { sequencer_address: string };
  const { accounts } = await sandbox.show();
  return { sequencer: sequencer_address, others: accounts.map(({ address }) => address) };
}

async function sum(sandbox: Sandbox, owners: readonly string[]): Promise<bigint> {
  const unique = [...new Set(owners.map((owner) => BigInt(owner)))];
  const balances = await Promise.all(unique.map((owner) => strk(sandbox, `0x${owner.toString(16)}`)));
  return balances.reduce((total, balance) => total + balance, 0n);
}
