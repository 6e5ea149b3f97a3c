import { START } from './fixtures.ts';
import type { Scenario } from './model.ts';
import {
  byOwner,
  bySession,
  clock,
  deploy,
  done,
  events,
  PER_CALL,
  paid,
  pay,
  reads,
  reverts,
  setPolicy,
  spending,
  TRUE,
  transfer,
  WINDOW,
  withSession,
} from './steps.ts';

/** Amounts and windows of a policy of 50 per call and 80 in 100 seconds. */
export const windowScenarios: readonly Scenario[] = [
  {
    name: 'a call may spend exactly the most, and not one unit more',
    steps: [
      ...withSession({}, {}),
      pay(1n, 51n, PER_CALL),
      reads.spent(0n, START),
      pay(1n, 50n),
      reads.spent(50n, START),
      reads.balance(50n),
    ],
  },
  {
    name: 'a window is filled exactly, and not one unit more',
    steps: [
      ...withSession({}, {}),
      pay(1n, 50n),
      pay(2n, 31n, WINDOW),
      pay(2n, 30n),
      pay(3n, 1n, WINDOW),
      pay(3n, 0n),
      reads.spent(80n, START),
    ],
  },
  {
    name: 'the next window opens in the second in which the last one ends',
    steps: [
      ...withSession({}, {}),
      pay(1n, 50n),
      clock(START + 99n),
      pay(2n, 31n, WINDOW),
      reads.spent(50n, START),
      clock(START + 100n),
      pay(2n, 31n),
      reads.spent(31n, START + 100n),
    ],
  },
  {
    name: 'a window begins with the first spending after the last one, not at a multiple of its length',
    steps: [
      ...withSession({}, {}),
      clock(START + 350n),
      pay(1n, 50n),
      reads.spent(50n, START + 350n),
      clock(START + 449n),
      pay(2n, 31n, WINDOW),
      clock(START + 450n),
      pay(2n, 50n),
      reads.spent(50n, START + 450n),
    ],
  },
  {
    name: 'a refused spending opens no window',
    steps: [...withSession({}, {}), clock(START + 200n), pay(1n, 51n, PER_CALL), reads.spent(0n, START)],
  },
  {
    name: 'calls of one execution add up',
    steps: [
      ...withSession({}, {}),
      bySession({ nonce: 1n }, [transfer(40n), transfer(41n)], WINDOW),
      bySession({ nonce: 1n }, [transfer(1n), transfer(51n)], PER_CALL),
      reads.spent(0n, START),
      bySession({ nonce: 1n }, [transfer(40n), transfer(40n)], paid(40n, 40n)),
      reads.spent(80n, START),
    ],
  },
  {
    name: 'each token has a policy and a window of its own',
    steps: [
      ...withSession({}, {}, { token: 'coin', perCall: 7n, perWindow: 9n, seconds: 50n }),
      bySession(
        { nonce: 1n },
        [transfer(50n), transfer(7n, 'coin')],
        done([TRUE, TRUE], [events.transfer(50n), events.transfer(7n, 'coin')]),
      ),
      clock(START + 50n),
      bySession({ nonce: 2n }, [transfer(7n, 'coin'), transfer(31n)], WINDOW),
      bySession({ nonce: 2n }, [transfer(7n, 'coin')], done([TRUE], [events.transfer(7n, 'coin')])),
      reads.spent(7n, START + 50n, { token: 'coin', perCall: 7n, perWindow: 9n, seconds: 50n }),
      reads.spent(50n, START),
    ],
  },
  {
    name: 'what was spent does not pass the largest number',
    steps: [
      ...withSession({}, { perCall: 2n ** 256n - 1n, perWindow: 2n ** 256n - 1n }),
      bySession({ nonce: 1n }, [spending('approve', 1n)], done([TRUE], [events.approval(1n)])),
      bySession({ nonce: 2n }, [spending('approve', 2n ** 256n - 1n)], WINDOW),
      bySession(
        { nonce: 2n },
        [spending('approve', 2n ** 256n - 2n)],
        done([TRUE], [events.approval(2n ** 256n - 2n)]),
      ),
      reads.spent(2n ** 256n - 1n, START, { perCall: 2n ** 256n - 1n, perWindow: 2n ** 256n - 1n }),
    ],
  },
  {
    name: 'a policy has a window and a key',
    steps: [
      deploy(),
      byOwner({ nonce: 1n }, [setPolicy({ seconds: 0n })], reverts('Spending: invalid window')),
      byOwner({ nonce: 1n }, [setPolicy({ key: 0n })], reverts('Session: invalid key')),
      reads.noPolicy(),
    ],
  },
  {
    name: 'a window below the most of a call is what counts',
    steps: [...withSession({}, { perCall: 50n, perWindow: 10n }), pay(1n, 11n, WINDOW), pay(1n, 10n)],
  },
  {
    name: 'an execution that fails gives back what its calls had spent',
    steps: [
      ...withSession({}, {}),
      bySession({ nonce: 1n }, [transfer(30n), transfer(2_000n, 'coin')], reverts('ERC20: insufficient balance')),
      reads.spent(0n, START),
      reads.balance(0n),
    ],
  },
  {
    name: 'the longest window never ends',
    steps: [
      ...withSession({}, { seconds: 2n ** 64n - 1n }),
      pay(1n, 50n),
      clock(START + 999n),
      pay(2n, 31n, WINDOW),
      pay(2n, 30n),
      reads.spent(80n, START, { seconds: 2n ** 64n - 1n }),
    ],
  },
  {
    name: 'a window of one second ends with it',
    steps: [
      ...withSession({}, { seconds: 1n }),
      pay(1n, 50n),
      pay(2n, 31n, WINDOW),
      clock(START + 1n),
      pay(2n, 50n),
      reads.spent(50n, START + 1n, { seconds: 1n }),
    ],
  },
];
