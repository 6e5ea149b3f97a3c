import type { Affine } from '../curve/curve.ts';
import { encrypts } from './cipher-balance.ts';
import { feltsOf, type ProofContext, prefixOf } from './context.ts';
import { Equations } from './equations.ts';
import { challenge, combine, coordinates, felts, G, isPoint, publicPoint, randomScalar, response } from './points.ts';

/** Knowledge of an account's private key. */
export interface KeyProof {
  readonly Ax: Affine;
  readonly sx: bigint;
}

export interface Fund {
  readonly to: Affine;
  readonly amount: bigint;
  readonly proof: KeyProof;
}

export interface Rollover {
  readonly to: Affine;
  readonly proof: KeyProof;
}

export interface Ragequit {
  readonly from: Affine;
  /** The contract that gets the tokens. */
  readonly to: bigint;
  readonly amount: bigint;
  readonly proof: KeyProof & { readonly AR: Affine };
}

function proveKey(privateKey: bigint, prefix: bigint): KeyProof {
  const k = randomScalar();
  const [Ax = G] = coordinates([combine(k)]);
  return { Ax, sx: response(k, challenge(prefix, [Ax]), privateKey) };
}

function verifyKey(key: Affine, { Ax, sx }: KeyProof, prefix: bigint): boolean {
  const equations = new Equations();
  equations.expect([[sx, G]], Ax, challenge(prefix, [Ax]), [[1n, key]]);
  return equations.hold();
}

function fundPrefix(context: ProofContext, { to, amount }: Omit<Fund, 'proof'>): bigint {
  return prefixOf(context, 'fund', [to.x, to.y, amount, context.nonce]);
}

export function proveFund(context: ProofContext, privateKey: bigint, amount: bigint): Fund {
  const statement = { to: publicPoint(privateKey), amount };
  return { ...statement, proof: proveKey(privateKey, fundPrefix(context, statement)) };
}

export function verifyFund(context: ProofContext, fund: Fund): boolean {
  return [fund.to, fund.proof.Ax].every(isPoint) && verifyKey(fund.to, fund.proof, fundPrefix(context, fund));
}

function rolloverPrefix(context: ProofContext, to: Affine): bigint {
  return prefixOf(context, 'rollover', [to.x, to.y, context.nonce]);
}

export function proveRollover(context: ProofContext, privateKey: bigint): Rollover {
  const to = publicPoint(privateKey);
  return { to, proof: proveKey(privateKey, rolloverPrefix(context, to)) };
}

export function verifyRollover(context: ProofContext, { to, proof }: Rollover): boolean {
  return [to, proof.Ax].every(isPoint) && verifyKey(to, proof, rolloverPrefix(context, to));
}

function ragequitPrefix(context: ProofContext, { from, to, amount }: Omit<Ragequit, 'proof'>): bigint {
  return prefixOf(context, 'ragequit', [...felts([from]), context.nonce, amount, to, ...feltsOf(context.balance)]);
}

/** Takes the whole balance out: the same key decrypts the balance to the amount. */
export function proveRagequit(context: ProofContext, privateKey: bigint, amount: bigint, to: bigint): Ragequit {
  requireBalance(context, privateKey, amount);
  const statement = { from: publicPoint(privateKey), to, amount };
  const k = randomScalar();
  const [Ax = G, AR = G] = coordinates([combine(k), combine(0n, 0n, [{ point: context.balance.R, scalar: k }])]);
  const c = challenge(ragequitPrefix(context, statement), [Ax, AR]);
  return { ...statement, proof: { Ax, AR, sx: response(k, c, privateKey) } };
}

export function verifyRagequit(context: ProofContext, ragequit: Ragequit): boolean {
  const { from, amount, proof } = ragequit;
  const { L, R } = context.balance;
  if (![from, proof.Ax, proof.AR, L, R].every(isPoint)) return false;
  const c = challenge(ragequitPrefix(context, ragequit), [proof.Ax, proof.AR]);
  const equations = new Equations();
  equations.expect([[proof.sx, G]], proof.Ax, c, [[1n, from]]);
  equations.expect([[proof.sx, R]], proof.AR, c, [
    [1n, L],
    [-amount, G],
  ]);
  return equations.hold();
}

/** A proof about another amount would only be refused by the contract. */
export function requireBalance({ balance }: ProofContext, privateKey: bigint, amount: bigint): void {
  if (!encrypts(balance, privateKey, amount)) throw new RangeError('The ciphertext does not encrypt this balance');
}
