import { ApiError, parseSolanaAddress } from '@svc/protocol';
import type { Database } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { registerAttestation } from './attestation-routes.ts';
import { attesterPublicKey } from './attester.ts';
import { chainSeconds, slotAt } from './clock.ts';
import { clearBridgeFaults, listBridgeFaults, orderBridgeFault } from './faults.ts';
import { readBridgeFault, readSettingsChange } from './requests.ts';
import { changeSettings, readSettings } from './settings.ts';
import { readAccount, readSolanaTransaction } from './solana.ts';
import { USDC_MINT } from './token-account.ts';

export interface BridgeOptions {
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** The attestation service, the Solana on which it mints, and what people and tests may do to both. */
export function registerBridge(app: FastifyInstance, db: Database, { now = Date.now }: BridgeOptions = {}): void {
  const seconds = () => chainSeconds(db.reads, now);
  registerAttestation(app, { db, seconds });
  registerSolana(app, db, seconds);
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
    const fault = await orderBridgeFault(db, readBridgeFault(body));
    if (!fault) throw new ApiError('invalid_request', 'There are too many orders. Clear them with DELETE first.');
    return fault;
  });
}
