import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { TestDatabase } from '@svc/store/testing';
import { describe, expect, it } from 'vitest';
import { payment, relayer, startTestNode, type TestNode } from '../../testing/test-node.ts';
import { predeployed } from '../contracts/predeployed.ts';
import type { InvokeTransaction } from '../execution/types.ts';
import { sandbox } from '../index.ts';
import { showTransaction } from './transaction.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../../testing/sandbox-process.ts');
const TRANSFERS = 200;
const KILL_AFTER = 60;
const CLIENTS = 4;

async function startProcess(databaseUrl: string): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [PROGRAM, databaseUrl], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  for await (const url of lines) return { child, url };
  throw new Error('The process ended before it served.');
}

/** A broken connection is not an acknowledgement. */
async function send(url: string, tx: InvokeTransaction): Promise<boolean> {
  const body = { jsonrpc: '2.0', id: 1, method: 'starknet_addInvokeTransaction', params: [showTransaction(tx)] };
  const response = await fetch(`${url}/starknet/rpc`, { method: 'POST', body: JSON.stringify(body) }).catch(
    () => undefined,
  );
  const answer = (await response?.json().catch(() => undefined)) as
    | { result?: { transaction_hash: string } }
    | undefined;
  return answer?.result?.transaction_hash === toHex(tx.hash);
}

const STRK_HOLDERS = () => [
  ...predeployed.relayers.map((account) => account.address),
  predeployed.manager.address,
  predeployed.faucet.address,
  predeployed.sequencer.address,
];

async function sumOfBalances(test: TestNode, recipients: readonly bigint[]): Promise<bigint> {
  let sum = 0n;
  for (const owner of [...STRK_HOLDERS(), ...recipients]) sum += await test.balance('STRK', owner);
  return sum;
}

describe('a chain', () => {
  it('has every acknowledged transfer after its process was killed, and no token more or less', async () => {
    const database = await TestDatabase.create([sandbox.migrations]);
    const { child, url } = await startProcess(database.url);
    const recipients = Array.from({ length: CLIENTS }, (_, client) => 0xd00dn + BigInt(client));
    const acknowledged: InvokeTransaction[] = [];
    const exited = new Promise((resolve) => child.once('exit', resolve));
    const drive = async (client: number) => {
      for (let nonce = 0; nonce < TRANSFERS / CLIENTS; nonce++) {
        const tx = payment(BigInt(nonce), recipients[client], { from: relayer(client + 1) });
        if (!(await send(url, tx))) return;
        acknowledged.push(tx);
        if (acknowledged.length === KILL_AFTER) child.kill('SIGKILL');
      }
    };
    await Promise.all(recipients.map((_, client) => drive(client)));
    await exited;
    expect(acknowledged.length).toBeGreaterThanOrEqual(KILL_AFTER);

    const test = await startTestNode({ database });
    for (const tx of acknowledged) {
      const status = await test.call('getTransactionStatus', [toHex(tx.hash)]);
      expect(status).toMatchObject({ finality_status: 'ACCEPTED_ON_L2', execution_status: 'SUCCEEDED' });
    }
    let received = 0n;
    for (const recipient of recipients) received += await test.balance('STRK', recipient);
    // One per client may be stored without its answer arriving.
    expect(received).toBeGreaterThanOrEqual(BigInt(acknowledged.length));
    expect(received).toBeLessThanOrEqual(BigInt(acknowledged.length + CLIENTS));
    expect(await sumOfBalances(test, recipients)).toBe(6n * 1_000_000n * 10n ** 18n);
    await test.stop();
    await database.drop();
  });

  it('is shared by processes that write at the same time: one block after the other, nothing lost', async () => {
    const one = await startTestNode();
    const other = await startTestNode({ database: one.database });
    const nodes = [one, other];
    const sends = [0, 1, 2, 3].map(async (client) => {
      for (let nonce = 0n; nonce < 10n; nonce++) {
        const node = nodes[(client + Number(nonce)) % 2] ?? one;
        await node.send(payment(nonce, 0x5a4edn, { from: relayer(client + 1) }));
      }
    });
    await Promise.all(sends);
    for (const node of nodes) {
      expect(await node.balance('STRK', 0x5a4edn)).toBe(40n);
      expect(await node.call('blockNumber')).toBe(40);
    }
    const rows = await one.database.db.rows(sql`
      select b.number from sandbox.blocks b join sandbox.blocks parent on parent.hash = b.parent_hash
       where parent.number = b.number - 1`);
    expect(rows).toHaveLength(40);
    await other.stop();
    await one.stop();
  });

  it('goes on where it stopped, with its settings, its open block and those who wait', async () => {
    const first = await startTestNode();
    await first.node.command({ do: 'set-block-time', seconds: 3_600 });
    const open = await first.send(payment(0n));
    const waiting = await first.send(payment(2n));
    await first.node.close();
    const second = await startTestNode({ database: first.database });
    expect(await second.call('getTransactionStatus', [open])).toMatchObject({ finality_status: 'PRE_CONFIRMED' });
    expect(await second.call('getTransactionStatus', [waiting])).toEqual({ finality_status: 'RECEIVED' });
    await second.send(payment(1n));
    await second.node.command({ do: 'mine', blocks: 1 });
    expect(await second.call('getBlockWithTxHashes', ['latest'])).toMatchObject({
      block_number: 1,
      transaction_count: 3,
    });
    await second.stop();
    await first.database.drop();
  });
});
