import type { Runtime } from '../client/runtime.ts';
import { readAddress } from '../signing/read-address.ts';
import type { SvcWallet } from '../signing/wallet.ts';
import { parseEncryptKey, readEncryptKey } from './encrypt-key.ts';
import { isEnvelope } from './envelope.ts';
import { hex64 } from './hex-64.ts';
import { type OpenedEnvelope, openEnvelope } from './open-key.ts';
import { openWalletKey } from './open-wallet-key.ts';
import { sealKey, sealWith } from './seal-key.ts';
import { type Slot, unwrap, wrap } from './slot.ts';
import { DEFAULT_STRETCHING, type Stretching } from './stretch.ts';

export interface KeyToReseal {
  readonly wallet: SvcWallet;
  readonly encryptKey: string;
  readonly newEncryptKey: string;
}

export interface ResealedKey {
  readonly privateKey: bigint;
  readonly envelope: string;
}

/**
 * Exchanges one encryptKey for another. What else opens the envelope, a passkey or a backup, goes on doing so: its slot stays, and with
 * it the data key, which whoever opened the old envelope has no more use for than for the private key itself.
 */
export async function resealKey(
  { wallet, encryptKey, newEncryptKey }: KeyToReseal,
  runtime: Runtime,
  stretching: Stretching = DEFAULT_STRETCHING,
): Promise<ResealedKey> {
  const secret = readEncryptKey(newEncryptKey);
  const boundTo = readAddress(wallet.publicKey, 'wallet.publicKey');
  if (!isEnvelope(wallet.encryptedPrivateKey)) {
    const privateKey = await openWalletKey({ wallet, encryptKey });
    const envelope = await sealKey({ privateKey, boundTo, encryptKeys: [newEncryptKey] }, runtime, stretching);
    return { privateKey, envelope };
  }
  const opened = await openEnvelope({ envelope: wallet.encryptedPrivateKey, encryptKey, boundTo });
  const { privateKey, dataKey } = opened;
  const address = hex64(boundTo);
  const slot = await wrap(dataKey, secret, address, { runtime, stretching });
  const slots = [slot, ...(await slotsOfOthers(opened, encryptKey, address))];
  return { privateKey, envelope: await sealWith(dataKey, slots, { privateKey, address }, runtime) };
}

/** An encryptKey may have been given twice; none of its slots stays. */
async function slotsOfOthers({ slots, opened }: OpenedEnvelope, encryptKey: string, address: string): Promise<Slot[]> {
  const secret = parseEncryptKey(encryptKey);
  const others: Slot[] = [];
  for (const [index, slot] of slots.entries()) {
    if (index !== opened && secret && !(await unwrap(slot, secret, address))) others.push(slot);
  }
  return others;
}
