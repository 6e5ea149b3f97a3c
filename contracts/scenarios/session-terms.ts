import { selector } from '@svc/starknet';
import { publicKeys, START } from './fixtures.ts';
import type { Scenario } from './model.ts';
import {
  addSession,
  byOwner,
  bySession,
  deploy,
  done,
  events,
  NO_SESSION,
  NOTHING,
  read,
  reads,
  reverts,
  revoke,
  second,
  session,
  spending,
  TRUE,
  transfer,
  UNTIL,
  withSession,
} from './steps.ts';

const EXPIRED = reverts('Session: expired');
const NOT_REGISTERED = reverts('Session: not registered');
const INVALID_KEY = reverts('Session: invalid key');
const paid = (amount: bigint) => done([TRUE], [events.transfer(amount)]);
const approved = (amount: bigint) => done([TRUE], [events.approval(amount)]);

/** Terms of a new or updated session. */
export const sessionTermScenarios: readonly Scenario[] = [
  {
    name: 'a revoked session is not registered, and nothing is left to read of it',
    steps: [
      ...withSession({ allowed: ['transfer'] }),
      byOwner({ nonce: 1n }, [revoke()], done([NOTHING], [events.sessionRevoked()])),
      bySession({ nonce: 2n }, [transfer(1n)], NOT_REGISTERED),
      bySession({ nonce: 2n }, [transfer(1n)], NOT_REGISTERED, 0n),
      reads.session(NO_SESSION),
      {
        ...read('wallet', 'get_session_allowed_entrypoint_at', [session, 0n], []),
        outcome: reverts('Index out of bounds'),
      },
    ],
  },
  {
    name: 'revoking a key that nobody added says so and changes nothing',
    steps: [
      deploy(),
      byOwner({ nonce: 1n }, [revoke(second)], done([NOTHING], [events.sessionRevoked(second)])),
      reads.session(NO_SESSION, second),
    ],
  },
  {
    name: 'a session that is added again starts anew, with its new end and its calls unused',
    steps: [
      ...withSession({ maxCalls: 1n }),
      bySession({ nonce: 1n }, [transfer(1n)], paid(1n)),
      byOwner(
        { nonce: 2n },
        [addSession({ maxCalls: 1n, until: UNTIL + 5n })],
        done([NOTHING], [events.sessionAdded({ maxCalls: 1n, until: UNTIL + 5n })]),
      ),
      reads.session([UNTIL + 5n, 1n, 0n, 0n]),
      bySession({ nonce: 3n }, [transfer(1n)], NOT_REGISTERED),
      bySession({ nonce: 3n }, [transfer(1n)], paid(1n), UNTIL + 5n),
    ],
  },
  {
    name: 'sessions have their own ends, calls and lists',
    steps: [
      ...withSession({ maxCalls: 1n, allowed: ['transfer'] }),
      byOwner(
        { nonce: 1n },
        [addSession({ key: second, until: UNTIL + 9n })],
        done([NOTHING], [events.sessionAdded({ key: second, until: UNTIL + 9n })]),
      ),
      bySession({ nonce: 2n }, [transfer(1n)], paid(1n)),
      reads.session([UNTIL + 9n, 100n, 0n, 0n], second),
      bySession(
        { nonce: 3n, signature: { key: 'second', session: { key: second, validUntil: UNTIL + 9n } } },
        [spending('approve', 7n)],
        approved(7n),
      ),
      reads.session([UNTIL, 1n, 1n, 1n]),
    ],
  },
  {
    name: 'a session is not added without a key, nor with the key of the owner',
    steps: [
      deploy(),
      byOwner({ nonce: 1n }, [addSession({ key: 0n })], INVALID_KEY),
      byOwner({ nonce: 1n }, [addSession({ key: publicKeys.owner })], INVALID_KEY),
      byOwner({ nonce: 1n }, [addSession({ key: 0n, until: START })], INVALID_KEY),
      reads.nonceFree(1n, true),
    ],
  },
  {
    name: 'a session is not added with an end that has come',
    steps: [
      deploy(),
      byOwner({ nonce: 1n }, [addSession({ until: START })], EXPIRED),
      byOwner({ nonce: 1n }, [addSession({ until: 0n })], EXPIRED),
      byOwner(
        { nonce: 1n },
        [addSession({ until: START + 1n })],
        done([NOTHING], [events.sessionAdded({ until: START + 1n })]),
      ),
      bySession({ nonce: 2n }, [], done([]), START + 1n),
    ],
  },
  {
    name: 'an end has 64 bits, and calls have 32',
    steps: [
      deploy(),
      byOwner({ nonce: 1n }, [addSession({ until: 2n ** 64n })], reverts('Failed to deserialize param #2')),
      byOwner({ nonce: 1n }, [addSession({ maxCalls: 2n ** 32n })], reverts('Failed to deserialize param #3')),
      byOwner(
        { nonce: 1n },
        [addSession({ until: 2n ** 64n - 1n, maxCalls: 2n ** 32n - 1n })],
        done([NOTHING], [events.sessionAdded({ until: 2n ** 64n - 1n, maxCalls: 2n ** 32n - 1n })]),
      ),
      bySession({ nonce: 2n }, [transfer(1n)], paid(1n), 2n ** 64n - 1n),
    ],
  },
  {
    name: 'the list of a session can be read back, and not past its end',
    steps: [
      ...withSession({ allowed: ['transfer', 'approve', 'transfer'] }),
      reads.session([UNTIL, 100n, 0n, 3n]),
      read('wallet', 'get_session_allowed_entrypoint_at', [session, 1n], [selector('approve')]),
      read('wallet', 'get_session_allowed_entrypoint_at', [session, 2n], [selector('transfer')]),
      {
        ...read('wallet', 'get_session_allowed_entrypoint_at', [session, 3n], []),
        outcome: reverts('Index out of bounds'),
      },
    ],
  },
];
