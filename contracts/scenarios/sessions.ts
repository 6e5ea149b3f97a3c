import type { Scenario } from './model.ts';
import {
  addSession,
  byOwner,
  bySession,
  clock,
  deploy,
  done,
  events,
  NO_SESSION,
  NOTHING,
  reads,
  reverts,
  spending,
  TRUE,
  transfer,
  UNTIL,
  withSession,
} from './steps.ts';

const EXPIRED = reverts('Session: expired');
const NOT_REGISTERED = reverts('Session: not registered');
const NO_CALLS_LEFT = reverts('Session: no calls left');
const paid = (amount: bigint) => done([TRUE], [events.transfer(amount)]);

/** Expiry and call limit of sessions. */
export const sessionScenarios: readonly Scenario[] = [
  {
    name: 'one signed execution is one call used, however many calls it bundles',
    steps: [
      ...withSession(),
      bySession(
        { nonce: 1n },
        [transfer(2n), transfer(3n)],
        done([TRUE, TRUE], [events.transfer(2n), events.transfer(3n)]),
      ),
      reads.session([UNTIL, 100n, 1n, 0n]),
      bySession({ nonce: 2n }, [], done([])),
      reads.session([UNTIL, 100n, 2n, 0n]),
      reads.balance(5n),
    ],
  },
  {
    name: 'a session that nobody added is not registered',
    steps: [deploy(), bySession({ nonce: 1n }, [transfer(1n)], NOT_REGISTERED), reads.session(NO_SESSION)],
  },
  {
    name: 'a session signature names the very end that is registered',
    steps: [
      ...withSession(),
      bySession({ nonce: 1n }, [transfer(1n)], NOT_REGISTERED, UNTIL + 1n),
      bySession({ nonce: 1n }, [transfer(1n)], NOT_REGISTERED, UNTIL - 1n),
      bySession({ nonce: 1n }, [transfer(1n)], NOT_REGISTERED, 0n),
      bySession({ nonce: 1n }, [transfer(1n)], reverts('Account: invalid signature'), 2n ** 64n + UNTIL),
      bySession({ nonce: 1n }, [transfer(1n)], paid(1n)),
    ],
  },
  {
    name: 'a session is good until the second before its end',
    steps: [
      ...withSession(),
      clock(UNTIL - 1n),
      bySession({ nonce: 1n }, [transfer(1n)], paid(1n)),
      clock(UNTIL),
      bySession({ nonce: 2n }, [transfer(1n)], EXPIRED),
      reads.session([UNTIL, 100n, 1n, 0n]),
    ],
  },
  {
    name: 'a session makes exactly as many executions as it may',
    steps: [
      ...withSession({ maxCalls: 2n }),
      bySession({ nonce: 1n }, [transfer(1n)], paid(1n)),
      bySession({ nonce: 2n }, [transfer(1n)], paid(1n)),
      bySession({ nonce: 3n }, [transfer(1n)], NO_CALLS_LEFT),
      reads.session([UNTIL, 2n, 2n, 0n]),
    ],
  },
  {
    name: 'a session that may make no executions makes none',
    steps: [...withSession({ maxCalls: 0n }), bySession({ nonce: 1n }, [], NO_CALLS_LEFT)],
  },
  {
    name: 'an execution that is refused uses neither a call nor its nonce',
    steps: [
      ...withSession({ allowed: ['transfer'], maxCalls: 1n }),
      bySession({ nonce: 1n }, [spending('approve', 1n)], reverts('Session: entrypoint not allowed')),
      reads.nonceFree(1n, true),
      reads.session([UNTIL, 1n, 0n, 1n]),
      bySession({ nonce: 1n }, [transfer(1n)], paid(1n)),
      reads.nonceFree(1n, false),
    ],
  },
  {
    name: 'an execution whose call fails uses neither a call nor its nonce',
    steps: [
      ...withSession({ maxCalls: 1n }),
      bySession({ nonce: 1n }, [transfer(1n), transfer(1_000n)], reverts('ERC20: insufficient balance')),
      reads.session([UNTIL, 1n, 0n, 0n]),
      bySession({ nonce: 1n }, [transfer(1_000n)], paid(1_000n)),
    ],
  },
  {
    name: 'a session is refused for its end first, then for its calls, its entrypoints and its signature',
    steps: [
      ...withSession({ maxCalls: 0n, allowed: ['approve'] }),
      bySession({ nonce: 1n, signature: { key: 'thief' } }, [transfer(1n)], NO_CALLS_LEFT),
      byOwner({ nonce: 2n }, [addSession({ allowed: ['approve'] })], done([NOTHING], [events.sessionAdded()])),
      bySession({ nonce: 1n, signature: { key: 'thief' } }, [transfer(1n)], reverts('Session: entrypoint not allowed')),
      bySession(
        { nonce: 1n, signature: { key: 'thief' } },
        [spending('approve', 1n)],
        reverts('Account: invalid signature'),
      ),
      clock(UNTIL),
      bySession({ nonce: 1n, signature: { key: 'thief' } }, [transfer(1n)], EXPIRED),
    ],
  },
];
