import { publicKeys } from './fixtures.ts';
import type { Place, Scenario, ScenarioCall, Signature } from './model.ts';
import {
  addSession,
  byOwner,
  call,
  deploy,
  done,
  events,
  execution,
  NOTHING,
  reads,
  reverts,
  transfer,
  UNTIL,
  withSession,
} from './steps.ts';

const DUPLICATED = reverts('SRC9: duplicated nonce');

/** A signed execution of one account as a call of another. */
function carried(account: Place, nonce: bigint, calls: readonly ScenarioCall[]): ScenarioCall {
  const signature: Signature = { key: 'owner' };
  return call(account, 'execute_from_outside_v2', { account, execution: execution(calls, nonce), signature });
}

function sessionCarried(nonce: bigint, calls: readonly ScenarioCall[]): ScenarioCall {
  const signature: Signature = { key: 'session', session: { key: publicKeys.session, validUntil: UNTIL } };
  return call('wallet', 'execute_from_outside_v2', {
    account: 'wallet',
    execution: execution(calls, nonce),
    signature,
  });
}

/** Nested executions. */
export const nestedScenarios: readonly Scenario[] = [
  {
    name: 'an account carries what another one signed',
    steps: [
      deploy(),
      deploy('other'),
      byOwner(
        { nonce: 1n, account: 'other' },
        [carried('wallet', 1n, [transfer(6n)])],
        done([[1n, 1n, 1n]], [events.transfer(6n)]),
      ),
      reads.balance(6n),
      reads.nonceFree(1n, false),
    ],
  },
  {
    name: 'a call that comes back in finds the nonce spent',
    steps: [
      deploy(),
      deploy('other'),
      byOwner({ nonce: 1n }, [carried('other', 1n, [carried('wallet', 1n, [transfer(6n)])])], DUPLICATED),
      reads.nonceFree(1n, true),
      byOwner(
        { nonce: 1n },
        [carried('other', 1n, [carried('wallet', 2n, [transfer(6n)])])],
        done([[1n, 3n, 1n, 1n, 1n]], [events.transfer(6n)]),
      ),
    ],
  },
  {
    name: 'a call that comes back in is not the account',
    steps: [
      deploy(),
      deploy('other'),
      byOwner(
        { nonce: 1n },
        [carried('other', 1n, [call('wallet', 'upgrade', ['READY class'])])],
        reverts('Account: unauthorized'),
      ),
      byOwner({ nonce: 1n }, [carried('other', 1n, [addSession()])], reverts('Account: unauthorized')),
      byOwner(
        { nonce: 1n },
        [carried('other', 1n, [call('wallet', '__execute__', [0n])])],
        reverts('Account: invalid caller', 'Invalid argument'),
      ),
      reads.session([0n, 0n, 0n, 0n]),
    ],
  },
  {
    name: 'a session that is used from within is counted',
    steps: [
      ...withSession({ maxCalls: 1n }),
      byOwner(
        { nonce: 1n },
        [sessionCarried(2n, [transfer(6n)]), sessionCarried(3n, [transfer(6n)])],
        reverts('Session: no calls left'),
      ),
      byOwner({ nonce: 1n }, [sessionCarried(2n, [transfer(6n)])], done([[1n, 1n, 1n]], [events.transfer(6n)])),
      reads.session([UNTIL, 1n, 1n, 0n]),
    ],
  },
  {
    name: 'a session that is revoked in the same execution signs no more',
    steps: [
      ...withSession(),
      byOwner(
        { nonce: 1n },
        [call('wallet', 'revoke_session_key', [publicKeys.session]), sessionCarried(2n, [transfer(6n)])],
        reverts('Session: not registered'),
      ),
      byOwner(
        { nonce: 1n },
        [sessionCarried(2n, [transfer(6n)]), call('wallet', 'revoke_session_key', [publicKeys.session])],
        done([[1n, 1n, 1n], NOTHING], [events.transfer(6n), events.sessionRevoked()]),
      ),
    ],
  },
];
