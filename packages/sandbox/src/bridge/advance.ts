import { isDeepStrictEqual } from 'node:util';
import { type Db, type Sql, sql } from '@svc/store';
import { type Burn, findBurns, isMinted, saveBurn } from './burns.ts';
import { discoverBurns } from './discover.ts';
import { takeFaultOfBurn } from './faults.ts';
import { mint } from './mint.ts';
import { isIndexed, progress, renew } from './progress.ts';
import { type BridgeSettings, lockSettings } from './settings.ts';

/**
 * Brings the burns in question to where they stand at this second of the chain's time, and answers those that the service
 * knows of. Nothing happens between questions, and nobody can tell: whoever looks moves things on first.
 */
export function advanceBurns(db: Db, which: Sql, now: number): Promise<Burn[]> {
  return db.tx(async (tx) => {
    const settings = await lockSettings(tx);
    await discoverBurns(tx);
    const burns: Burn[] = [];
    for (const burn of await findBurns(tx, which)) burns.push(await advance(tx, burn, settings, now));
    return burns.filter((burn) => isIndexed(burn, settings, now));
  });
}

/** Renews the attestation of a burn where that is needed. Answers undefined where the service knows no such nonce. */
export function reattest(db: Db, nonce: string, now: number): Promise<Burn | undefined> {
  return db.tx(async (tx) => {
    const settings = await lockSettings(tx);
    await discoverBurns(tx);
    const [found] = await findBurns(tx, sql`m.nonce = ${nonce}`);
    const burn = found && (await advance(tx, found, settings, now));
    if (!burn || !isIndexed(burn, settings, now)) return undefined;
    const renewed = renew(burn, now);
    return renewed === burn ? burn : store(tx, burn, progress(renewed, settings, now));
  });
}

async function advance(tx: Db, found: Burn, settings: BridgeSettings, now: number): Promise<Burn> {
  const burn = found.fault ? found : { ...found, fault: await takeFaultOfBurn(tx, found.transactionHash) };
  return store(tx, found, progress(burn, settings, now));
}

async function store(tx: Db, before: Burn, after: Burn): Promise<Burn> {
  // Most questions find nothing new, and those should cost no write.
  if (isDeepStrictEqual(before, after)) return after;
  await saveBurn(tx, after);
  const { attestation } = after;
  if (!attestation || !isMinted(after) || isMinted(before)) return after;
  return { ...after, forwardTxHash: await mint(tx, after, attestation) };
}
