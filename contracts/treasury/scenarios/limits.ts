import { encodeU256 } from '@svc/starknet';
import { START } from '../../scenarios/fixtures.ts';
import type { Outcome, Scenario } from '../../scenarios/model.ts';
import {
  call,
  clock,
  done,
  events,
  NOTHING,
  reverts,
  spending,
  TRUE,
  reads as tokenReads,
  transfer,
} from '../../scenarios/steps.ts';
import {
  by,
  changed,
  deploy,
  EXCEEDS,
  happened,
  keysOf,
  type LimitTerms,
  NOT_REACHED,
  OTHER_CLASS,
  reads,
  refusedDeploy,
  removeLimit,
  setLimit,
  setSigners,
  TREASURY_CLASS,
  UNAUTHORIZED,
  withLimits,
} from './steps.ts';

const INVALID_LIMIT = 'Treasury: invalid limit';
const BAD_CALLDATA = reverts('Treasury: bad calldata');
const INVALID_CLASS = reverts('Treasury: invalid class hash');

const paid = (nonce: bigint, amount: bigint, ...indexes: readonly number[]): Outcome =>
  done([TRUE], [happened.approved(nonce, keysOf(...indexes), true), events.transfer(amount)]);

const invalidLimits: readonly LimitTerms[] = [{ threshold: 0n }, { threshold: 2n }, { max: 0n }, { seconds: 0n }];

/** What fewer signers than the threshold may pay, and the way to another class. */
export const limitScenarios: readonly Scenario[] = [
  {
    name: 'one signer pays up to the limit of a window, and again in the next',
    steps: [
      ...withLimits([{}]),
      reads.limit(0n, START),
      by([0], { nonce: 1n }, [transfer(60n)], paid(1n, 60n, 0)),
      by([1], { nonce: 2n }, [transfer(41n)], EXCEEDS),
      by([1], { nonce: 2n }, [transfer(40n)], paid(2n, 40n, 1)),
      by([2], { nonce: 3n }, [transfer(1n)], EXCEEDS),
      reads.limit(100n, START),
      clock(START + 59n),
      by([2], { nonce: 3n }, [transfer(1n)], EXCEEDS),
      clock(START + 60n),
      by([2], { nonce: 3n }, [transfer(1n)], paid(3n, 1n, 2)),
      reads.limit(1n, START + 60n),
    ],
  },
  {
    name: 'the threshold pays more than the limit, and that is not counted',
    steps: [
      ...withLimits([{}]),
      by([0], { nonce: 1n }, [transfer(101n)], EXCEEDS),
      by(
        [0, 1],
        { nonce: 1n },
        [transfer(101n)],
        done([TRUE], [happened.approved(1n, keysOf(0, 1)), events.transfer(101n)]),
      ),
      reads.limit(0n, START),
      by([0], { nonce: 2n }, [transfer(100n)], paid(2n, 100n, 0)),
    ],
  },
  {
    name: 'transfers of one execution add up',
    steps: [
      ...withLimits([{}]),
      by([0], { nonce: 1n }, [transfer(60n), transfer(41n)], EXCEEDS),
      reads.limit(0n, START),
      by(
        [0],
        { nonce: 1n },
        [transfer(60n), transfer(40n)],
        done([TRUE, TRUE], [happened.approved(1n, keysOf(0), true), events.transfer(60n), events.transfer(40n)]),
      ),
      reads.limit(100n, START),
    ],
  },
  {
    name: 'a limit allows transfers of its token and nothing else',
    steps: [
      ...withLimits([{}]),
      by([0], { nonce: 1n }, [transfer(1n, 'coin')], NOT_REACHED),
      by([0], { nonce: 1n }, [spending('approve', 1n)], NOT_REACHED),
      by([0], { nonce: 1n }, [spending('increase_allowance', 1n)], NOT_REACHED),
      by([0], { nonce: 1n }, [call('token', 'transfer_from', ['wallet', 'bob', 1n, 0n])], NOT_REACHED),
      by([0], { nonce: 1n }, [transfer(1n), setSigners(keysOf(0), 1n)], NOT_REACHED),
      by([0], { nonce: 1n }, [removeLimit()], NOT_REACHED),
      by([0], { nonce: 1n }, [call('wallet', 'upgrade', [TREASURY_CLASS])], NOT_REACHED),
      tokenReads.balance(0n),
      reads.limit(0n, START),
    ],
  },
  {
    name: 'an execution without calls needs the threshold',
    steps: [
      ...withLimits([{}]),
      by([0], { nonce: 1n }, [], NOT_REACHED),
      by([0, 1], { nonce: 1n }, [], done([], [happened.approved(1n, keysOf(0, 1))])),
    ],
  },
  {
    name: 'a limited transfer whose amount cannot be read is refused',
    steps: [
      ...withLimits([{}]),
      by([0], { nonce: 1n }, [call('token', 'transfer', ['bob', 1n])], BAD_CALLDATA),
      by([0], { nonce: 1n }, [call('token', 'transfer', ['bob', 1n, 0n, 0n])], BAD_CALLDATA),
      by([0], { nonce: 1n }, [call('token', 'transfer', [])], BAD_CALLDATA),
      by([0], { nonce: 1n }, [call('token', 'transfer', ['bob', 2n ** 128n, 0n])], BAD_CALLDATA),
      by([0], { nonce: 1n }, [call('token', 'transfer', ['bob', ...encodeU256(2n ** 256n - 1n)])], EXCEEDS),
    ],
  },
  {
    name: 'a failed transfer is not counted',
    steps: [
      ...withLimits([{ max: 5_000n }]),
      by([0], { nonce: 1n }, [transfer(2_000n)], reverts('ERC20: insufficient balance')),
      reads.limit(0n, START, { max: 5_000n }),
      tokenReads.nonceFree(1n, true),
    ],
  },
  {
    name: 'a limit has a threshold of its own',
    steps: [
      ...withLimits([{ threshold: 2n }], { keys: keysOf(0, 1, 2, 3), threshold: 3n }),
      by([0], { nonce: 1n }, [transfer(1n)], NOT_REACHED),
      by([0, 4], { nonce: 1n }, [transfer(1n)], NOT_REACHED),
      by([0, 3], { nonce: 1n }, [transfer(1n)], paid(1n, 1n, 0, 3)),
    ],
  },
  {
    name: 'each token has its own limit',
    steps: [
      ...withLimits([{ max: 10n }, { token: 'coin', threshold: 2n, max: 20n }], { threshold: 3n }),
      by([0], { nonce: 1n }, [transfer(1n), transfer(1n, 'coin')], NOT_REACHED),
      by(
        [0, 1],
        { nonce: 1n },
        [transfer(10n), transfer(20n, 'coin')],
        done(
          [TRUE, TRUE],
          [happened.approved(1n, keysOf(0, 1), true), events.transfer(10n), events.transfer(20n, 'coin')],
        ),
      ),
      by([0, 1], { nonce: 2n }, [transfer(1n, 'coin')], EXCEEDS),
    ],
  },
  {
    name: 'the threshold sets and removes a limit',
    steps: [
      deploy(),
      reads.noLimit(),
      by([0], { nonce: 1n }, [transfer(1n)], NOT_REACHED),
      changed([0, 1], 1n, [setLimit()], [happened.limitSet()]),
      reads.limit(0n, START),
      by([0], { nonce: 2n }, [transfer(1n)], paid(2n, 1n, 0)),
      changed([0, 1], 3n, [removeLimit()], [happened.limitRemoved()]),
      reads.noLimit(),
      by([0], { nonce: 4n }, [transfer(1n)], NOT_REACHED),
    ],
  },
  {
    name: 'a limit that is set again starts a new window',
    steps: [
      ...withLimits([{}]),
      by([0], { nonce: 1n }, [transfer(100n)], paid(1n, 100n, 0)),
      clock(START + 5n),
      changed([0, 1], 2n, [setLimit({ max: 50n })], [happened.limitSet({ max: 50n })]),
      reads.limit(0n, START + 5n, { max: 50n }),
      by([0], { nonce: 3n }, [transfer(51n)], EXCEEDS),
      by([0], { nonce: 3n }, [transfer(50n)], paid(3n, 50n, 0)),
    ],
  },
  {
    name: 'only the treasury itself sets and removes a limit',
    steps: [
      ...withLimits([{}]),
      { kind: 'call', sender: 'stranger', call: setLimit({ max: 900n }), outcome: UNAUTHORIZED },
      { kind: 'call', sender: 'stranger', call: removeLimit(), outcome: UNAUTHORIZED },
      reads.limit(0n, START),
    ],
  },
  {
    name: 'a limit that means nothing, or as much as the threshold, is refused',
    steps: [
      deploy(),
      ...invalidLimits.map((terms, index) =>
        by([0, 1], { nonce: BigInt(index) }, [setLimit(terms)], reverts(INVALID_LIMIT)),
      ),
      by([0, 1], { nonce: 9n }, [call('wallet', 'set_limit', [0n, 1n, 1n, 0n, 1n])], reverts(INVALID_LIMIT)),
      reads.noLimit(),
    ],
  },
  {
    name: 'a treasury can begin with limits',
    steps: [
      deploy({ limits: [{ token: 'bob' }, { token: 'relayer', max: 7n }] }),
      reads.limit(0n, START, { token: 'bob' }),
      reads.limit(0n, START, { token: 'relayer', max: 7n }),
      reads.noLimit('stranger'),
    ],
  },
  {
    name: 'a treasury cannot begin with a limit that is refused',
    steps: [
      refusedDeploy({ limits: [{ token: 'bob', threshold: 2n }] }, INVALID_LIMIT),
      refusedDeploy({ limits: [{ token: 'bob' }, { token: 'bob', max: 0n }] }, INVALID_LIMIT),
    ],
  },
  {
    name: 'a limit holds when the signers change',
    steps: [
      ...withLimits([{}]),
      by([0], { nonce: 1n }, [transfer(90n)], paid(1n, 90n, 0)),
      changed(
        [0, 1],
        2n,
        [setSigners(keysOf(0, 1, 3), 2n)],
        [happened.removed(keysOf(2)[0] ?? 0n), happened.added(keysOf(3)[0] ?? 0n)],
      ),
      by([2], { nonce: 3n }, [transfer(1n)], NOT_REACHED),
      by([3], { nonce: 3n }, [transfer(11n)], EXCEEDS),
      by([3], { nonce: 3n }, [transfer(10n)], paid(3n, 10n, 3)),
    ],
  },
  {
    name: 'the threshold upgrades the class, and signers and limits stay',
    steps: [
      ...withLimits([{}]),
      by([0], { nonce: 1n }, [transfer(90n)], paid(1n, 90n, 0)),
      changed([0, 1], 2n, [call('wallet', 'upgrade', [TREASURY_CLASS])], [happened.upgraded(TREASURY_CLASS)]),
      reads.signers(keysOf(0, 1, 2)),
      reads.threshold(2n),
      by([0], { nonce: 3n }, [transfer(11n)], EXCEEDS),
      by([0, 1], { nonce: 1n }, [transfer(1n)], reverts('SRC9: duplicated nonce')),
    ],
  },
  {
    name: 'an upgrade to a class that is no treasury is refused',
    steps: [
      deploy(),
      by([0, 1], { nonce: 1n }, [call('wallet', 'upgrade', [0n])], INVALID_CLASS),
      by([0, 1], { nonce: 1n }, [call('wallet', 'upgrade', [OTHER_CLASS])], INVALID_CLASS),
      by([0, 1], { nonce: 1n }, [call('wallet', 'upgrade', [0xdeadn])], { fails: 'by the system' }),
      by(
        [0, 1],
        { nonce: 1n },
        [transfer(1n)],
        done([TRUE], [happened.approved(1n, keysOf(0, 1)), events.transfer(1n)]),
      ),
    ],
  },
  {
    name: 'only the treasury itself upgrades its class',
    steps: [
      deploy(),
      { kind: 'call', sender: 'stranger', call: call('wallet', 'upgrade', [TREASURY_CLASS]), outcome: UNAUTHORIZED },
      by([0], { nonce: 1n }, [call('wallet', 'upgrade', [TREASURY_CLASS])], NOT_REACHED),
      changed([0, 1], 1n, [], []),
    ],
  },
  {
    name: 'the money of a treasury moves with its signers alone',
    steps: [
      deploy(),
      changed([0, 1], 1n, [], []),
      {
        kind: 'call',
        sender: 'stranger',
        call: call('token', 'transfer_from', ['wallet', 'bob', 1n, 0n]),
        outcome: reverts('ERC20: insufficient allowance'),
      },
      by(
        [1, 2],
        { nonce: 2n },
        [spending('approve', 5n), call('wallet', 'is_signer', [keysOf(0)[0] ?? 0n])],
        done([TRUE, TRUE], [happened.approved(2n, keysOf(1, 2)), events.approval(5n)]),
      ),
      tokenReads.balance(1_000n, 'wallet'),
    ],
  },
  {
    name: 'changes of signers and limits are approved in one execution',
    steps: [
      deploy(),
      by(
        [0, 1],
        { nonce: 1n },
        [setSigners(keysOf(0, 1, 2), 3n), setLimit({ threshold: 2n })],
        done(
          [NOTHING, NOTHING],
          [happened.approved(1n, keysOf(0, 1)), happened.threshold(3n), happened.limitSet({ threshold: 2n })],
        ),
      ),
      by([0, 2], { nonce: 2n }, [transfer(7n)], paid(2n, 7n, 0, 2)),
    ],
  },
];
