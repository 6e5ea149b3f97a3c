import { ANY_CALLER, chainIds, encodeU256, interfaceIds, sign, TREASURY_INTERFACE, VALID } from '@svc/starknet';
import { START } from '../../scenarios/fixtures.ts';
import type { Outcome, Scenario, SignerEntry } from '../../scenarios/model.ts';
import {
  call,
  clock,
  done,
  events,
  execution,
  read,
  refused,
  reverts,
  TRUE,
  reads as tokenReads,
  transfer,
} from '../../scenarios/steps.ts';
import {
  by,
  changed,
  deploy,
  happened,
  INVALID_SIGNATURE,
  keyOf,
  keysOf,
  NOT_REACHED,
  setSigners,
  signedBy,
  signer,
  UNORDERED,
  withLimits,
} from './steps.ts';

const DUPLICATED = reverts('SRC9: duplicated nonce');
const EARLY = reverts('SRC9: now <= execute_after');
const LATE = reverts('SRC9: now >= execute_before');
const INVALID_CALLER = reverts('SRC9: invalid caller');
const HASH = 0x1234567n;

const paid = (nonce: bigint, amount: bigint, ...indexes: readonly number[]): Outcome =>
  done([TRUE], [happened.approved(nonce, keysOf(...indexes)), events.transfer(amount)]);

function signatureOver(hash: bigint, entries: readonly SignerEntry[]): bigint[] {
  return entries.flatMap(({ privateKey, publicKey }) => {
    const { r, s } = sign(hash, privateKey);
    return [publicKey, r, s];
  });
}

function isValid(entries: readonly SignerEntry[], valid: boolean, hash = HASH) {
  const felts = signatureOver(HASH, entries);
  return read('wallet', 'is_valid_signature', [hash, BigInt(felts.length), ...felts], [valid ? VALID : 0n]);
}

/** How many signatures, of whom, over what. */
export const approvalScenarios: readonly Scenario[] = [
  {
    name: 'the threshold is enough, and so is more',
    steps: [
      deploy(),
      by([0, 1], { nonce: 1n }, [transfer(1n)], paid(1n, 1n, 0, 1)),
      by([1, 2], { nonce: 2n }, [transfer(2n)], paid(2n, 2n, 1, 2)),
      by([0, 1, 2], { nonce: 3n }, [transfer(3n)], paid(3n, 3n, 0, 1, 2)),
      tokenReads.balance(6n),
    ],
  },
  {
    name: 'fewer signers than the threshold are refused',
    steps: [
      deploy(),
      by([0], { nonce: 1n }, [transfer(1n)], NOT_REACHED),
      tokenReads.nonceFree(1n, true),
      tokenReads.balance(0n),
    ],
  },
  {
    name: 'a signer counts once',
    steps: [
      deploy(),
      by([0, 0], { nonce: 1n }, [transfer(1n)], UNORDERED),
      signedBy([signer(0), signer(0, { shape: 'negated' })], { nonce: 1n }, [transfer(1n)], UNORDERED),
    ],
  },
  {
    name: 'signatures stand in increasing order of their keys',
    steps: [
      deploy(),
      by([1, 0], { nonce: 1n }, [transfer(1n)], UNORDERED),
      by([0, 2, 1], { nonce: 1n }, [transfer(1n)], UNORDERED),
      signedBy([signer(0, { publicKey: 0n }), signer(1)], { nonce: 1n }, [transfer(1n)], UNORDERED),
    ],
  },
  {
    name: 'a key that is no signer does not count',
    steps: [
      deploy(),
      by([0, 3], { nonce: 1n }, [transfer(1n)], NOT_REACHED),
      by([3, 4], { nonce: 1n }, [transfer(1n)], NOT_REACHED),
      by([0, 2, 3], { nonce: 1n }, [transfer(1n)], paid(1n, 1n, 0, 2)),
    ],
  },
  {
    name: 'a wrong signature of a signer refuses all of them',
    steps: [
      deploy(),
      signedBy(
        [signer(0), signer(1), signer(2, { privateKey: 0x77n })],
        { nonce: 1n },
        [transfer(1n)],
        INVALID_SIGNATURE,
      ),
      signedBy(
        [signer(0), signer(1, { privateKey: signer(0).privateKey })],
        { nonce: 1n },
        [transfer(1n)],
        INVALID_SIGNATURE,
      ),
    ],
  },
  {
    name: 'both forms of a signature are good, zero and too large numbers are not',
    steps: [
      deploy(),
      signedBy([signer(0, { shape: 'negated' }), signer(1)], { nonce: 1n }, [transfer(1n)], paid(1n, 1n, 0, 1)),
      signedBy([signer(0, { shape: 'zero s' }), signer(1)], { nonce: 2n }, [transfer(1n)], INVALID_SIGNATURE),
      signedBy([signer(0), signer(1, { shape: 'large s' })], { nonce: 2n }, [transfer(1n)], INVALID_SIGNATURE),
    ],
  },
  {
    name: 'a signature that is no list of threes is refused',
    steps: [
      deploy(),
      by([], { nonce: 1n }, [transfer(1n)], INVALID_SIGNATURE),
      by([0, 1], { nonce: 1n, signature: { tail: 1 } }, [transfer(1n)], INVALID_SIGNATURE),
      by([0, 1], { nonce: 1n, signature: { tail: 2 } }, [transfer(1n)], INVALID_SIGNATURE),
      by([0, 1], { nonce: 1n, signature: { tail: 3 } }, [transfer(1n)], UNORDERED),
      by([], { nonce: 1n, signature: { tail: 63 } }, [transfer(1n)], INVALID_SIGNATURE),
    ],
  },
  {
    name: 'a signature is good for its chain and its treasury alone',
    steps: [
      deploy(),
      deploy({ as: 'other' }),
      by([0, 1], { nonce: 1n, signature: { chainId: chainIds.SN_MAIN } }, [transfer(1n)], INVALID_SIGNATURE),
      by([0, 1], { nonce: 1n, signature: { account: 'other' } }, [transfer(1n)], INVALID_SIGNATURE),
      by([0, 1], { nonce: 1n }, [transfer(1n)], paid(1n, 1n, 0, 1)),
    ],
  },
  {
    name: 'a signature is good for its calls, its nonce and its time alone',
    steps: [
      deploy(),
      ...[
        execution([transfer(2n)], 1n),
        execution([transfer(1n), transfer(1n)], 1n),
        execution([], 1n),
        execution([transfer(1n)], 2n),
        execution([transfer(1n)], 1n, { before: START + 1n }),
        execution([transfer(1n)], 1n, { after: START - 1n }),
        execution([transfer(1n)], 1n, { caller: 'relayer' }),
      ].map((instead) => by([0, 1], { nonce: 1n, signature: { instead } }, [transfer(1n)], INVALID_SIGNATURE)),
      tokenReads.balance(0n),
    ],
  },
  {
    name: 'messages are signed by the threshold',
    steps: [
      ...withLimits([{}]),
      isValid([signer(0), signer(2)], true),
      isValid([signer(0)], false),
      isValid([signer(1), signer(0)], false),
      isValid([signer(0), signer(0)], false),
      isValid([signer(0), signer(3)], false),
      isValid([signer(0), signer(1)], false, HASH + 1n),
      isValid([], false),
    ],
  },
  {
    name: 'a treasury says which interfaces it has',
    steps: [
      deploy(),
      ...[interfaceIds.SRC5, interfaceIds.SRC6, interfaceIds.OUTSIDE_EXECUTION_V2, TREASURY_INTERFACE].map((id) =>
        read('wallet', 'supports_interface', [id], [1n]),
      ),
      read('wallet', 'supports_interface', [interfaceIds.OUTSIDE_EXECUTION_V1], [0n]),
      read('wallet', 'supports_interface', [0n], [0n]),
    ],
  },
  {
    name: 'an execution runs once, by whichever signers',
    steps: [
      deploy(),
      by([0, 1], { nonce: 7n }, [transfer(1n)], paid(7n, 1n, 0, 1)),
      by([0, 1], { nonce: 7n }, [transfer(1n)], DUPLICATED),
      by([1, 2], { nonce: 7n }, [transfer(1n)], DUPLICATED),
      by([0, 1, 2], { nonce: 7n, sender: 'stranger' }, [transfer(2n)], DUPLICATED),
      tokenReads.nonceFree(7n, false),
      tokenReads.balance(1n),
    ],
  },
  {
    name: 'of two executions with one nonce the second is refused, whatever it does',
    steps: [
      deploy(),
      changed([0, 1], 7n, [setSigners(keysOf(0, 1), 2n)], [happened.removed(keyOf(2))]),
      by([0, 1], { nonce: 7n }, [transfer(5n)], DUPLICATED),
      by([0, 1], { nonce: 8n }, [transfer(5n)], paid(8n, 5n, 0, 1)),
    ],
  },
  {
    name: 'an execution runs between its two times, and neither is within',
    steps: [
      deploy(),
      by([0, 1], { nonce: 1n, after: START, before: START + 10n }, [transfer(1n)], EARLY),
      clock(START + 1n),
      by([0, 1], { nonce: 1n, after: START, before: START + 10n }, [transfer(1n)], paid(1n, 1n, 0, 1)),
      clock(START + 10n),
      by([0, 1], { nonce: 2n, after: START, before: START + 10n }, [transfer(1n)], LATE),
    ],
  },
  {
    name: 'an execution is sent by the caller that it names',
    steps: [
      deploy(),
      by([0, 1], { nonce: 1n, caller: 'relayer', sender: 'stranger' }, [transfer(1n)], INVALID_CALLER),
      by([0, 1], { nonce: 1n, caller: 'relayer' }, [transfer(1n)], paid(1n, 1n, 0, 1)),
      by([0, 1], { nonce: 2n, caller: ANY_CALLER, sender: 'stranger' }, [transfer(1n)], paid(2n, 1n, 0, 1)),
    ],
  },
  {
    name: 'calls run in their order, and each answers',
    steps: [
      deploy(),
      by(
        [0, 1],
        { nonce: 1n },
        [transfer(3n), call('token', 'balance_of', ['bob']), transfer(4n, 'coin'), call('wallet', 'get_threshold')],
        done(
          [TRUE, encodeU256(3n), TRUE, [2n]],
          [happened.approved(1n, keysOf(0, 1)), events.transfer(3n), events.transfer(4n, 'coin')],
        ),
      ),
    ],
  },
  {
    name: 'one failing call takes back all of them, the nonce included',
    steps: [
      deploy(),
      by([0, 1], { nonce: 1n }, [transfer(1n), transfer(5_000n)], reverts('ERC20: insufficient balance')),
      by([0, 1], { nonce: 1n }, [setSigners(keysOf(0), 1n), call('token', 'nothing')], reverts('ENTRYPOINT_NOT_FOUND')),
      tokenReads.nonceFree(1n, true),
      tokenReads.balance(0n),
      by([0], { nonce: 1n }, [transfer(1n)], NOT_REACHED),
    ],
  },
  {
    name: 'a change within an execution holds for the next one, not for itself',
    steps: [
      deploy(),
      by(
        [0, 1],
        { nonce: 1n },
        [setSigners(keysOf(2), 1n), transfer(1n)],
        done(
          [[], TRUE],
          [
            happened.approved(1n, keysOf(0, 1)),
            happened.removed(keyOf(0)),
            happened.removed(keyOf(1)),
            happened.threshold(1n),
            events.transfer(1n),
          ],
        ),
      ),
      by([0, 1], { nonce: 2n }, [transfer(1n)], NOT_REACHED),
      by([2], { nonce: 2n }, [transfer(1n)], paid(2n, 1n, 2)),
    ],
  },
  {
    name: 'an execution is refused for caller, time and nonce before its signatures',
    steps: [
      deploy(),
      by([0, 1], { nonce: 1n }, [], done([], [happened.approved(1n, keysOf(0, 1))])),
      by([1, 0], { nonce: 1n, caller: 'stranger', after: START }, [], INVALID_CALLER),
      by([1, 0], { nonce: 1n, after: START, before: START }, [], EARLY),
      by([1, 0], { nonce: 1n, before: START }, [], LATE),
      by([1, 0], { nonce: 1n }, [], DUPLICATED),
      by([1, 0], { nonce: 2n }, [], UNORDERED),
    ],
  },
  {
    name: 'an execution within an execution needs its own signatures and its own nonce',
    steps: [
      deploy(),
      by(
        [0, 1],
        { nonce: 1n },
        [
          call('wallet', 'execute_from_outside_v2', {
            account: 'wallet',
            execution: execution([transfer(1n)], 1n),
            signature: { key: 'owner', entries: [signer(0), signer(1)] },
          }),
        ],
        DUPLICATED,
      ),
      by(
        [0, 1],
        { nonce: 1n },
        [
          call('wallet', 'execute_from_outside_v2', {
            account: 'wallet',
            execution: execution([transfer(1n)], 2n),
            signature: { key: 'owner', entries: [signer(2)] },
          }),
        ],
        NOT_REACHED,
      ),
    ],
  },
  {
    name: 'a transaction of the treasury needs the threshold, whatever the limit',
    steps: [
      ...withLimits([{}]),
      {
        kind: 'transaction',
        account: 'wallet',
        calls: [transfer(4n)],
        signature: { key: 'owner', entries: [signer(0), signer(2)] },
        outcome: done([TRUE], [events.transfer(4n)]),
      },
      {
        kind: 'transaction',
        account: 'wallet',
        calls: [transfer(4n)],
        signature: { key: 'owner', entries: [signer(0)] },
        outcome: refused('Treasury: threshold not reached'),
      },
      {
        kind: 'transaction',
        account: 'wallet',
        calls: [transfer(4n)],
        signature: { key: 'owner', entries: [signer(2), signer(0)] },
        outcome: refused('Treasury: unordered signatures'),
      },
      tokenReads.balance(4n),
    ],
  },
  {
    name: 'nobody but the protocol starts a transaction',
    steps: [
      deploy(),
      {
        kind: 'call',
        sender: 'stranger',
        call: call('wallet', '__execute__', [0n]),
        outcome: reverts('Account: invalid caller', 'Invalid argument'),
      },
    ],
  },
];
