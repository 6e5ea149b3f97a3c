import { CalldataReader, encodeU256 } from '../calldata.ts';
import type { Affine } from '../curve/curve.ts';
import { isPoint } from '../curve/multiples.ts';
import type { CipherBalance } from './cipher-balance.ts';
import { feltsOf } from './context.ts';
import { felts } from './points.ts';
import type { Fund, Ragequit, Rollover } from './public-operations.ts';
import type { BitProof, Range } from './range.ts';
import type { Transfer } from './transfer.ts';
import type { Withdraw } from './withdraw.ts';

/** The balance in clear, encrypted for its owner with a key that the owner can derive again. */
export interface Hint {
  /** 64 bytes. */
  readonly ciphertext: bigint;
  /** 24 bytes. */
  readonly nonce: bigint;
}

export interface Hinted {
  readonly hint: Hint;
}

export interface TransferHints {
  readonly hintTransfer: Hint;
  readonly hintLeftover: Hint;
}

export type TransferEvent = Pick<Transfer, 'transferBalance' | 'transferBalanceSelf'> & TransferHints;

/** The pool has no auditor. */
const NO_AUDIT = 1n;
const SOME = 0n;
const NONCE_BITS = 64n;
const LIMB = 128n;
const LIMB_MASK = (1n << LIMB) - 1n;

function encodeHint({ ciphertext, nonce }: Hint): bigint[] {
  const limbs = [0n, 1n, 2n, 3n].map((index) => (ciphertext >> (index * LIMB)) & LIMB_MASK);
  return [...limbs, ...encodeU256(nonce)];
}

function encodeRange({ commitments, proofs }: Range): bigint[] {
  const bit = ({ A0, A1, c0, s0, s1 }: BitProof) => [...felts([A0, A1]), c0, s0, s1];
  return [BigInt(commitments.length), ...felts(commitments), BigInt(proofs.length), ...proofs.flatMap(bit)];
}

export function encodeFund({ to, amount, hint, proof }: Fund & Hinted): bigint[] {
  return [...felts([to]), amount, ...encodeHint(hint), ...felts([proof.Ax]), proof.sx, NO_AUDIT];
}

export function encodeRollover({ to, hint, proof }: Rollover & Hinted): bigint[] {
  return [...felts([to]), ...encodeHint(hint), ...felts([proof.Ax]), proof.sx];
}

export function encodeRagequit({ from, to, amount, hint, proof }: Ragequit & Hinted): bigint[] {
  return [...felts([from]), to, amount, ...encodeHint(hint), ...felts([proof.Ax, proof.AR]), proof.sx, NO_AUDIT];
}

export function encodeWithdraw({ from, to, amount, hint, auxiliarCipher, proof }: Withdraw & Hinted): bigint[] {
  const { A_x, A_r, A, A_v, sx, sb, sr, range } = proof;
  const statement = [...felts([from]), to, amount, ...encodeHint(hint), ...feltsOf(auxiliarCipher)];
  return [...statement, ...felts([A_x, A_r, A, A_v]), sx, sb, sr, ...encodeRange(range), NO_AUDIT];
}

export function encodeTransfer(transfer: Transfer & TransferHints): bigint[] {
  const { from, to, transferBalance, transferBalanceSelf, auxiliarCipher, auxiliarCipher2, proof } = transfer;
  const { A_x, A_r, A_r2, A_b, A_b2, A_v, A_v2, A_bar, s_x, s_r, s_b, s_b2, s_r2, range, range2 } = proof;
  return [
    ...felts([from, to]),
    ...feltsOf(transferBalance, transferBalanceSelf),
    ...encodeHint(transfer.hintTransfer),
    ...encodeHint(transfer.hintLeftover),
    ...feltsOf(auxiliarCipher, auxiliarCipher2),
    ...felts([A_x, A_r, A_r2, A_b, A_b2, A_v, A_v2, A_bar]),
    ...[s_x, s_r, s_b, s_b2, s_r2],
    ...encodeRange(range),
    ...encodeRange(range2),
    ...[NO_AUDIT, NO_AUDIT],
  ];
}

class Reader extends CalldataReader {
  #wellFormed = true;

  point(): Affine {
    const point = { x: this.felt(), y: this.felt() };
    if (!isPoint(point)) this.#wellFormed = false;
    return point;
  }

  balance(): CipherBalance {
    return { L: this.point(), R: this.point() };
  }

  amount(): bigint {
    return this.uint(LIMB);
  }

  hint(): Hint {
    const [a, b, c, d] = [this.uint(LIMB), this.uint(LIMB), this.uint(LIMB), this.uint(LIMB)];
    return { ciphertext: a | (b << LIMB) | (c << (2n * LIMB)) | (d << (3n * LIMB)), nonce: this.u256() };
  }

  range(): Range {
    const commitments = this.array(() => this.point());
    const proofs = this.array(() => {
      const [A0, A1] = [this.point(), this.point()];
      return { A0, A1, c0: this.felt(), s0: this.felt(), s1: this.felt() };
    });
    return { commitments, proofs };
  }

  noAudit(): void {
    if (this.felt() !== NO_AUDIT) this.#wellFormed = false;
  }

  override finish<T>(value: T): T | undefined {
    return this.#wellFormed ? super.finish(value) : undefined;
  }
}

export function decodeFund(calldata: readonly bigint[]): (Fund & Hinted) | undefined {
  const reader = new Reader(calldata);
  const statement = { to: reader.point(), amount: reader.amount(), hint: reader.hint() };
  const proof = { Ax: reader.point(), sx: reader.felt() };
  reader.noAudit();
  return reader.finish({ ...statement, proof });
}

export function decodeRollover(calldata: readonly bigint[]): (Rollover & Hinted) | undefined {
  const reader = new Reader(calldata);
  const statement = { to: reader.point(), hint: reader.hint() };
  return reader.finish({ ...statement, proof: { Ax: reader.point(), sx: reader.felt() } });
}

export function decodeRagequit(calldata: readonly bigint[]): (Ragequit & Hinted) | undefined {
  const reader = new Reader(calldata);
  const statement = { from: reader.point(), to: reader.address(), amount: reader.amount(), hint: reader.hint() };
  const proof = { Ax: reader.point(), AR: reader.point(), sx: reader.felt() };
  reader.noAudit();
  return reader.finish({ ...statement, proof });
}

export function decodeWithdraw(calldata: readonly bigint[]): (Withdraw & Hinted) | undefined {
  const reader = new Reader(calldata);
  const statement = { from: reader.point(), to: reader.address(), amount: reader.amount(), hint: reader.hint() };
  const auxiliarCipher = reader.balance();
  const commitments = { A_x: reader.point(), A_r: reader.point(), A: reader.point(), A_v: reader.point() };
  const responses = { sx: reader.felt(), sb: reader.felt(), sr: reader.felt() };
  const proof = { ...commitments, ...responses, range: reader.range() };
  reader.noAudit();
  return reader.finish({ ...statement, auxiliarCipher, proof });
}

export function decodeTransfer(calldata: readonly bigint[]): (Transfer & TransferHints) | undefined {
  const reader = new Reader(calldata);
  const parties = { from: reader.point(), to: reader.point() };
  const amounts = { transferBalance: reader.balance(), transferBalanceSelf: reader.balance() };
  const hints = { hintTransfer: reader.hint(), hintLeftover: reader.hint() };
  const auxiliary = { auxiliarCipher: reader.balance(), auxiliarCipher2: reader.balance() };
  const first = { A_x: reader.point(), A_r: reader.point(), A_r2: reader.point(), A_b: reader.point() };
  const second = { A_b2: reader.point(), A_v: reader.point(), A_v2: reader.point(), A_bar: reader.point() };
  const answers = { s_x: reader.felt(), s_r: reader.felt(), s_b: reader.felt(), s_b2: reader.felt() };
  const last = { s_r2: reader.felt(), range: reader.range(), range2: reader.range() };
  reader.noAudit();
  reader.noAudit();
  return reader.finish({
    ...parties,
    ...amounts,
    ...hints,
    ...auxiliary,
    proof: { ...first, ...second, ...answers, ...last },
  });
}

/** An account as the pool shows it. */
export interface AccountState {
  readonly balance: CipherBalance;
  /** Received and not yet rolled over. */
  readonly pending: CipherBalance;
  readonly nonce: bigint;
  /** Of the balance, made with the account's nonce. */
  readonly hint: Hint | undefined;
}

/** The result of `get_state`. Undefined for a pool with an auditor. */
export function decodeState(result: readonly bigint[]): AccountState | undefined {
  const reader = new Reader(result);
  const balances = { balance: reader.balance(), pending: reader.balance() };
  const nonce = reader.uint(NONCE_BITS);
  reader.noAudit();
  const hint = reader.felt() === SOME ? reader.hint() : undefined;
  reader.noAudit();
  return reader.finish({ ...balances, nonce, hint });
}

/** The data of a `TransferEvent`, without its keys. */
export function decodeTransferEvent(data: readonly bigint[]): TransferEvent | undefined {
  const reader = new Reader(data);
  const amounts = { transferBalance: reader.balance(), transferBalanceSelf: reader.balance() };
  return reader.finish({ ...amounts, hintTransfer: reader.hint(), hintLeftover: reader.hint() });
}

/** The data of a `RolloverEvent`. */
export function decodeRolloverEvent(data: readonly bigint[]): CipherBalance | undefined {
  const reader = new Reader(data);
  return reader.finish(reader.balance());
}
