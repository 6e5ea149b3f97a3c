import { publicKeys, START } from './fixtures.ts';
import type { Felt, Outcome, Scenario, Step } from './model.ts';
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
  read,
  reads,
  reverts,
  TRUE,
  transfer,
  UNTIL,
  withSession,
} from './steps.ts';

const upgrade = (to: Felt) => call('wallet', 'upgrade', [to]);
const upgraded = done([NOTHING], [events.upgraded('SVC class')]);

/** READY's events on deployment are ignored. */
function deployReady(guardian: readonly Felt[]): Step {
  const calldata = [0n, publicKeys.owner, ...guardian];
  return { kind: 'deploy', as: 'wallet', of: 'READY class', calldata, outcome: { succeeds: [], events: [] } };
}
const NO_GUARDIAN = [1n];
const GUARDIAN = [0n, 0n, publicKeys.second];

/** READY passes data of the owner to the new class. */
function fromReady(data: readonly Felt[], outcome: Outcome): Step {
  const handOver = call('wallet', 'upgrade', ['SVC class', BigInt(data.length), ...data]);
  return { kind: 'call', sender: 'wallet', call: handOver, outcome };
}

export const upgradeScenarios: readonly Scenario[] = [
  {
    name: 'an upgrade never leads to nothing',
    steps: [
      deploy(),
      byOwner({ nonce: 1n }, [upgrade(0n)], reverts('Account: invalid class hash')),
      byOwner({ nonce: 1n }, [upgrade(0xdeadn)], { fails: 'by the system' }),
      reads.owner(),
      byOwner({ nonce: 1n }, [transfer(1n)], done([TRUE], [events.transfer(1n)])),
    ],
  },
  {
    name: 'an upgrade leads to another class, whose words are then the account’s',
    steps: [
      deploy(),
      byOwner({ nonce: 1n }, [upgrade('READY class')], done([NOTHING], [events.upgraded('READY class')])),
      { ...read('wallet', 'get_owner', [], []), outcome: reverts('argent/owner-not-found') },
      { ...reads.owner(), outcome: reverts('ENTRYPOINT_NOT_FOUND') },
      reads.balance(1_000n, 'wallet'),
    ],
  },
  {
    name: 'an upgrade is taken back with the multicall that it is in',
    steps: [
      deploy(),
      byOwner({ nonce: 1n }, [upgrade('READY class'), transfer(5_000n)], reverts('ERC20: insufficient balance')),
      reads.owner(),
    ],
  },
  {
    name: 'an upgrade to the same class keeps owner, sessions, policies and spent nonces',
    steps: [
      ...withSession({ allowed: ['transfer'] }, {}),
      bySession({ nonce: 1n }, [transfer(50n)], done([TRUE], [events.transfer(50n)])),
      byOwner({ nonce: 2n }, [upgrade('SVC class')], upgraded),
      reads.session([UNTIL, 100n, 1n, 1n]),
      reads.spent(50n, START),
      bySession({ nonce: 1n }, [transfer(1n)], reverts('SRC9: duplicated nonce')),
      bySession({ nonce: 3n }, [transfer(31n)], reverts('Spending: exceeds window limit')),
    ],
  },
  {
    name: 'a READY account becomes an SVC account and keeps its owner',
    steps: [
      deployReady(NO_GUARDIAN),
      fromReady([], { succeeds: [], events: [events.upgraded('SVC class')] }),
      reads.owner(),
      byOwner(
        { nonce: 2n },
        [addSession(), transfer(5n)],
        done([NOTHING, TRUE], [events.sessionAdded(), events.transfer(5n)]),
      ),
      bySession({ nonce: 3n }, [transfer(1n)], done([TRUE], [events.transfer(1n)])),
      reads.balance(994n, 'wallet'),
    ],
  },
  {
    name: 'a READY account that two keys guard stays what it is',
    steps: [
      deployReady(GUARDIAN),
      fromReady([], reverts('Account: guardian is set')),
      read('wallet', 'get_owner', [], [publicKeys.owner]),
    ],
  },
  {
    name: 'a READY account is not upgraded with data that nobody would obey',
    steps: [
      deployReady(NO_GUARDIAN),
      fromReady([7n], reverts('Account: unexpected data')),
      read('wallet', 'get_owner', [], [publicKeys.owner]),
    ],
  },
  {
    name: 'a READY account is upgraded by itself alone',
    steps: [
      deployReady(NO_GUARDIAN),
      {
        kind: 'call',
        sender: 'stranger',
        call: call('wallet', 'upgrade', ['SVC class', 0n]),
        outcome: reverts('argent/only-self'),
      },
      read('wallet', 'get_owner', [], [publicKeys.owner]),
    ],
  },
  {
    name: 'what makes an SVC account of READY does nothing to one that is',
    steps: [
      deploy(),
      byOwner(
        { nonce: 1n },
        [call('wallet', 'perform_upgrade', ['SVC class', 0n])],
        reverts('Account: no legacy owner'),
      ),
      clock(START + 1n),
      reads.owner(),
    ],
  },
];
