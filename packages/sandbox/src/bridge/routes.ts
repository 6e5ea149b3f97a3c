import { ApiError, parseSolanaAddress, type SolanaAddress, solanaAddressBytes } from '@svc/protocol';
import { type Database, type Db, sql } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { attesterPublicKey, registerAttestation } from './attestation.ts';
import { advanceBurns } from './burns.ts';
import { addBridgeFault, clearBridgeFaults, listBridgeFaults } from './faults.ts';
import { changeSettings, readBridgeFault, readSettings, readSettingsChange } from './settings.ts';
import { chainSeconds, encodeBase58, isOnCurve, slotAt, USDC_MINT, usdcTokenAccount } from './solana-address.ts';
import { registerSolanaRpc } from './solana-rpc.ts';

export interface BridgeOptions {
  /** Unix milliseconds. */
  readonly now?: () => number;
}

export function registerBridge(app: FastifyInstance, db: Database, { now = Date.now }: BridgeOptions = {}): void {
  const seconds = () => chainSeconds(db.reads, now);
  registerAttestation(app, { db, seconds });
  registerSolana(app, db, seconds);
  registerSolanaRpc(app, { db, seconds });
  registerBridgeControls(app, db, seconds);
}

function registerSolana(app: FastifyInstance, db: Database, seconds: () => Promise<number>): void {
  app.get<{ Params: { address: string } }>('/bridge/solana/accounts/:address', async ({ params }) => {
    const address = parseSolanaAddress(params.address);
    if (!address.ok) throw new ApiError('invalid_request', `The address ${address.reason}.`);
    return readAccount(db, address.value, await seconds());
  });

  app.get<{ Params: { signature: string } }>('/bridge/solana/transactions/:signature', async ({ params }) => {
    const found = await readSolanaTransaction(db, params.signature);
    if (!found) throw new ApiError('not_found', 'No transaction has this signature.');
    return found;
  });
}

function registerBridgeControls(app: FastifyInstance, db: Database, seconds: () => Promise<number>): void {
  app.get('/bridge', async () => ({
    settings: await readSettings(db),
    attesterPublicKey: `0x${Buffer.from(attesterPublicKey()).toString('hex')}`,
    usdcMint: USDC_MINT,
    solanaSlot: String(slotAt(await seconds())),
  }));
  app.post('/bridge/settings', async ({ body }) => ({ settings: await changeSettings(db, readSettingsChange(body)) }));

  app.get('/bridge/faults', async () => ({ faults: await listBridgeFaults(db) }));
  app.delete('/bridge/faults', async () => {
    await clearBridgeFaults(db);
    return { faults: [] };
  });
  app.post('/bridge/faults', async ({ body }) => {
    const fault = await addBridgeFault(db, readBridgeFault(body));
    if (!fault) throw new ApiError('invalid_request', 'There are too many orders. Clear them with DELETE first.');
    return fault;
  });
}

export interface SolanaAccount {
  /** Unknown for a token account that never received a mint. */
  readonly owner?: string;
  readonly tokenAccount: string;
  /** Smallest unit of USDC. */
  readonly balance: string;
}

interface Row {
  readonly owner: string;
  readonly token_account: string;
  readonly balance: string;
}

export async function readAccount(db: Db, address: SolanaAddress, now: number): Promise<SolanaAccount> {
  const bytes = solanaAddressBytes(address);
  const derived = encodeBase58(usdcTokenAccount(bytes));
  const candidates = [address, derived];
  await advanceBurns(db, waitingFor(candidates), now);
  const row = await db.one<Row>(sql`
    select owner, token_account, balance from sandbox.solana_accounts where token_account = any(${candidates})`);
  if (row) return { owner: row.owner, tokenAccount: row.token_account, balance: row.balance };
  // Without a mint, the form decides: token accounts are off the curve.
  return isOnCurve(bytes)
    ? { owner: address, tokenAccount: derived, balance: '0' }
    : { tokenAccount: address, balance: '0' };
}

export interface SolanaTransaction {
  readonly signature: string;
  readonly nonce: string;
  readonly owner: string;
  readonly tokenAccount: string;
  readonly amount: string;
  readonly slot: string;
  /** Unix seconds of chain time. */
  readonly blockTime: number;
}

export async function readSolanaTransaction(db: Db, signature: string): Promise<SolanaTransaction | undefined> {
  const row = await db.one<Omit<SolanaTransaction, 'blockTime'> & { blockTime: bigint }>(sql`
    select t.signature, t.nonce, a.owner, t.token_account as "tokenAccount", t.amount, t.slot::text as slot,
           t.block_time as "blockTime"
      from sandbox.solana_transactions t join sandbox.solana_accounts a on a.token_account = t.token_account
     where t.signature = ${signature}`);
  return row && { ...row, blockTime: Number(row.blockTime) };
}

function waitingFor(tokenAccounts: readonly string[]) {
  return sql`m.mint_recipient = any(${tokenAccounts}) and m.forward_state is distinct from 'COMPLETE'`;
}
