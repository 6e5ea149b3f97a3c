import { secp256k1 } from '@noble/curves/secp256k1';
import { keccak_256 } from '@noble/hashes/sha3';
import { describe, expect, it } from 'vitest';
import { ATTESTED } from '../../testing/bridge-fixtures.ts';
import { attest, attesterPublicKey } from './attestation.ts';

describe('an attestation', () => {
  it("leads from the message to the attester's key", () => {
    const attestation = attest(ATTESTED);
    expect(attestation).toHaveLength(65);
    const signature = secp256k1.Signature.fromCompact(attestation.subarray(0, 64));
    const recovery = (attestation[64] ?? 0) - 27;
    const recovered = signature.addRecoveryBit(recovery).recoverPublicKey(keccak_256(ATTESTED));
    expect(recovered.toRawBytes(false)).toEqual(attesterPublicKey());
  });

  it('is the same whenever it is asked for, and another for another message', () => {
    expect(attest(ATTESTED)).toEqual(attest(ATTESTED));
    expect(attest(ATTESTED.subarray(1))).not.toEqual(attest(ATTESTED));
  });
});
