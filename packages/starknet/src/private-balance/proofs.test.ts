import { describe, expect, it } from 'vitest';
import { ORDER } from '../curve/curve.ts';
import { isFelt, PRIME } from '../felt.ts';
import recorded from '../testing/tongo-proofs.json' with { type: 'json' };
import {
  decodeFund,
  decodeRagequit,
  decodeRollover,
  decodeTransfer,
  decodeWithdraw,
  decryptBalance,
  emptyBalance,
  encodeFund,
  encodeRagequit,
  encodeRollover,
  encodeTransfer,
  encodeWithdraw,
  encryptAmount,
  isPoint,
  type ProofContext,
  proveFund,
  proveRagequit,
  proveRollover,
  proveTransfer,
  proveWithdraw,
  publicPoint,
  subtractBalances,
  verifyFund,
  verifyRagequit,
  verifyRollover,
  verifyTransfer,
  verifyWithdraw,
} from './index.ts';

const privateKey = BigInt(recorded.privateKey);
const recipientKey = BigInt(recorded.recipientKey);
const key = publicPoint(privateKey);
const recipient = publicPoint(recipientKey);
const balance = BigInt(recorded.balance);
const context: ProofContext = {
  chainId: BigInt(recorded.chainId),
  pool: BigInt(recorded.pool),
  sender: BigInt(recorded.sender),
  nonce: BigInt(recorded.nonce),
  balance: encryptAmount(key, balance, BigInt(recorded.randomness)),
  bits: recorded.bits,
};
const HINT_FELTS = 6;

interface Operation {
  readonly name: keyof typeof recorded.calldata;
  readonly hintsAt: readonly number[];
  readonly usesBalance: boolean;
  /** Whether calldata decodes, and its proof holds. */
  accepts(calldata: readonly bigint[], where?: ProofContext): boolean;
  encodedAgain(calldata: readonly bigint[]): bigint[] | undefined;
}

function operation<T>(
  name: Operation['name'],
  parts: Pick<Operation, 'hintsAt' | 'usesBalance'> & {
    decode(calldata: readonly bigint[]): T | undefined;
    encode(value: T): bigint[];
    verify(where: ProofContext, value: T): boolean;
  },
): Operation {
  const { hintsAt, usesBalance, decode, encode, verify } = parts;
  return {
    name,
    hintsAt,
    usesBalance,
    accepts: (calldata, where = context) => {
      const value = decode(calldata);
      return value !== undefined && verify(where, value);
    },
    encodedAgain: (calldata) => {
      const value = decode(calldata);
      return value && encode(value);
    },
  };
}

const operations = [
  operation('fund', { hintsAt: [3], usesBalance: false, decode: decodeFund, encode: encodeFund, verify: verifyFund }),
  operation('rollover', {
    hintsAt: [2],
    usesBalance: false,
    decode: decodeRollover,
    encode: encodeRollover,
    verify: verifyRollover,
  }),
  operation('ragequit', {
    hintsAt: [4],
    usesBalance: true,
    decode: decodeRagequit,
    encode: encodeRagequit,
    verify: verifyRagequit,
  }),
  operation('withdraw', {
    hintsAt: [4],
    usesBalance: true,
    decode: decodeWithdraw,
    encode: encodeWithdraw,
    verify: verifyWithdraw,
  }),
  operation('transfer', {
    hintsAt: [12, 18],
    usesBalance: true,
    decode: decodeTransfer,
    encode: encodeTransfer,
    verify: verifyTransfer,
  }),
];

const felts = ({ name }: Operation) => recorded.calldata[name].map(BigInt);

function replaced(calldata: readonly bigint[], index: number, value: bigint): bigint[] {
  return calldata.map((felt, at) => (at === index ? value : felt));
}

/** Where two felts in a row are a point of the curve. */
function pointsIn(calldata: readonly bigint[]): number[] {
  return [...calldata.keys()].filter((at) => isPoint({ x: calldata[at] ?? 0n, y: calldata[at + 1] ?? 0n }));
}

describe.each(operations)("a proof of Tongo's own package for $name", (one) => {
  const calldata = felts(one);
  const isHint = (index: number) => one.hintsAt.some((start) => index >= start && index < start + HINT_FELTS);

  it('is accepted, and encoded as it was', () => {
    expect(one.accepts(calldata)).toBe(true);
    expect(one.encodedAgain(calldata)).toEqual(calldata);
  });

  it('is refused with any felt changed', () => {
    const accepted = [...calldata.keys()].filter((index) => {
      const felt = calldata[index] ?? 0n;
      return !isHint(index) && one.accepts(replaced(calldata, index, isFelt(felt + 1n) ? felt + 1n : felt - 1n));
    });
    expect(accepted).toEqual([]);
  });

  it('is refused with any point turned into its opposite', () => {
    const points = pointsIn(calldata);
    expect(points.length).toBeGreaterThan(1);
    const accepted = points.filter((at) => one.accepts(replaced(calldata, at + 1, PRIME - (calldata[at + 1] ?? 0n))));
    expect(accepted).toEqual([]);
  });

  it('is refused with a felt too many or too few', () => {
    expect(one.accepts([...calldata, 0n])).toBe(false);
    expect(one.accepts(calldata.slice(0, -1))).toBe(false);
  });

  it.each(['chainId', 'pool', 'sender', 'nonce'] as const)('is good for one %s alone', (field) => {
    expect(one.accepts(calldata, { ...context, [field]: context[field] + 1n })).toBe(false);
  });

  it('is good for another account in no way', () => {
    const theirs = replaced(replaced(calldata, 0, recipient.x), 1, recipient.y);
    expect(one.accepts(theirs)).toBe(false);
  });

  it.runIf(one.usesBalance)('is good for one balance alone', () => {
    expect(one.accepts(calldata, { ...context, balance: encryptAmount(key, balance, 1n) })).toBe(false);
    expect(one.accepts(calldata, { ...context, balance: emptyBalance(key) })).toBe(false);
  });
});

describe('our own proofs', () => {
  it('hold', () => {
    const to = 9n;
    expect(verifyFund(context, proveFund(context, privateKey, 7n))).toBe(true);
    expect(verifyRollover(context, proveRollover(context, privateKey))).toBe(true);
    expect(verifyRagequit(context, proveRagequit(context, privateKey, balance, to))).toBe(true);
    for (const amount of [0n, 1n, balance]) {
      expect(verifyWithdraw(context, proveWithdraw(context, privateKey, { balance, amount, to }))).toBe(true);
    }
  });

  it('of a transfer move what they say to the recipient', () => {
    for (const amount of [0n, 5n, balance]) {
      const transfer = proveTransfer(context, privateKey, { balance, amount, to: recipient });
      expect(verifyTransfer(context, transfer)).toBe(true);
      expect(decryptBalance(transfer.transferBalance, recipientKey, 4)).toBe(amount);
      const left = subtractBalances(context.balance, transfer.transferBalanceSelf);
      expect(decryptBalance(left, privateKey, 4)).toBe(balance - amount);
    }
  });

  it('do not exist for more than the balance, or for another balance', () => {
    const amount = balance + 1n;
    const to = recipient;
    expect(() => proveTransfer(context, privateKey, { balance, amount, to })).toThrow(RangeError);
    expect(() => proveWithdraw(context, privateKey, { balance, amount, to: 9n })).toThrow(RangeError);
    expect(() => proveRagequit(context, privateKey, amount, 9n)).toThrow(RangeError);
    expect(() => proveTransfer(context, privateKey, { balance: amount, amount: 1n, to })).toThrow(RangeError);
    expect(() => proveTransfer(context, privateKey, { balance, amount: 1n, to: { x: 1n, y: 1n } })).toThrow(RangeError);
  });

  it('are refused with a response that is too large, a challenge of zero, or bits missing', () => {
    const fund = proveFund(context, privateKey, 7n);
    expect(verifyFund(context, { ...fund, proof: { ...fund.proof, sx: fund.proof.sx + ORDER } })).toBe(false);
    const withdraw = proveWithdraw(context, privateKey, { balance, amount: 1n, to: 9n });
    const { range } = withdraw.proof;
    const withRange = (proofs: typeof range.proofs, commitments = range.commitments) =>
      verifyWithdraw(context, { ...withdraw, proof: { ...withdraw.proof, range: { commitments, proofs } } });
    expect(withRange(range.proofs)).toBe(true);
    expect(withRange(range.proofs.map((bit) => ({ ...bit, c0: 0n })))).toBe(false);
    expect(withRange(range.proofs.slice(1))).toBe(false);
    expect(withRange(range.proofs.slice(1), range.commitments.slice(1))).toBe(false);
  });
});

describe('a balance', () => {
  it('is decrypted with its hint, and without one by search', () => {
    const cipher = encryptAmount(key, 40_123n, 99n);
    expect(decryptBalance(cipher, privateKey, 16, 40_123n)).toBe(40_123n);
    expect(decryptBalance(cipher, privateKey, 16, 40_124n)).toBe(40_123n);
    expect(decryptBalance(cipher, privateKey, 16)).toBe(40_123n);
    expect(decryptBalance(emptyBalance(key), privateKey, 16)).toBe(0n);
    for (const amount of [1n, 255n, 256n, 257n, 65_535n]) {
      expect(decryptBalance(encryptAmount(key, amount, 5n), privateKey, 16)).toBe(amount);
    }
  });

  it('is not decrypted by another key', () => {
    expect(decryptBalance(encryptAmount(key, 40_123n, 99n), recipientKey, 16)).toBeUndefined();
  });
});
