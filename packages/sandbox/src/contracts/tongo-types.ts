import { isPoint } from '@svc/starknet/private-balance';
import { address, type Codec, felt, option, require, span, struct, u64, u128, u256, type Value } from './codec.ts';

const COMMON = 'tongo::structs::common';
const OPERATIONS = 'tongo::structs::operations';

const starkPoint = struct(`${COMMON}::starkpoint::StarkPoint`, { x: felt, y: felt });
const key = struct(`${COMMON}::pubkey::PubKey`, { x: felt, y: felt });
export type PubKey = Value<typeof key>;
/** Reading a key that is no point of the curve panics, as in Tongo. */
export const pubKey: Codec<PubKey> = {
  ...key,
  read(reader) {
    const value = key.read(reader);
    require(isPoint(value), 'PubKey is not an EcPoint');
    return value;
  },
};
export const cipherBalance = struct(`${COMMON}::cipherbalance::CipherBalance`, { L: starkPoint, R: starkPoint });
const u512 = struct('core::integer::u512', { limb0: u128, limb1: u128, limb2: u128, limb3: u128 });
/** Kept for its owner: the contract does not look into it. */
export const aeBalance = struct('tongo::structs::aecipher::AEBalance', { ciphertext: u512, nonce: u256 });

const auditProof = struct(`${OPERATIONS}::audit::ProofOfAudit`, {
  Ax: starkPoint,
  AL0: starkPoint,
  AL1: starkPoint,
  AR1: starkPoint,
  sx: felt,
  sb: felt,
  sr: felt,
});
const audit = option(
  struct(`${OPERATIONS}::audit::Audit`, { auditedBalance: cipherBalance, hint: aeBalance, proof: auditProof }),
);

const bitProof = struct('tongo::verifier::range::bitProof', {
  A0: starkPoint,
  A1: starkPoint,
  c0: felt,
  s0: felt,
  s1: felt,
});
const range = struct('tongo::verifier::range::Range', { commitments: span(starkPoint), proofs: span(bitProof) });

export const fund = struct(`${OPERATIONS}::fund::Fund`, {
  to: pubKey,
  amount: u128,
  hint: aeBalance,
  proof: struct(`${OPERATIONS}::fund::ProofOfFund`, { Ax: starkPoint, sx: felt }),
  auditPart: audit,
});

export const rollover = struct(`${OPERATIONS}::rollover::Rollover`, {
  to: pubKey,
  hint: aeBalance,
  proof: struct(`${OPERATIONS}::rollover::ProofOfRollOver`, { Ax: starkPoint, sx: felt }),
});

export const ragequit = struct(`${OPERATIONS}::ragequit::Ragequit`, {
  from: pubKey,
  to: address,
  amount: u128,
  hint: aeBalance,
  proof: struct(`${OPERATIONS}::ragequit::ProofOfRagequit`, { Ax: starkPoint, AR: starkPoint, sx: felt }),
  auditPart: audit,
});

export const withdraw = struct(`${OPERATIONS}::withdraw::Withdraw`, {
  from: pubKey,
  to: address,
  amount: u128,
  hint: aeBalance,
  auxiliarCipher: cipherBalance,
  proof: struct(`${OPERATIONS}::withdraw::ProofOfWithdraw`, {
    A_x: starkPoint,
    A_r: starkPoint,
    A: starkPoint,
    A_v: starkPoint,
    sx: felt,
    sb: felt,
    sr: felt,
    range,
  }),
  auditPart: audit,
});

export const transfer = struct(`${OPERATIONS}::transfer::Transfer`, {
  from: pubKey,
  to: pubKey,
  transferBalance: cipherBalance,
  transferBalanceSelf: cipherBalance,
  hintTransfer: aeBalance,
  hintLeftover: aeBalance,
  auxiliarCipher: cipherBalance,
  auxiliarCipher2: cipherBalance,
  proof: struct(`${OPERATIONS}::transfer::ProofOfTransfer`, {
    A_x: starkPoint,
    A_r: starkPoint,
    A_r2: starkPoint,
    A_b: starkPoint,
    A_b2: starkPoint,
    A_v: starkPoint,
    A_v2: starkPoint,
    A_bar: starkPoint,
    s_x: felt,
    s_r: felt,
    s_b: felt,
    s_b2: felt,
    s_r2: felt,
    range,
    range2: range,
  }),
  auditPart: audit,
  auditPartTransfer: audit,
});

export const state = struct(`${COMMON}::state::State`, {
  balance: cipherBalance,
  pending: cipherBalance,
  nonce: u64,
  audit: option(cipherBalance),
  ae_balance: option(aeBalance),
  ae_audit_balance: option(aeBalance),
});
