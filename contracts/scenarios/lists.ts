import { encodeU256, selector } from '@svc/starknet';
import { publicKeys } from './fixtures.ts';
import type { Scenario } from './model.ts';
import {
  addSession,
  byOwner,
  bySession,
  call,
  deploy,
  done,
  events,
  execution,
  NOTHING,
  reads,
  reverts,
  spending,
  TRUE,
  transfer,
  UNTIL,
  withSession,
} from './steps.ts';

const NOT_ALLOWED = reverts('Session: entrypoint not allowed');

/** Forbidden to sessions on every contract. */
const ownerEntrypoints = [
  'upgrade',
  'add_or_update_session_key',
  'revoke_session_key',
  'set_spending_policy',
  'remove_spending_policy',
  '__execute__',
  'execute_from_outside_v2',
  'set_public_key',
];

export const listScenarios: readonly Scenario[] = [
  {
    name: 'a session calls what is on its list alone, also inside a multicall',
    steps: [
      ...withSession({ allowed: ['transfer'] }),
      bySession({ nonce: 1n }, [spending('approve', 1n)], NOT_ALLOWED),
      bySession({ nonce: 1n }, [transfer(1n), spending('approve', 1n)], NOT_ALLOWED),
      bySession({ nonce: 1n }, [spending('approve', 1n), transfer(1n)], NOT_ALLOWED),
      bySession({ nonce: 1n }, [transfer(1n)], done([TRUE], [events.transfer(1n)])),
      reads.balance(1n),
    ],
  },
  {
    name: 'a list holds for every contract that has such an entrypoint',
    steps: [
      ...withSession({ allowed: ['transfer'] }),
      bySession({ nonce: 1n }, [transfer(4n, 'coin')], done([TRUE], [events.transfer(4n, 'coin')])),
      bySession({ nonce: 2n }, [spending('approve', 1n, 'coin')], NOT_ALLOWED),
    ],
  },
  {
    name: 'a new list replaces the old one, also a shorter one and an empty one',
    steps: [
      ...withSession({ allowed: ['transfer', 'approve'] }),
      byOwner({ nonce: 1n }, [addSession({ allowed: ['approve'] })], done([NOTHING], [events.sessionAdded()])),
      bySession({ nonce: 2n }, [transfer(1n)], NOT_ALLOWED),
      bySession({ nonce: 2n }, [spending('approve', 1n)], done([TRUE], [events.approval(1n)])),
      byOwner({ nonce: 3n }, [addSession()], done([NOTHING], [events.sessionAdded()])),
      bySession({ nonce: 4n }, [transfer(1n)], done([TRUE], [events.transfer(1n)])),
    ],
  },
  {
    name: 'the list of a revoked session does not come back with the session',
    steps: [
      ...withSession({ allowed: ['transfer'] }),
      byOwner(
        { nonce: 1n },
        [call('wallet', 'revoke_session_key', [publicKeys.session]), addSession({ allowed: ['approve'] })],
        done([NOTHING, NOTHING], [events.sessionRevoked(), events.sessionAdded()]),
      ),
      bySession({ nonce: 2n }, [transfer(1n)], NOT_ALLOWED),
      reads.session([UNTIL, 100n, 0n, 1n]),
    ],
  },
  {
    name: 'an empty list allows reads and writes of other contracts',
    steps: [
      ...withSession(),
      bySession(
        { nonce: 1n },
        [call('token', 'balance_of', ['wallet']), transfer(2n), call('token', 'balance_of', ['bob'])],
        done([encodeU256(1_000n), TRUE, encodeU256(2n)], [events.transfer(2n)]),
      ),
    ],
  },
  {
    name: 'a session never calls the account itself, alone or at any place of a multicall',
    steps: [
      ...withSession(),
      bySession({ nonce: 1n }, [call('wallet', 'get_public_key')], NOT_ALLOWED),
      bySession({ nonce: 1n }, [transfer(1n), call('wallet', 'get_public_key')], NOT_ALLOWED),
      bySession({ nonce: 1n }, [call('wallet', 'get_public_key'), transfer(1n)], NOT_ALLOWED),
      bySession({ nonce: 1n }, [transfer(1n), call('wallet', 'transfer', ['bob', 1n, 0n]), transfer(1n)], NOT_ALLOWED),
      bySession({ nonce: 1n }, [call('wallet', 'perform_upgrade', ['SVC class', 0n])], NOT_ALLOWED),
      reads.session([UNTIL, 100n, 0n, 0n]),
    ],
  },
  {
    name: 'a session with the account’s own entrypoints on its list does not call them on the account',
    steps: [
      ...withSession({ allowed: ['get_public_key', 'upgrade', 'transfer'] }),
      bySession({ nonce: 1n }, [call('wallet', 'get_public_key')], NOT_ALLOWED),
      bySession({ nonce: 1n }, [call('wallet', 'upgrade', ['READY class'])], NOT_ALLOWED),
      reads.owner(),
    ],
  },
  {
    name: 'a session never calls an entrypoint of the owner on any contract, though it is on its list',
    steps: [
      ...withSession({ allowed: [...ownerEntrypoints, 'transfer'] }),
      ...ownerEntrypoints.map((name) => bySession({ nonce: 1n }, [transfer(1n), call('token', name)], NOT_ALLOWED)),
      reads.nonceFree(1n, true),
    ],
  },
  {
    name: 'a session does not widen its own rights',
    steps: [
      ...withSession({ maxCalls: 1n }),
      bySession({ nonce: 1n }, [addSession({ maxCalls: 9n })], NOT_ALLOWED),
      bySession({ nonce: 1n }, [transfer(1n), addSession({ key: publicKeys.thief })], NOT_ALLOWED),
      bySession({ nonce: 1n }, [call('wallet', 'set_public_key', [publicKeys.thief])], NOT_ALLOWED),
      reads.session([UNTIL, 1n, 0n, 0n]),
      reads.session([0n, 0n, 0n, 0n], publicKeys.thief),
      reads.owner(),
    ],
  },
  {
    name: 'a session does not carry what another account of the owner signed',
    steps: [
      ...withSession(),
      deploy('other'),
      bySession(
        { nonce: 1n },
        [
          call('other', 'execute_from_outside_v2', {
            account: 'other',
            execution: execution([call('wallet', 'get_public_key')], 2n),
            signature: { key: 'owner' },
          }),
        ],
        NOT_ALLOWED,
      ),
    ],
  },
  {
    name: 'a selector that only looks like one on the list is not allowed',
    steps: [
      ...withSession({ allowed: ['transfer'] }),
      byOwner({ nonce: 1n }, [spending('approve', 9n)], done([TRUE], [events.approval(9n)])),
      bySession({ nonce: 2n }, [call('token', 'transferFrom', ['wallet', 'bob', 1n, 0n])], NOT_ALLOWED),
      bySession({ nonce: 2n }, [call('token', 'Transfer', ['bob', 1n, 0n])], NOT_ALLOWED),
      bySession({ nonce: 2n }, [call(selector('transfer') >> 8n, 'approve', ['bob', 1n, 0n])], NOT_ALLOWED),
    ],
  },
];
