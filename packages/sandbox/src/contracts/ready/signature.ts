import { verify } from '@svc/starknet';
import { array, type Codec, felt, Malformed, Reader, tuple } from '../codec.ts';
import type { Frame } from '../frame.ts';
import { panic, require } from '../panic.ts';
import { isQuery } from '../transaction-version.ts';
import { readyGuardian, readyOwner } from './storage.ts';

const SIGNER = 'argent::signer::signer_signature::Signer';
const STARKNET_SIGNER = 'argent::signer::signer_signature::StarknetSigner';

/** A signer is one of several kinds of key; the sandbox knows the first, a Stark key. */
export const signer: Codec<bigint> = {
  type: SIGNER,
  definitions: [
    { type: 'struct', name: STARKNET_SIGNER, members: [{ name: 'pubkey', type: 'core::felt252' }] },
    { type: 'enum', name: SIGNER, variants: [{ name: 'Starknet', type: STARKNET_SIGNER }] },
  ],
  read(reader) {
    const variant = reader.next();
    const publicKey = reader.next();
    if (variant !== 0n || publicKey === 0n) throw new Malformed();
    return publicKey;
  },
  write: (publicKey) => [0n, publicKey],
};

const signerSignature = tuple({ publicKey: signer, r: felt, s: felt });
type SignerSignature = { readonly publicKey: bigint; readonly r: bigint; readonly s: bigint };
const signerSignatures = array(signerSignature);

/** Short form: `r, s` of the owner, then of the guardian. Long form: how many, and each with its signer. */
async function parse(frame: Frame, signature: readonly bigint[]): Promise<readonly SignerSignature[]> {
  if (signature.length !== 2 && signature.length !== 4) return parseLong(signature);
  const [r = 0n, s = 0n, guardianR, guardianS] = signature;
  const owner = { publicKey: await stored(readyOwner.read(frame)), r, s };
  if (guardianR === undefined || guardianS === undefined) return [owner];
  return [owner, { publicKey: await stored(readyGuardian.read(frame)), r: guardianR, s: guardianS }];
}

async function stored(reading: Promise<bigint>): Promise<bigint> {
  const publicKey = await reading;
  require(publicKey !== 0n, 'argent/zero-pubkey');
  return publicKey;
}

function parseLong(signature: readonly bigint[]): readonly SignerSignature[] {
  const reader = new Reader(signature);
  try {
    const signatures = signerSignatures.read(reader);
    require(reader.left === 0, 'argent/invalid-signature-length');
    return signatures;
  } catch (error) {
    if (error instanceof Malformed) panic('argent/undeserializable');
    throw error;
  }
}

/** Undefined where the signature is good, else what is wrong with it. */
export async function signatureFault(
  frame: Frame,
  hash: bigint,
  signature: readonly bigint[],
): Promise<string | undefined> {
  const guardian = await readyGuardian.read(frame);
  const [byOwner, byGuardian, ...more] = await parse(frame, signature);
  const complete = byOwner && more.length === 0 && (byGuardian === undefined) === (guardian === 0n);
  require(complete === true, 'argent/invalid-signature-length');
  if (!isGood(frame, byOwner, await readyOwner.read(frame), hash)) return 'argent/invalid-owner-sig';
  if (byGuardian && !isGood(frame, byGuardian, guardian, hash)) return 'argent/invalid-guardian-sig';
  return undefined;
}

/** An estimate is good with any signature of the right signer, so that it can be made before signing. */
function isGood(frame: Frame, { publicKey, r, s }: SignerSignature, expected: bigint, hash: bigint): boolean {
  return publicKey === expected && (verify(hash, publicKey, r, s) || isQuery(frame));
}
