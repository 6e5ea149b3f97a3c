import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { TestDatabase } from '@svc/store/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BridgeClient } from '../../testing/bridge-client.ts';
import { OWNER } from '../../testing/bridge-fixtures.ts';
import { sandbox } from '../index.ts';

const PROGRAM = path.resolve(import.meta.dirname, '../../testing/sandbox-process.ts');
/** Child processes start slowly on a busy machine. */
const PROCESSES_TIMEOUT_MS = 120_000;
const BURNS = 8;
const ASKING = 6;

let database: TestDatabase;
let running: ChildProcess[] = [];
beforeEach(async () => {
  database = await TestDatabase.create([sandbox.migrations]);
});
afterEach(async () => {
  await Promise.all(running.map(kill));
  running = [];
  await database.drop();
});

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exited;
}

async function start(): Promise<{ child: ChildProcess; burner: BridgeClient }> {
  const child = spawn(process.execPath, [PROGRAM, database.url], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(child);
  const lines = createInterface({ input: child.stdout });
  for await (const url of lines)
    return { child, burner: await BridgeClient.at({ url, rpcUrl: `${url}/starknet/rpc` }) };
  throw new Error('The process ended before it served.');
}

describe('a bridge whose process is killed', () => {
  it(
    'goes on where it was: burns, faults, settings and balances are there',
    async () => {
      const { child, burner } = await start();
      await burner.instantly();
      const shown = await burner.message(await burner.burn());
      await burner.ask('/bridge/faults', { kind: 'expired' });
      const [, suffering] = [await burner.ask('/bridge/settings', { forwardSeconds: 7 }), await burner.burn()];
      const failed = await burner.message(suffering);
      await burner.ask('/bridge/faults', { kind: 'unavailable', request: 'fees' });
      await kill(child);

      const after = (await start()).burner;
      expect((await after.ask<{ settings: object }>('/bridge')).body.settings).toMatchObject({ forwardSeconds: 7 });
      expect(await after.message(suffering)).toEqual(failed);
      expect((await after.ask('/bridge/v2/burn/USDC/fees/25/5')).status).toBe(500);
      expect(await after.balance(OWNER)).toBe(999_870n);
      const paid = await after.ask<{ amount: string }>(`/bridge/solana/transactions/${shown.forwardTxHash}`);
      expect(paid.body.amount).toBe('999870');
    },
    PROCESSES_TIMEOUT_MS,
  );
});

describe('two processes on one PostgreSQL', () => {
  it(
    'pay every burn once, however many ask both of them at the same time',
    async () => {
      const [one, other] = [(await start()).burner, (await start()).burner];
      await one.instantly();
      const hashes: string[] = [];
      for (let count = 0; count < BURNS; count++) hashes.push(await one.burn());
      const asks = hashes.flatMap((hash) =>
        Array.from({ length: ASKING }, (_, index) => (index % 2 ? one : other).message(hash)),
      );
      const [shown] = await Promise.all([Promise.all(asks), one.balance(OWNER), other.balance(OWNER)]);
      expect(shown.every(({ forwardState }) => forwardState === 'COMPLETE')).toBe(true);
      expect(new Set(shown.map(({ forwardTxHash }) => forwardTxHash)).size).toBe(BURNS);
      expect(await one.balance(OWNER)).toBe(BigInt(BURNS) * 999_870n);
      expect(await other.balance(OWNER)).toBe(BigInt(BURNS) * 999_870n);
    },
    PROCESSES_TIMEOUT_MS,
  );
});
