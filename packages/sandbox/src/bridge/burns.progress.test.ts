import { describe, expect, it } from 'vitest';
import { HOOK, TOKEN_ACCOUNT_HALVES, testSettings } from '../../testing/bridge-fixtures.ts';
import { bridgeMessageBytes, burnMessageBytes } from '../contracts/cctp.ts';
import { toInteger } from '../contracts/codec.ts';
import { type Burn, isIndexed, progress, renew } from './burns.ts';
import { decodeMessage } from './cctp-message.ts';
import type { BurnFault } from './faults.ts';
import { slotAt } from './solana-address.ts';

const T = 1_800_000_000;
const DAY = 86_400;
const [LOW, HIGH] = TOKEN_ACCOUNT_HALVES;

interface Wish {
  readonly threshold?: bigint;
  readonly hookData?: Uint8Array;
  readonly mintRecipient?: bigint;
  readonly destinationCaller?: bigint;
  readonly fault?: BurnFault;
}

function burn({ threshold = 1_000n, hookData = HOOK, ...wish }: Wish = {}): Burn {
  const body = burnMessageBytes({
    burnToken: 1n,
    mintRecipient: wish.mintRecipient ?? (HIGH << 128n) + LOW,
    amount: 1_000_000n,
    messageSender: 2n,
    maxFee: 500n,
    hookData,
  });
  const message = bridgeMessageBytes({
    sourceDomain: 25n,
    destinationDomain: 5n,
    sender: 3n,
    recipient: 4n,
    destinationCaller: wish.destinationCaller ?? 0n,
    minFinalityThreshold: threshold,
    body,
  });
  const sent = decodeMessage(message);
  if (!sent) throw new Error('The message cannot be read.');
  const none = { attestation: undefined, forwardState: undefined, forwardTxHash: undefined };
  return { nonce: '0x1', transactionHash: '0x2', message, sent, burnedAt: T, fault: wish.fault, ...none };
}

const at = (one: Burn, seconds: number) => progress(one, testSettings, T + seconds);

describe('a burn', () => {
  it('is heard of after two seconds, attested after eight, confirmed and complete a second and two later', () => {
    const shown = [0, 1, 2, 7, 8, 9, 10].map((seconds) => {
      const one = at(burn(), seconds);
      return [isIndexed(one, testSettings, T + seconds), one.attestation !== undefined, one.forwardState];
    });
    expect(shown).toEqual([
      [false, false, undefined],
      [false, false, undefined],
      [true, false, undefined],
      [true, false, undefined],
      [true, true, 'PENDING'],
      [true, true, 'CONFIRMED'],
      [true, true, 'COMPLETE'],
    ]);
  });

  it('takes eight hours the standard way, costs nothing there and never expires', () => {
    const one = burn({ threshold: 2_000n });
    expect(at(one, 28_799).attestation).toBeUndefined();
    expect(at(one, 28_800).attestation).toEqual({ completedAt: T + 28_800, feeExecuted: 0n, expirationBlock: 0n });
  });

  it('was attested when it was due, however late it is read', () => {
    const one = at(burn(), 3 * DAY);
    expect(one.attestation).toEqual({
      completedAt: T + 8,
      feeExecuted: 130n,
      expirationBlock: slotAt(T + 8) + 216_000n,
    });
    expect(one.forwardState).toBe('COMPLETE');
  });

  it('keeps what it reached when the clock is set back or settings change', () => {
    const complete = at(burn(), 10);
    expect(at(complete, -DAY)).toEqual(complete);
    expect(isIndexed(complete, testSettings, T - DAY)).toBe(true);
    const dearer = { ...testSettings, fastFeePerMillion: 200, fastSeconds: 9_999, forwardSeconds: 9_999 };
    expect(progress(complete, dearer, T + 11)).toEqual(complete);
  });

  it.each([
    ['without a hook', { hookData: new Uint8Array() }, undefined],
    ['with a hook of another kind', { hookData: new Uint8Array(65) }, undefined],
    ['with a hook that cannot be followed', { hookData: HOOK.subarray(0, -1) }, 'FAILED'],
    ["for an account that is not the owner's", { mintRecipient: (HIGH << 128n) + LOW + 1n }, 'FAILED'],
    ['for the owner instead of its account', { mintRecipient: toInteger(HOOK.subarray(-32)) }, 'FAILED'],
    ['that another caller must mint', { destinationCaller: 1n }, 'FAILED'],
  ] as const)('%s is attested and not forwarded', (_name, wish, state) => {
    const one = at(burn(wish), 100);
    expect(one.attestation).toBeDefined();
    expect(one.forwardState).toBe(state);
    expect(at(renew(one, T + 100), 200).forwardState).toBe(state);
  });
});

describe('a burn with a fault', () => {
  it('is never heard of, or attested later', () => {
    const unheard = at(burn({ fault: { kind: 'never-indexed' } }), DAY);
    expect([isIndexed(unheard, testSettings, T + DAY), unheard.attestation]).toEqual([false, undefined]);
    const delayed = burn({ fault: { kind: 'delayed', delaySeconds: 60 } });
    expect([isIndexed(delayed, testSettings, T + 2), at(delayed, 67).attestation]).toEqual([true, undefined]);
    expect(at(delayed, 68).attestation).toBeDefined();
  });

  it('that has expired is forwarded only after it was attested anew', () => {
    const expired = at(burn({ fault: { kind: 'expired' } }), 50);
    expect(expired.forwardState).toBe('FAILED');
    expect(expired.attestation?.expirationBlock).toBeLessThan(slotAt(T + 8));
    expect(at({ ...expired, fault: undefined }, 60).forwardState).toBe('FAILED');
    const renewed = at(renew(expired, T + 70), 70);
    expect(renewed).toMatchObject({ fault: undefined, forwardState: 'PENDING' });
    expect(renewed.attestation).toMatchObject({ feeExecuted: 130n, expirationBlock: slotAt(T + 70) + 216_000n });
    expect(at(renewed, 72).forwardState).toBe('COMPLETE');
  });

  it('that was not forwarded is forwarded when it is attested anew or the fault is gone', () => {
    const failed = at(burn({ fault: { kind: 'forward-failed' } }), 50);
    expect(failed.forwardState).toBe('FAILED');
    expect(at(renew(failed, T + 60), 62).forwardState).toBe('COMPLETE');
    expect(at({ ...failed, fault: undefined }, 60).forwardState).toBe('COMPLETE');
  });

  it('that was minted before suffers nothing any more', () => {
    const complete = at(burn(), 10);
    for (const kind of ['expired', 'forward-failed'] as const) {
      const late = at({ ...complete, fault: { kind } }, 20);
      expect(late).toEqual({ ...complete, fault: { kind } });
      expect(renew(late, T + 2 * DAY)).toBe(late);
    }
  });
});

describe('an attestation', () => {
  it('is renewed after a day without a mint, not before', () => {
    const waiting = at(burn({ hookData: new Uint8Array() }), 10);
    expect(renew(waiting, T + DAY)).toBe(waiting);
    expect(renew(waiting, T + 2 * DAY).attestation?.expirationBlock).toBe(slotAt(T + 2 * DAY) + 216_000n);
    expect(renew(burn(), T)).toEqual(burn());
  });
});
