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

export interface Transfer {
  readonly from: Affine;
  readonly to: Affine;
  /** The amount, encrypted for the recipient. */
  readonly transferBalance: CipherBalance;
  /** The same amount, encrypted for the sender. */
  readonly transferBalanceSelf: CipherBalance;
  /** Encrypts the amount, with H as the key: the first range proof is about its L. */
  readonly auxiliarCipher: CipherBalance;
  /** The same of what is left. */
  readonly auxiliarCipher2: CipherBalance;
  readonly proof: TransferProof;
}

export interface TransferProof {
  readonly A_x: Affine;
  readonly A_r: Affine;
  readonly A_r2: Affine;
  readonly A_b: Affine;
  readonly A_b2: Affine;
  readonly A_v: Affine;
  readonly A_v2: Affine;
  readonly A_bar: Affine;
  readonly s_x: bigint;
  readonly s_r: bigint;
  readonly s_b: bigint;
  readonly s_b2: bigint;
  readonly s_r2: bigint;
  readonly range: Range;
  readonly range2: Range;
}

export function transferPrefix(context: ProofContext, statement: Omit<Transfer, 'proof'>): bigint {
  const { from, to, transferBalance, transferBalanceSelf, auxiliarCipher, auxiliarCipher2 } = statement;
  const ciphers = feltsOf(context.balance, transferBalanceSelf, transferBalance, auxiliarCipher, auxiliarCipher2);
  return prefixOf(context, 'transfer', [...felts([from, to]), context.nonce, ...ciphers]);
}

/** In the order of the challenge. */
export function commitmentsOf(proof: Omit<TransferProof, 'range' | 'range2' | `s_${string}`>): Affine[] {
  const { A_x, A_r, A_r2, A_b, A_b2, A_v, A_v2, A_bar } = proof;
  return [A_x, A_r, A_r2, A_b, A_b2, A_v, A_v2, A_bar];
}

/** `balance` is the sender's balance in clear. */
export function proveTransfer(
  context: ProofContext,
  privateKey: bigint,
  { balance, amount, to }: { readonly balance: bigint; readonly amount: bigint; readonly to: Affine },
): Transfer {
  requireBalance(context, privateKey, balance);
  if (!isPoint(to)) throw new RangeError('The recipient is no point of the curve');
  const left = balance - amount;
  const sent = prepareRange(amount, context.bits);
  const kept = prepareRange(left, context.bits);
  const r = sent.randomness;
  const [kx, kb, kr, kb2, kr2] = [randomScalar(), randomScalar(), randomScalar(), randomScalar(), randomScalar()];
  const { R: R0 } = context.balance;
  // The R of what is left is R0 - r · G; r · key is (r · private key) · G.
  const points = coordinates([
    combine(r),
    combine(amount, 0n, [{ point: to, scalar: r }]),
    combine(amount + r * privateKey),
    combine(amount, r),
    combine(left, kept.randomness),
    combine(kept.randomness),
    combine(kx),
    combine(kr),
    combine(kr2),
    combine(kb + kr * privateKey),
    combine(kb2 - kx * r, 0n, [{ point: R0, scalar: kx }]),
    combine(kb, kr),
    combine(kb2, kr2),
    combine(kb, 0n, [{ point: to, scalar: kr }]),
    ...sent.sums,
    ...kept.sums,
  ]);
  const [R = G, forRecipient = G, forSelf = G, aux = G, aux2 = G, Raux2 = G, ...rest] = points;
  const [A_x = G, A_r = G, A_r2 = G, A_b = G, A_b2 = G, A_v = G, A_v2 = G, A_bar = G, ...bits] = rest;
  const statement = {
    from: publicPoint(privateKey),
    to,
    transferBalance: { L: forRecipient, R },
    transferBalanceSelf: { L: forSelf, R },
    auxiliarCipher: { L: aux, R },
    auxiliarCipher2: { L: aux2, R: Raux2 },
  };
  const prefix = transferPrefix(context, statement);
  const commitments = { A_x, A_r, A_r2, A_b, A_b2, A_v, A_v2, A_bar };
  const c = challenge(prefix, commitmentsOf(commitments));
  return {
    ...statement,
    proof: {
      ...commitments,
      s_x: response(kx, c, privateKey),
      s_r: response(kr, c, r),
      s_b: response(kb, c, amount),
      s_b2: response(kb2, c, left),
      s_r2: response(kr2, c, kept.randomness),
      range: sent.prove(prefix, bits.slice(0, sent.sums.length)),
      range2: kept.prove(prefix, bits.slice(sent.sums.length)),
    },
  };
}

export function verifyTransfer(context: ProofContext, transfer: Transfer): boolean {
  const { from, to, transferBalance, transferBalanceSelf, auxiliarCipher, auxiliarCipher2, proof } = transfer;
  const { A_x, A_r, A_r2, A_b, A_b2, A_v, A_v2, A_bar, s_x, s_r, s_b, s_b2, s_r2 } = proof;
  const ciphers = [context.balance, transferBalance, transferBalanceSelf, auxiliarCipher, auxiliarCipher2];
  const points = [from, to, ...ciphers.flatMap(({ L, R }) => [L, R]), ...commitmentsOf(proof)];
  if (!points.every(isPoint)) return false;
  const prefix = transferPrefix(context, transfer);
  const c = challenge(prefix, commitmentsOf(proof));
  const equations = new Equations();
  equations.expect([[s_x, G]], A_x, c, [[1n, from]]);
  // Both ciphertexts and the range proof's commitment hold the same amount.
  const known = [
    { cipher: transferBalanceSelf, key: from, commitment: A_b },
    { cipher: transferBalance, key: to, commitment: A_bar },
    { cipher: auxiliarCipher, key: H, commitment: A_v },
  ];
  for (const { cipher, key, commitment } of known) {
    equations.expect([[s_r, G]], A_r, c, [[1n, cipher.R]]);
    equations.expect(
      [
        [s_b, G],
        [s_r, key],
      ],
      commitment,
      c,
      [[1n, cipher.L]],
    );
  }
  // So do what is left of the balance and the second commitment. The sender does not know its randomness, but its key.
  const { L, R } = context.balance;
  const { L: sentL, R: sentR } = transferBalanceSelf;
  equations.expect(
    [
      [s_b2, G],
      [s_x, R],
      [s_x, sentR, -1n],
    ],
    A_b2,
    c,
    [
      [1n, L],
      [-1n, sentL],
    ],
  );
  equations.expect([[s_r2, G]], A_r2, c, [[1n, auxiliarCipher2.R]]);
  equations.expect(
    [
      [s_b2, G],
      [s_r2, H],
    ],
    A_v2,
    c,
    [[1n, auxiliarCipher2.L]],
  );
  return (
    expectRange(equations, proof.range, prefix, context.bits, auxiliarCipher.L) &&
    expectRange(equations, proof.range2, prefix, context.bits, auxiliarCipher2.L) &&
    equations.hold()
  );
}
