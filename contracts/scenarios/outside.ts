import { ANY_CALLER, encodeU256 } from '@svc/starknet';
import { publicKeys, START } from './fixtures.ts';
import type { Outcome, Scenario } from './model.ts';
import { addSession, byOwner, call, clock, deploy, done, events, reads, reverts, TRUE, transfer } from './steps.ts';

const INVALID_SIGNATURE = reverts('Account: invalid signature');
const DUPLICATED = reverts('SRC9: duplicated nonce');
const EARLY = reverts('SRC9: now <= execute_after');
const LATE = reverts('SRC9: now >= execute_before');
const INVALID_CALLER = reverts('SRC9: invalid caller');
const paid = (amount: bigint): Outcome => done([TRUE], [events.transfer(amount)]);

/** Window, caller and nonce of outside executions. */
export const outsideScenarios: readonly Scenario[] = [
  {
    name: 'calls run in their order, and each answers',
    steps: [
      deploy(),
      byOwner(
        { nonce: 1n },
        [transfer(3n), call('token', 'balance_of', ['bob']), transfer(4n, 'coin'), call('wallet', 'get_public_key')],
        done([TRUE, encodeU256(3n), TRUE, [publicKeys.owner]], [events.transfer(3n), events.transfer(4n, 'coin')]),
      ),
      reads.balance(997n, 'wallet'),
    ],
  },
  {
    name: 'an execution may have no calls, as for a new wallet',
    steps: [deploy(), byOwner({ nonce: 0n }, [], done([])), reads.nonceFree(0n, false)],
  },
  {
    name: 'an execution runs once, whichever of its two signatures comes with it',
    steps: [
      deploy(),
      reads.nonceFree(7n, true),
      byOwner({ nonce: 7n }, [transfer(1n)], paid(1n)),
      reads.nonceFree(7n, false),
      byOwner({ nonce: 7n }, [transfer(1n)], DUPLICATED),
      byOwner({ nonce: 7n, signature: { shape: 'negated' } }, [transfer(1n)], DUPLICATED),
      byOwner({ nonce: 7n, sender: 'stranger' }, [transfer(2n)], DUPLICATED),
      reads.balance(1n),
    ],
  },
  {
    name: 'an execution runs after its first second and before its last',
    steps: [
      deploy(),
      byOwner({ nonce: 1n, after: START, before: START + 10n }, [transfer(1n)], EARLY),
      clock(START + 1n),
      byOwner({ nonce: 1n, after: START, before: START + 10n }, [transfer(1n)], paid(1n)),
      clock(START + 9n),
      byOwner({ nonce: 2n, after: START, before: START + 10n }, [transfer(1n)], paid(1n)),
      clock(START + 10n),
      byOwner({ nonce: 3n, after: START, before: START + 10n }, [transfer(1n)], LATE),
      reads.nonceFree(3n, true),
    ],
  },
  {
    name: 'an execution with no second between its ends never runs',
    steps: [
      deploy(),
      byOwner({ nonce: 1n, after: START, before: START + 1n }, [], EARLY),
      clock(START + 1n),
      byOwner({ nonce: 1n, after: START, before: START + 1n }, [], LATE),
    ],
  },
  {
    name: 'an execution is sent by the caller that it names',
    steps: [
      deploy(),
      byOwner({ nonce: 1n, caller: 'relayer', sender: 'stranger' }, [transfer(1n)], INVALID_CALLER),
      byOwner({ nonce: 1n, caller: 'relayer' }, [transfer(1n)], paid(1n)),
      byOwner({ nonce: 2n, caller: 0n }, [transfer(1n)], INVALID_CALLER),
      byOwner({ nonce: 2n, caller: ANY_CALLER, sender: 'stranger' }, [transfer(1n)], paid(1n)),
    ],
  },
  {
    name: 'one failing call takes back all, the nonce included',
    steps: [
      deploy(),
      byOwner({ nonce: 1n }, [transfer(1n), transfer(5_000n), transfer(2n)], reverts('ERC20: insufficient balance')),
      byOwner({ nonce: 1n }, [transfer(1n), addSession({ until: START })], reverts('Session: expired')),
      reads.balance(0n),
      reads.nonceFree(1n, true),
    ],
  },
  {
    name: 'a call of an entrypoint that is not there fails all',
    steps: [
      deploy(),
      byOwner({ nonce: 1n }, [transfer(1n), call('token', 'no_such_entrypoint')], reverts('ENTRYPOINT_NOT_FOUND')),
      reads.balance(0n),
    ],
  },
  {
    name: 'a call of a contract that is not there fails all',
    steps: [
      deploy(),
      byOwner({ nonce: 1n }, [transfer(1n), call(0xdeadn, 'transfer')], { fails: 'by the system' }),
      reads.balance(0n),
    ],
  },
  {
    name: 'an execution is refused for its caller first, then for its time, its nonce and its signature',
    steps: [
      deploy(),
      byOwner({ nonce: 1n }, [], done([])),
      byOwner({ nonce: 1n, caller: 'stranger', after: START, signature: { key: 'thief' } }, [], INVALID_CALLER),
      byOwner({ nonce: 1n, after: START, before: START, signature: { key: 'thief' } }, [], EARLY),
      byOwner({ nonce: 1n, before: START, signature: { key: 'thief' } }, [], LATE),
      byOwner({ nonce: 1n, signature: { key: 'thief' } }, [], DUPLICATED),
      byOwner({ nonce: 2n, signature: { key: 'thief' } }, [], INVALID_SIGNATURE),
    ],
  },
  {
    name: 'an execution that is not one is refused before anything is asked',
    steps: [
      deploy(),
      ...[[], [ANY_CALLER, 1n, 2n ** 64n, 0n, 0n, 0n], [2n ** 251n, 1n, 0n, 1n, 0n, 0n]].map((calldata) => ({
        kind: 'call' as const,
        sender: 'stranger' as const,
        call: call('wallet', 'execute_from_outside_v2', calldata),
        outcome: reverts('Failed to deserialize param #1'),
      })),
      {
        kind: 'call',
        sender: 'stranger',
        call: call('wallet', 'execute_from_outside_v2', [ANY_CALLER, 1n, 0n, START + 1n, 0n, 2n, 1n]),
        // Cairo reads a span of felts as a slice of the calldata, which is too short.
        outcome: reverts('Index out of bounds'),
      },
      {
        kind: 'call',
        sender: 'stranger',
        call: call('wallet', 'execute_from_outside_v2', [ANY_CALLER, 1n, 0n, START + 1n, 0n, 0n, 0n]),
        outcome: reverts('Input too long for arguments'),
      },
    ],
  },
];
