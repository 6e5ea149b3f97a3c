import type { Scenario, Step } from '../../scenarios/model.ts';
import { done, events, reverts, TRUE, reads as tokenReads, transfer } from '../../scenarios/steps.ts';
import {
  by,
  changed,
  deploy,
  happened,
  keyOf,
  keysOf,
  NOT_REACHED,
  reads,
  refusedDeploy,
  setSigners,
  signedBy,
  signer,
  UNAUTHORIZED,
} from './steps.ts';

/** The x of no point of the curve. */
const NO_KEY = 5n;
const ALL = Array.from({ length: 20 }, (_, index) => index);
const INVALID_SIGNERS = 'Treasury: invalid signers';
const INVALID_THRESHOLD = 'Treasury: invalid threshold';

const refusedChange = (nonce: bigint, keys: readonly bigint[], threshold: bigint, reason: string): Step =>
  by([0, 1], { nonce }, [setSigners(keys, threshold)], reverts(reason));

/** Who signs, and how that changes. */
export const signerScenarios: readonly Scenario[] = [
  {
    name: 'a new treasury shows its signers and its threshold',
    steps: [
      deploy(),
      reads.signers(keysOf(0, 1, 2)),
      reads.threshold(2n),
      reads.isSigner(keyOf(1), true),
      reads.isSigner(keyOf(3), false),
      reads.isSigner(0n, false),
    ],
  },
  {
    name: 'a treasury without signers is refused',
    steps: [refusedDeploy({ keys: [], threshold: 0n }, INVALID_SIGNERS)],
  },
  {
    name: 'a treasury that needs no signature is refused',
    steps: [refusedDeploy({ threshold: 0n }, INVALID_THRESHOLD)],
  },
  {
    name: 'a treasury that needs more signatures than it has signers is refused',
    steps: [refusedDeploy({ threshold: 4n }, INVALID_THRESHOLD)],
  },
  {
    name: 'signers that are unordered, repeated, zero or no keys are refused',
    steps: [
      refusedDeploy({ keys: keysOf(1, 0) }, INVALID_SIGNERS),
      refusedDeploy({ keys: keysOf(0, 0) }, INVALID_SIGNERS),
      refusedDeploy({ keys: [0n, keyOf(0)] }, INVALID_SIGNERS),
      refusedDeploy({ keys: [NO_KEY, keyOf(0)] }, INVALID_SIGNERS),
    ],
  },
  {
    name: 'a treasury has at most twenty signers',
    steps: [
      refusedDeploy({ keys: keysOf(...ALL, 20) }, INVALID_SIGNERS),
      deploy({ keys: keysOf(...ALL), threshold: 20n }),
      reads.signers(keysOf(...ALL)),
    ],
  },
  {
    name: 'twenty signers approve together',
    steps: [
      deploy({ keys: keysOf(...ALL), threshold: 20n }),
      by(ALL.slice(1), { nonce: 1n }, [transfer(1n)], NOT_REACHED),
      by(
        ALL,
        { nonce: 1n },
        [transfer(1n)],
        done([TRUE], [happened.approved(1n, keysOf(...ALL)), events.transfer(1n)]),
      ),
    ],
  },
  {
    name: 'one signer alone can hold a treasury',
    steps: [
      deploy({ keys: keysOf(7), threshold: 1n }),
      by([7], { nonce: 1n }, [transfer(1n)], done([TRUE], [happened.approved(1n, keysOf(7)), events.transfer(1n)])),
    ],
  },
  {
    name: 'the threshold changes the signers, and what changed is announced',
    steps: [
      deploy(),
      changed(
        [0, 2],
        1n,
        [setSigners(keysOf(0, 2, 3, 4), 3n)],
        [happened.removed(keyOf(1)), happened.added(keyOf(3)), happened.added(keyOf(4)), happened.threshold(3n)],
      ),
      reads.signers(keysOf(0, 2, 3, 4)),
      reads.threshold(3n),
      reads.isSigner(keyOf(1), false),
    ],
  },
  {
    name: 'a shorter list leaves nothing of the longer one',
    steps: [
      deploy(),
      changed(
        [0, 1],
        1n,
        [setSigners(keysOf(2), 1n)],
        [happened.removed(keyOf(0)), happened.removed(keyOf(1)), happened.threshold(1n)],
      ),
      reads.signers(keysOf(2)),
    ],
  },
  {
    name: 'a change of the threshold alone announces that alone',
    steps: [
      deploy(),
      changed([0, 1], 1n, [setSigners(keysOf(0, 1, 2), 3n)], [happened.threshold(3n)]),
      by([0, 1], { nonce: 2n }, [transfer(1n)], NOT_REACHED),
      changed([0, 1, 2], 3n, [setSigners(keysOf(0, 1, 2), 3n)], []),
    ],
  },
  {
    name: 'only the treasury itself changes its signers',
    steps: [
      deploy(),
      { kind: 'call', sender: 'stranger', call: setSigners(keysOf(3), 1n), outcome: UNAUTHORIZED },
      by([0], { nonce: 1n }, [setSigners(keysOf(0), 1n)], NOT_REACHED),
      reads.signers(keysOf(0, 1, 2)),
    ],
  },
  {
    name: 'a change that would lock the treasury is refused',
    steps: [
      deploy(),
      refusedChange(1n, [], 0n, INVALID_SIGNERS),
      refusedChange(2n, keysOf(0, 1), 3n, INVALID_THRESHOLD),
      refusedChange(3n, keysOf(0, 1), 0n, INVALID_THRESHOLD),
      refusedChange(4n, [NO_KEY, keyOf(0)], 1n, INVALID_SIGNERS),
      refusedChange(5n, keysOf(2, 1), 1n, INVALID_SIGNERS),
      refusedChange(6n, keysOf(...ALL, 20), 1n, INVALID_SIGNERS),
      reads.signers(keysOf(0, 1, 2)),
      reads.threshold(2n),
    ],
  },
  {
    name: 'a removed signer counts no longer, nor what was signed before',
    steps: [
      deploy(),
      changed([0, 1], 1n, [setSigners(keysOf(0, 2), 2n)], [happened.removed(keyOf(1))]),
      by([0, 1], { nonce: 2n }, [transfer(1n)], NOT_REACHED),
      by(
        [0, 1, 2],
        { nonce: 2n },
        [transfer(1n)],
        done([TRUE], [happened.approved(2n, keysOf(0, 2)), events.transfer(1n)]),
      ),
    ],
  },
  {
    name: 'a wrong signature of a removed signer is not looked at',
    steps: [
      deploy(),
      changed([0, 1], 1n, [setSigners(keysOf(0, 2), 2n)], [happened.removed(keyOf(1))]),
      signedBy(
        [signer(0), signer(1, { shape: 'zero s' }), signer(2)],
        { nonce: 2n },
        [transfer(1n)],
        done([TRUE], [happened.approved(2n, keysOf(0, 2)), events.transfer(1n)]),
      ),
    ],
  },
  {
    name: 'a signer that comes back counts again',
    steps: [
      deploy(),
      changed([0, 1], 1n, [setSigners(keysOf(0, 2), 2n)], [happened.removed(keyOf(1))]),
      changed([0, 2], 2n, [setSigners(keysOf(0, 1, 2), 2n)], [happened.added(keyOf(1))]),
      by(
        [0, 1],
        { nonce: 3n },
        [transfer(2n)],
        done([TRUE], [happened.approved(3n, keysOf(0, 1)), events.transfer(2n)]),
      ),
      tokenReads.balance(2n),
    ],
  },
  {
    name: 'a new signer counts at once',
    steps: [
      deploy(),
      changed([1, 2], 1n, [setSigners(keysOf(0, 1, 2, 9), 2n)], [happened.added(keyOf(9))]),
      by(
        [2, 9],
        { nonce: 2n },
        [transfer(1n)],
        done([TRUE], [happened.approved(2n, keysOf(2, 9)), events.transfer(1n)]),
      ),
    ],
  },
];
