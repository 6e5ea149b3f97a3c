import type { Affine } from '../curve/curve.ts';
import type { CipherBalance } from './cipher-balance.ts';
import { feltsOf, type ProofContext, prefixOf } from './context.ts';
import { Equations } from './equations.ts';
import {
  challenge,
  combine,
  coordinates,
  felts,
  G,
  H,
  isPoint,
  publicPoint,
  randomScalar,
  response,
} from './points.ts';
import { requireBalance } from './public-operations.ts';
import { expectRange, prepareRange, type Range } from './range.ts';

export interface Withdraw {
  readonly from: Affine;
  /** The contract that gets the tokens. */
  readonly to: bigint;
  readonly amount: bigint;
  /** Encrypts what is left, with H as the key: the range proof is about its L. */
  readonly auxiliarCipher: CipherBalance;
  readonly proof: WithdrawProof;
}

export interface WithdrawProof {
  readonly A_x: Affine;
  readonly A_r: Affine;
  readonly A: Affine;
  readonly A_v: Affine;
  readonly sx: bigint;
  readonly sb: bigint;
  readonly sr: bigint;
  readonly range: Range;
}

export function withdrawPrefix(
  context: ProofContext,
  { from, to, amount, auxiliarCipher }: Omit<Withdraw, 'proof'>,
): bigint {
  const { nonce, balance } = context;
  return prefixOf(context, 'withdraw', [...felts([from]), nonce, amount, to, ...feltsOf(balance, auxiliarCipher)]);
}

/** `balance` is the account's balance in clear. */
export function proveWithdraw(
  context: ProofContext,
  privateKey: bigint,
  { balance, amount, to }: { readonly balance: bigint; readonly amount: bigint; readonly to: bigint },
): Withdraw {
  requireBalance(context, privateKey, balance);
  const left = balance - amount;
  const range = prepareRange(left, context.bits);
  const [kx, kb, kr] = [randomScalar(), randomScalar(), randomScalar()];
  const [L = G, R = G, A_x = G, A_r = G, A = G, A_v = G, ...bits] = coordinates([
    combine(left, range.randomness),
    combine(range.randomness),
    combine(kx),
    combine(kr),
    combine(kb, 0n, [{ point: context.balance.R, scalar: kx }]),
    combine(kb, kr),
    ...range.sums,
  ]);
  const statement = { from: publicPoint(privateKey), to, amount, auxiliarCipher: { L, R } };
  const prefix = withdrawPrefix(context, statement);
  const c = challenge(prefix, [A_x, A_r, A, A_v]);
  const responses = {
    sx: response(kx, c, privateKey),
    sb: response(kb, c, left),
    sr: response(kr, c, range.randomness),
  };
  return { ...statement, proof: { A_x, A_r, A, A_v, ...responses, range: range.prove(prefix, bits) } };
}

export function verifyWithdraw(context: ProofContext, withdraw: Withdraw): boolean {
  const { from, amount, auxiliarCipher, proof } = withdraw;
  const { A_x, A_r, A, A_v, sx, sb, sr } = proof;
  const { L, R } = context.balance;
  const { L: V, R: Raux } = auxiliarCipher;
  if (![from, L, R, V, Raux, A_x, A_r, A, A_v].every(isPoint)) return false;
  const prefix = withdrawPrefix(context, withdraw);
  const c = challenge(prefix, [A_x, A_r, A, A_v]);
  const equations = new Equations();
  equations.expect([[sx, G]], A_x, c, [[1n, from]]);
  equations.expect(
    [
      [sb, G],
      [sx, R],
    ],
    A,
    c,
    [
      [1n, L],
      [-amount, G],
    ],
  );
  equations.expect([[sr, G]], A_r, c, [[1n, Raux]]);
  equations.expect(
    [
      [sb, G],
      [sr, H],
    ],
    A_v,
    c,
    [[1n, V]],
  );
  return expectRange(equations, proof.range, prefix, context.bits, V) && equations.hold();
}
