import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { selector, toHex } from '@svc/starknet';
import { connect, type Database, findEmbedded, startEmbedded } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSchema, writeSchema } from '../../packages/server/testing/backup.ts';
import { findBrokenInvariants } from '../../packages/server/testing/ledger.ts';
import { App, type CreatedGift } from '../support/app.ts';
import { send } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { claimAt, newWallet, type RedeemChain } from '../support/gifts.ts';
import { Sandbox } from '../support/sandbox.ts';
import { newDataDir, processEnv, type ServerProcess, startServer } from '../support/server.ts';
import { USDC } from '../support/starknet-client.ts';

const run = promisify(execFile);
const ADMIN = path.resolve(import.meta.dirname, '../../packages/server/src/admin.ts');
/** A redeem to Solana takes some seconds, and a busy machine ten times as long. */
const WAIT_MS = 120_000;
const AMOUNT = 1_500_000n;

let dataDir: string;
let server: ServerProcess;
const running: ServerProcess[] = [];
beforeAll(async () => {
  dataDir = await newDataDir();
  await start();
});
afterAll(async () => {
  await Promise.all(running.map((each) => each.end('SIGTERM')));
  await rm(dataDir, { recursive: true, force: true });
});

async function start(): Promise<void> {
  server = await startServer({ dataDir, env: { UNKNOWN_CODES_PER_MINUTE: '1000', CLAIM_LIMIT_PER_MINUTE: '10000' } });
  running.push(server);
}

const folder = (name: string) => path.join(dataDir, name);

/** A cold copy of the files, which is the simplest of all backups. */
async function backUp(): Promise<void> {
  await server.end();
  await run('cp', ['-a', folder('postgres'), folder('backup')]);
  await start();
}

/** The sandbox keeps its chain in the same database. A live chain forgets nothing, so the chain is taken along. */
async function restore(): Promise<void> {
  const chain = await withDatabase((db) => readSchema(db, 'sandbox'));
  await server.end();
  await rm(folder('postgres'), { recursive: true });
  await run('mv', [folder('backup'), folder('postgres')]);
  const embedded = await startEmbedded({ dataDir });
  const db = connect(embedded.url, { max: 1 });
  await writeSchema(db, 'sandbox', chain);
  await db.close();
  await embedded.stop();
  await start();
}

async function withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
  const db = connect((await findEmbedded(dataDir)) ?? '', { max: 1 });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

async function admin<T>(...args: string[]): Promise<T> {
  const { stdout } = await run(process.execPath, [ADMIN, ...args], { env: { ...processEnv(), SVC_DATA_DIR: dataDir } });
  return JSON.parse(stdout) as T;
}

const gift = (changes: object = {}): Promise<CreatedGift> =>
  new App(server).gift({ amount: 1.5, maxRedeems: 1, cctpFast: true, ...changes });

async function redeemed(code: string, chain: RedeemChain, walletAddress = newWallet(chain)) {
  const { body } = await claimAt(server, { code, chain, walletAddress });
  const answer = body as { redeemId?: string; giftRedeem?: { id: string } };
  const id = answer.redeemId ?? answer.giftRedeem?.id ?? '';
  return { id, walletAddress, end: await ended(code, id) };
}

function ended(code: string, id: string): Promise<Record<string, unknown>> {
  const status = async () =>
    (await send(`${server.credentials.baseUrl}/gifts/claim/${code}/status/${id}`)).body as Record<string, unknown>;
  return eventually(status, ({ status }) => status === 'SUCCESS' || status === 'FAILED', WAIT_MS);
}

async function received(chain: RedeemChain, wallet: string): Promise<bigint> {
  const sandbox = new Sandbox(server);
  if (chain === 'solana') {
    return BigInt((await sandbox.ask<{ balance: string }>(`/bridge/solana/accounts/${wallet}`)).balance);
  }
  const call = { contract_address: USDC, entry_point_selector: toHex(selector('balanceOf')), calldata: [wallet] };
  const { result } = await sandbox.rpc('call', [call, 'latest']);
  return BigInt((result as string[])[0] ?? 0);
}

const organization = async () => (await new App(server).get('/organization')).body as { balance: object };
const readiness = async () => (await send(`${server.origin}/readyz`)).body as { checks: Record<string, string> };
const unreconciled = async () => {
  const { text } = await send(`${server.origin}/metrics`);
  return [...text.matchAll(/^svc_nonces_unreconciled\{.*\} (\d+)$/gm)].reduce(
    (sum, [, value]) => sum + Number(value),
    0,
  );
};

interface Reconciled {
  readonly open: number;
  readonly transactions: readonly { readonly state: string; readonly kind?: string }[];
}

describe('restoring an older backup', () => {
  it(
    'pays no code twice: payments wait for the reconciliation, which records what the chain has',
    async () => {
      const [local, bridged, later] = [await gift(), await gift(), await gift({ maxRedeems: 2 })];
      await backUp();
      const first = await redeemed(local.code, 'starknet');
      const second = await redeemed(bridged.code, 'solana');
      expect([first.end.status, second.end.status]).toEqual(['SUCCESS', 'SUCCESS']);
      const before = await organization();

      await restore();
      expect((await readiness()).checks.accounts).toBe('unreconciled');
      expect(await unreconciled()).toBe(2);
      expect((await organization()).balance).not.toEqual(before.balance);

      const other = newWallet('starknet');
      const again = claimAt(server, { code: local.code, chain: 'starknet', walletAddress: other });
      await eventually(
        async () => server.output(),
        (text) => text.includes('payouts stopped until the manager is reconciled'),
        WAIT_MS,
      );
      expect(await received('starknet', other)).toBe(0n);

      const { open, transactions } = await admin<Reconciled>('reconcile');
      expect(open).toBe(0);
      expect(transactions.map(({ state, kind }) => [state, kind])).toEqual([
        ['IMPORTED', 'payout'],
        ['IMPORTED', 'burn'],
      ]);
      expect((await again).body).toMatchObject({ error: 'payout_failed' });
      expect(await ended(local.code, first.id)).toEqual(first.end);
      expect(await ended(bridged.code, second.id)).toEqual(second.end);
      expect((await organization()).balance).toEqual(before.balance);
      expect(await received('starknet', first.walletAddress)).toBe(AMOUNT);
      expect(await received('solana', second.walletAddress)).toBeGreaterThanOrEqual(AMOUNT);
      expect(await received('starknet', other)).toBe(0n);
      for (const { code } of [local, bridged]) {
        const reply = await claimAt(server, { code, chain: 'starknet', walletAddress: other });
        expect(reply.body).toMatchObject({ error: 'gift_limit_reached' });
      }

      expect((await readiness()).checks.accounts).toBe('ok');
      expect(await unreconciled()).toBe(0);
      const third = await redeemed(later.code, 'starknet');
      expect(third.end.status).toBe('SUCCESS');
      expect(await withDatabase(findBrokenInvariants)).toEqual([]);
      expect(await admin<Reconciled>('reconcile')).toEqual({ open: 0, transactions: [] });
    },
    5 * WAIT_MS,
  );
});
