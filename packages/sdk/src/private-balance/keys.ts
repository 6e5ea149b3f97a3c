import { hex64 } from '@svc/protocol';
import { CURVE_ORDER, toHex } from '@svc/starknet';
import { type CurvePoint, formatPrivateAddress, parsePrivateAddress, publicPoint } from '@svc/starknet/private-balance';
import type { Client } from '../client/client.ts';
import { SvcInputError } from '../client/errors.ts';
import { readAddress, type SvcWallet } from '../client/values.ts';
import { privateKeyBytes, subtle } from '../keys/cipher.ts';
import { openWalletKey } from '../keys/seal.ts';

/** The keys of a private account. */
export interface PrivateKeys {
  /** Where others send private transfers to. May be public. */
  readonly privateAddress: string;
  /** `0x…`. Reads and spends the private balance: keep it as the wallet's key. It is never sent. */
  readonly viewingKey: string;
}

export interface DeriveKeysParams {
  /** Opens the wallet's key. */
  readonly encryptKey: string;
  readonly wallet: SvcWallet;
}

/**
 * Derives a wallet's private account from its key: the same wallet always has the same one, so a restored wallet finds
 * its balance. Nothing is sent.
 *
 * @example
 * const keys = await svc.privateBalance.deriveKeys({ encryptKey, wallet });
 * const { balance } = await svc.privateBalance.getPrivateBalance({ keys });
 */
export async function deriveKeys(_client: Client, { encryptKey, wallet }: DeriveKeysParams): Promise<PrivateKeys> {
  const account = readAddress(wallet.publicKey, 'publicKey of the wallet');
  const scalar = await viewingScalar(await openWalletKey({ encryptKey, wallet }), account);
  return { privateAddress: formatPrivateAddress(publicPoint(scalar)), viewingKey: toHex(scalar) };
}

const DOMAIN = 'svc private balance, version 1';
/** 128 bits more than the order has, so that the remainder has no bias. */
const DERIVED_BITS = 384;

/** HKDF-SHA-256 of the wallet's key, bound to its address. */
export async function viewingScalar(privateKey: bigint, account: bigint): Promise<bigint> {
  const encode = (text: string) => new TextEncoder().encode(text);
  const base = await subtle().importKey('raw', privateKeyBytes(privateKey), 'HKDF', false, ['deriveBits']);
  const [salt, info] = [encode(DOMAIN), encode(hex64(account))];
  const derived = await subtle().deriveBits({ name: 'HKDF', hash: 'SHA-256', salt, info }, base, DERIVED_BITS);
  const value = new Uint8Array(derived).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  return (value % (CURVE_ORDER - 1n)) + 1n;
}

export function readViewingKey({ viewingKey }: Pick<PrivateKeys, 'viewingKey'>): bigint {
  const isHex = typeof viewingKey === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(viewingKey);
  const scalar = isHex ? BigInt(viewingKey) : 0n;
  if (scalar > 0n && scalar < CURVE_ORDER) return scalar;
  throw new SvcInputError('invalid_input', 'keys must be those of deriveKeys.');
}

export function readPrivateAddress(text: string): CurvePoint {
  const point = typeof text === 'string' ? parsePrivateAddress(text) : undefined;
  if (point) return point;
  throw new SvcInputError('invalid_input', 'recipient must be a private address, as deriveKeys gives it.');
}
