import { describe, expect, it } from 'vitest';
import { encryptAmount } from './cipher-balance.ts';
import type { ProofContext } from './context.ts';
import { challenge, combine, coordinates, G, publicPoint, randomScalar, response } from './points.ts';
import { prepareRange } from './range.ts';
import { commitmentsOf, type Transfer, transferPrefix, verifyTransfer } from './transfer.ts';
import { verifyWithdraw, type Withdraw, withdrawPrefix } from './withdraw.ts';

const BITS = 4;
const privateKey = 4_711n;
const key = publicPoint(privateKey);
const recipient = publicPoint(815n);
const BALANCE = 9n;
const context: ProofContext = {
  chainId: 1n,
  pool: 2n,
  sender: 3n,
  nonce: 4n,
  balance: encryptAmount(key, BALANCE, 99n),
  bits: BITS,
};
const { R: R0 } = context.balance;
const scalars = () => [randomScalar(), randomScalar(), randomScalar(), randomScalar(), randomScalar()] as const;

/** What a prover who tells the truth takes from one amount; a lie is any that differs. */
interface Claims {
  /** Of the range proofs, and of the responses. */
  readonly proven: bigint;
  readonly left: bigint;
  readonly forRecipient: bigint;
  readonly forSelf: bigint;
  readonly secret: bigint;
}

/** A prover that lies: commitments and responses fit the challenge, also of a false claim. */
function transferOf({ proven, left, forRecipient, forSelf, secret }: Claims): Transfer {
  const [sent, kept] = [prepareRange(proven, BITS), prepareRange(left, BITS)];
  const r = sent.randomness;
  const [kx, kb, kr, kb2, kr2] = scalars();
  const [R = G, to = G, self = G, V = G, V2 = G, R2 = G, A_x = G, A_r = G, A_r2 = G, ...rest] = coordinates([
    combine(r),
    combine(forRecipient, 0n, [{ point: recipient, scalar: r }]),
    combine(forSelf, 0n, [{ point: key, scalar: r }]),
    combine(proven, r),
    combine(left, kept.randomness),
    combine(kept.randomness),
    combine(kx),
    combine(kr),
    combine(kr2),
    combine(kb, 0n, [{ point: key, scalar: kr }]),
    combine(kb2 - kx * r, 0n, [{ point: R0, scalar: kx }]),
    combine(kb, kr),
    combine(kb2, kr2),
    combine(kb, 0n, [{ point: recipient, scalar: kr }]),
    ...sent.sums,
    ...kept.sums,
  ]);
  const [A_b = G, A_b2 = G, A_v = G, A_v2 = G, A_bar = G, ...bits] = rest;
  const statement = {
    from: key,
    to: recipient,
    transferBalance: { L: to, R },
    transferBalanceSelf: { L: self, R },
    auxiliarCipher: { L: V, R },
    auxiliarCipher2: { L: V2, R: R2 },
  };
  const prefix = transferPrefix(context, statement);
  const commitments = { A_x, A_r, A_r2, A_b, A_b2, A_v, A_v2, A_bar };
  const c = challenge(prefix, commitmentsOf(commitments));
  const responses = {
    s_x: response(kx, c, secret),
    s_r: response(kr, c, r),
    s_b: response(kb, c, proven),
    s_b2: response(kb2, c, left),
    s_r2: response(kr2, c, kept.randomness),
  };
  const range = sent.prove(prefix, bits.slice(0, sent.sums.length));
  const range2 = kept.prove(prefix, bits.slice(sent.sums.length));
  return { ...statement, proof: { ...commitments, ...responses, range, range2 } };
}

function withdrawOf(amount: bigint, left: bigint, secret: bigint): Withdraw {
  const range = prepareRange(left, BITS);
  const [kx, kb, kr] = scalars();
  const [L = G, R = G, A_x = G, A_r = G, A = G, A_v = G, ...bits] = coordinates([
    combine(left, range.randomness),
    combine(range.randomness),
    combine(kx),
    combine(kr),
    combine(kb, 0n, [{ point: R0, scalar: kx }]),
    combine(kb, kr),
    ...range.sums,
  ]);
  const statement = { from: key, to: 9n, amount, auxiliarCipher: { L, R } };
  const prefix = withdrawPrefix(context, statement);
  const c = challenge(prefix, [A_x, A_r, A, A_v]);
  const answers = { sx: response(kx, c, secret), sb: response(kb, c, left), sr: response(kr, c, range.randomness) };
  return { ...statement, proof: { A_x, A_r, A, A_v, ...answers, range: range.prove(prefix, bits) } };
}

describe('a prover who lies', () => {
  const truth = { proven: 5n, left: 4n, forRecipient: 5n, forSelf: 5n, secret: privateKey };

  it('is believed when it tells the truth', () => {
    expect(verifyTransfer(context, transferOf(truth))).toBe(true);
    expect(verifyWithdraw(context, withdrawOf(5n, 4n, privateKey))).toBe(true);
  });

  it.each<[string, Partial<Claims>]>([
    ['gives the recipient more than it pays', { forRecipient: 6n }],
    ['pays less than the recipient gets', { forSelf: 4n, left: 5n }],
    ['sends a negative amount', { forRecipient: -1n, forSelf: -1n, left: 10n }],
    ['sends more than it has', { proven: 12n, forRecipient: 12n, forSelf: 12n, left: 0n }],
    ['keeps more than is left', { left: 5n }],
    ['has another key', { secret: privateKey + 1n }],
  ])('is refused when it %s', (_lie, claims) => {
    expect(verifyTransfer(context, transferOf({ ...truth, ...claims }))).toBe(false);
  });

  it('is refused when it withdraws more than it has, keeps more than is left, or has another key', () => {
    expect(verifyWithdraw(context, withdrawOf(10n, 0n, privateKey))).toBe(false);
    expect(verifyWithdraw(context, withdrawOf(5n, 5n, privateKey))).toBe(false);
    expect(verifyWithdraw(context, withdrawOf(5n, 4n, privateKey + 1n))).toBe(false);
  });

  it('is refused when bits of its range are no bits', () => {
    const honest = withdrawOf(5n, 4n, privateKey);
    const { range } = honest.proof;
    const [first = G, second = G, ...others] = range.commitments;
    const swapped = { ...range, commitments: [second, first, ...others] };
    expect(verifyWithdraw(context, { ...honest, proof: { ...honest.proof, range: swapped } })).toBe(false);
  });
});
