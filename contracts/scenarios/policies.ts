import { encodeU256 } from '@svc/starknet';
import { START } from './fixtures.ts';
import type { Scenario } from './model.ts';
import {
  addSession,
  byOwner,
  bySession,
  call,
  clock,
  deploy,
  done,
  events,
  NOTHING,
  PER_CALL,
  paid,
  pay,
  reads,
  removePolicy,
  reverts,
  revoke,
  second,
  setPolicy,
  spending,
  TRUE,
  transfer,
  UNTIL,
  WINDOW,
  withSession,
} from './steps.ts';

const BAD_CALLDATA = reverts('Spending: bad calldata');

/** What a policy counts. It allows 50 per call and 80 in 100 seconds. */
export const policyScenarios: readonly Scenario[] = [
  {
    name: 'different entrypoints of one token add up',
    steps: [
      ...withSession({}, {}),
      bySession({ nonce: 1n }, [transfer(40n), spending('increase_allowance', 41n)], WINDOW),
      bySession(
        { nonce: 1n },
        [spending('approve', 40n), transfer(40n)],
        done([TRUE, TRUE], [events.approval(40n), events.transfer(40n)]),
      ),
      pay(2n, 1n, WINDOW),
    ],
  },
  ...['approve', 'increase_allowance', 'increaseAllowance'].map((entrypoint) => ({
    name: `a policy counts ${entrypoint}`,
    steps: [
      ...withSession({}, {}),
      bySession({ nonce: 1n }, [spending(entrypoint, 51n)], PER_CALL),
      bySession({ nonce: 1n }, [spending(entrypoint, 50n)], done([TRUE], [events.approval(50n)])),
      reads.spent(50n, START),
      pay(2n, 31n, WINDOW),
    ],
  })),
  ...['transfer_from', 'transferFrom'].map((entrypoint) => ({
    name: `a policy counts ${entrypoint} of what is the account’s own`,
    steps: [
      ...withSession({}, {}),
      byOwner(
        { nonce: 1n },
        [call('token', 'approve', ['wallet', 200n, 0n])],
        done([TRUE], [events.approval(200n, 'token', 'wallet')]),
      ),
      bySession({ nonce: 2n }, [call('token', entrypoint, ['wallet', 'bob', 51n, 0n])], PER_CALL),
      bySession(
        { nonce: 2n },
        [call('token', entrypoint, ['wallet', 'bob', 50n, 0n])],
        done([TRUE], [events.approval(150n, 'token', 'wallet'), events.transfer(50n)]),
      ),
      reads.spent(50n, START),
      bySession({ nonce: 3n }, [call('token', entrypoint, ['wallet', 'bob', 1n])], BAD_CALLDATA),
    ],
  })),
  {
    name: 'a policy does not count what others allowed the account to move, nor allowances taken back',
    steps: [
      ...withSession({}, {}),
      bySession(
        { nonce: 1n },
        [call('token', 'transfer_from', ['bob', 'stranger', 51n, 0n])],
        reverts('ERC20: insufficient allowance'),
      ),
      byOwner({ nonce: 2n }, [spending('approve', 200n)], done([TRUE], [events.approval(200n)])),
      bySession({ nonce: 3n }, [spending('decrease_allowance', 120n)], done([TRUE], [events.approval(80n)])),
      reads.spent(0n, START),
    ],
  },
  {
    name: 'a policy holds for its token alone',
    steps: [
      ...withSession({}, {}),
      bySession({ nonce: 1n }, [transfer(500n, 'coin')], done([TRUE], [events.transfer(500n, 'coin')])),
      reads.spent(0n, START),
      reads.noPolicy('coin'),
    ],
  },
  {
    name: 'a policy holds for its session alone, and never for the owner',
    steps: [
      ...withSession({}, {}),
      byOwner(
        { nonce: 1n },
        [addSession({ key: second }), transfer(100n)],
        done([NOTHING, TRUE], [events.sessionAdded({ key: second }), events.transfer(100n)]),
      ),
      bySession(
        { nonce: 2n, signature: { key: 'second', session: { key: second, validUntil: UNTIL } } },
        [transfer(200n)],
        paid(200n),
      ),
      reads.spent(0n, START),
      pay(3n, 51n, PER_CALL),
    ],
  },
  {
    name: 'a policy that is set again starts anew',
    steps: [
      ...withSession({}, {}),
      pay(1n, 50n),
      clock(START + 10n),
      byOwner({ nonce: 2n }, [setPolicy()], done([NOTHING], [events.policySet()])),
      reads.spent(0n, START + 10n),
      pay(3n, 50n),
      clock(START + 109n),
      pay(4n, 31n, WINDOW),
    ],
  },
  {
    name: 'a policy that is removed limits nothing, and nothing is left to read of it',
    steps: [
      ...withSession({}, {}),
      pay(1n, 50n),
      byOwner({ nonce: 2n }, [removePolicy()], done([NOTHING], [events.policyRemoved()])),
      reads.noPolicy(),
      pay(3n, 500n),
      reads.noPolicy(),
    ],
  },
  {
    name: 'a policy outlives the revocation of its session and its return',
    steps: [
      ...withSession({}, {}),
      pay(1n, 50n),
      byOwner(
        { nonce: 2n },
        [revoke(), addSession()],
        done([NOTHING, NOTHING], [events.sessionRevoked(), events.sessionAdded()]),
      ),
      reads.spent(50n, START),
      pay(3n, 31n, WINDOW),
    ],
  },
  {
    name: 'a policy may be there before its session',
    steps: [
      deploy(),
      byOwner(
        { nonce: 1n },
        [setPolicy(), addSession()],
        done([NOTHING, NOTHING], [events.policySet(), events.sessionAdded()]),
      ),
      pay(2n, 51n, PER_CALL),
    ],
  },
  {
    name: 'both halves of an amount count',
    steps: [
      ...withSession({}, { perCall: 2n ** 128n, perWindow: 2n ** 128n + 5n }),
      bySession({ nonce: 1n }, [spending('approve', 2n ** 128n + 1n)], PER_CALL),
      bySession({ nonce: 1n }, [spending('approve', 2n ** 128n)], done([TRUE], [events.approval(2n ** 128n)])),
      pay(2n, 6n, WINDOW),
      pay(2n, 5n),
      reads.spent(2n ** 128n + 5n, START, { perCall: 2n ** 128n, perWindow: 2n ** 128n + 5n }),
    ],
  },
  {
    name: 'an amount that cannot be read is not let through',
    steps: [
      ...withSession({}, {}),
      ...[[], ['bob'], ['bob', 1n], ['bob', 1n, 0n, 0n], ['bob', 2n ** 128n, 0n], ['bob', 1n, 2n ** 128n]].map(
        (calldata) =>
          bySession({ nonce: 1n }, [call('token', 'transfer', calldata as ('bob' | bigint)[])], BAD_CALLDATA),
      ),
      reads.spent(0n, START),
    ],
  },
  {
    name: 'a policy of nothing lets nothing through',
    steps: [...withSession({}, { perCall: 0n, perWindow: 0n }), pay(1n, 1n, PER_CALL), pay(1n, 0n)],
  },
  {
    name: 'what a policy is told to be comes back as it was told',
    steps: [
      ...withSession(),
      byOwner(
        { nonce: 1n },
        [
          call('wallet', 'set_spending_policy', [
            second,
            'coin',
            ...encodeU256(3n * 2n ** 128n + 4n),
            ...encodeU256(5n),
            6n,
          ]),
        ],
        done(
          [NOTHING],
          [events.policySet({ key: second, token: 'coin', perCall: 3n * 2n ** 128n + 4n, perWindow: 5n, seconds: 6n })],
        ),
      ),
      reads.spent(0n, START, { key: second, token: 'coin', perCall: 3n * 2n ** 128n + 4n, perWindow: 5n, seconds: 6n }),
      reads.noPolicy('coin'),
      reads.noPolicy('token', second),
    ],
  },
];
