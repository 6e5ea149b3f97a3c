import type { Environment } from '@svc/protocol';
import { type JobLog, reasonOf } from '../jobs/job.ts';
import { EMPTY_BALANCE, LOW_BALANCE, raiseNextNonce, storeBalance, storeUsdc } from './accounts.ts';
import { allKeys, type RelayerKey, type RelayerParts } from './parts.ts';
import { padded } from './spelling.ts';

interface Parts extends RelayerParts {
  readonly log: JobLog;
}

/** Stores what the accounts have that pay, and warns while there is still time. */
export async function readBalances(parts: Parts, environment: Environment): Promise<void> {
  const token = parts.networks.token(environment, 'STARKNET', 'STRK');
  const strk = BigInt(token?.address ?? 0);
  for (const key of allKeys(parts, environment)) {
    const account = padded(key.address);
    await readBalance(parts, environment, key, strk).catch((error: unknown) =>
      parts.log.warn({ account, reason: reasonOf(error) }, 'the balance of a relayer account could not be read'),
    );
  }
  await readManager(parts, environment).catch((error: unknown) =>
    parts.log.warn({ environment, reason: reasonOf(error) }, 'what the manager has in USDC could not be read'),
  );
}

async function readManager({ db, networks, managerKey }: Parts, environment: Environment): Promise<void> {
  const manager = managerKey?.(environment);
  const usdc = networks.token(environment, 'STARKNET', 'USDC');
  if (!manager || !usdc) return;
  const { chain } = networks.starknet(environment);
  const balance = await chain.balanceOf(BigInt(usdc.address ?? 0), manager.address);
  await storeUsdc(db, chain.chainId, padded(manager.address), balance);
}

async function readBalance(
  { db, networks, log }: Parts,
  environment: Environment,
  { address }: RelayerKey,
  strk: bigint,
): Promise<void> {
  const { chain } = networks.starknet(environment);
  const account = padded(address);
  const [balance, nonce] = await Promise.all([chain.balanceOf(strk, address), chain.nonceAt(address)]);
  await storeBalance(db, chain.chainId, account, balance);
  // A key that was used elsewhere is noticed here, before a relay gets a nonce that is gone.
  if (nonce !== undefined) await raiseNextNonce(db, chain.chainId, account, nonce);
  const about = { environment, account, balanceFri: String(balance) };
  if (balance < EMPTY_BALANCE) log.error(about, 'a relayer account is out of STRK and pays for nothing more');
  else if (balance < LOW_BALANCE) log.warn(about, 'a relayer account is low on STRK');
}
