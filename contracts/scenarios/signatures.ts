import { chainIds } from '@svc/starknet';
import { START } from './fixtures.ts';
import type { Outcome, Scenario, Shape } from './model.ts';
import {
  byOwner,
  bySession,
  call,
  deploy,
  done,
  events,
  execution,
  reads,
  reverts,
  TRUE,
  transfer,
  UNTIL,
  withSession,
} from './steps.ts';

const INVALID_SIGNATURE = reverts('Account: invalid signature');
const DUPLICATED = reverts('SRC9: duplicated nonce');
const paid = (amount: bigint): Outcome => done([TRUE], [events.transfer(amount)]);
const broken: readonly Shape[] = ['empty', 'short', 'long', 'zero s', 'large s'];

export const signatureScenarios: readonly Scenario[] = [
  {
    name: 'the other of two signatures is as good as the first',
    steps: [
      ...withSession(),
      byOwner({ nonce: 1n, signature: { shape: 'negated' } }, [transfer(1n)], paid(1n)),
      bySession({ nonce: 2n, signature: { shape: 'negated' } }, [transfer(1n)], paid(1n)),
      bySession({ nonce: 2n }, [transfer(1n)], DUPLICATED),
    ],
  },
  {
    name: 'an execution is worth nothing on another chain',
    steps: [
      ...withSession(),
      byOwner({ nonce: 1n, signature: { chainId: chainIds.SN_MAIN } }, [transfer(1n)], INVALID_SIGNATURE),
      bySession({ nonce: 1n, signature: { chainId: chainIds.SN_MAIN } }, [transfer(1n)], INVALID_SIGNATURE),
      reads.nonceFree(1n, true),
    ],
  },
  {
    name: 'an execution is worth nothing for another account of the same owner',
    steps: [
      deploy(),
      deploy('other'),
      byOwner({ nonce: 1n, signature: { account: 'other' } }, [transfer(1n)], INVALID_SIGNATURE),
      byOwner({ nonce: 1n, account: 'other', signature: { account: 'wallet' } }, [], INVALID_SIGNATURE),
      byOwner({ nonce: 1n, account: 'other' }, [], done([])),
      byOwner({ nonce: 1n }, [transfer(1n)], paid(1n)),
    ],
  },
  {
    name: 'nothing of what was signed can be changed',
    steps: [
      deploy(),
      ...[
        execution([transfer(2n)], 1n),
        execution([transfer(1n, 'coin')], 1n),
        execution([call('token', 'approve', ['bob', 1n, 0n])], 1n),
        execution([call('token', 'transfer', ['stranger', 1n, 0n])], 1n),
        execution([], 1n),
        execution([transfer(1n), transfer(1n)], 1n),
        execution([transfer(1n)], 2n),
        execution([transfer(1n)], 1n, { caller: 'relayer' }),
        execution([transfer(1n)], 1n, { after: 0n }),
        execution([transfer(1n)], 1n, { before: START + 9_999n }),
      ].map((instead) => byOwner({ nonce: 1n, signature: { instead } }, [transfer(1n)], INVALID_SIGNATURE)),
      reads.balance(0n),
    ],
  },
  {
    name: 'a thief signs for nobody',
    steps: [
      ...withSession(),
      byOwner({ nonce: 1n, signature: { key: 'thief' } }, [transfer(1n)], INVALID_SIGNATURE),
      byOwner({ nonce: 1n, signature: { key: 'session' } }, [transfer(1n)], INVALID_SIGNATURE),
      bySession({ nonce: 1n, signature: { key: 'thief' } }, [transfer(1n)], INVALID_SIGNATURE),
      bySession({ nonce: 1n, signature: { key: 'owner' } }, [transfer(1n)], INVALID_SIGNATURE),
      reads.nonceFree(1n, true),
    ],
  },
  {
    name: 'a signature that is not one is refused, of the owner',
    steps: [
      deploy(),
      ...broken.map((shape) => byOwner({ nonce: 1n, signature: { shape } }, [transfer(1n)], INVALID_SIGNATURE)),
    ],
  },
  {
    name: 'a signature that is not one is refused, of a session',
    steps: [
      ...withSession(),
      ...broken.map((shape) => bySession({ nonce: 1n, signature: { shape } }, [transfer(1n)], INVALID_SIGNATURE)),
      reads.session([UNTIL, 100n, 0n, 0n]),
    ],
  },
];
