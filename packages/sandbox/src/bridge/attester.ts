import { secp256k1 } from '@noble/curves/secp256k1';
import { keccak_256 } from '@noble/hashes/sha3';
import { privateKeyOf } from '../contracts/predeployed.ts';

/** Known to everyone, as all keys of the sandbox are: it vouches for sandbox burns only. */
const PRIVATE_KEY = privateKeyOf('attester');
/** As Ethereum counts the two possible public keys of a signature. */
const RECOVERY_OFFSET = 27;

/** r, s and the recovery byte over the message's Keccak hash: 65 bytes, always the same for the same message. */
export function attest(message: Uint8Array): Uint8Array {
  const signature = secp256k1.sign(keccak_256(message), PRIVATE_KEY);
  return Uint8Array.from([...signature.toCompactRawBytes(), RECOVERY_OFFSET + signature.recovery]);
}

/** Uncompressed, with which attestations can be checked. */
export function attesterPublicKey(): Uint8Array {
  return secp256k1.getPublicKey(PRIVATE_KEY, false);
}
