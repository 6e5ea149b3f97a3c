import { CURVE_ORDER, interfaceIds, sign, starkKey, VALID } from '@svc/starknet';
import { privateKeys, publicKeys } from './fixtures.ts';
import type { Felt, Scenario, Step } from './model.ts';
import {
  addSession,
  byOwner,
  call,
  deploy,
  done,
  events,
  NOTHING,
  read,
  reads,
  refused,
  removePolicy,
  reverts,
  revoke,
  session,
  setPolicy,
  TRUE,
  transaction,
  transfer,
  UNTIL,
  withSession,
} from './steps.ts';

const INVALID_SIGNATURE = refused('Account: invalid signature');
const HASH = 0x1234567890abcdefn;
const { r, s } = sign(HASH, privateKeys.owner);
const bySessionKey = sign(HASH, privateKeys.session);

/** The owner signs this hash with s = 1, so that s and s + order are both felts. */
const small = (() => {
  const k = 0x5ca1en;
  const rOfK = starkKey(k);
  const product = (rOfK * privateKeys.owner) % CURVE_ORDER;
  return { r: rOfK, hash: (k - product + CURVE_ORDER) % CURVE_ORDER };
})();

function strange(entrypoint: string, calldata: readonly Felt[], reason: string, onNode = reason): Step {
  const outcome = reverts(reason, onNode);
  return { kind: 'call', sender: 'stranger', call: call('wallet', entrypoint, calldata), outcome };
}

const asked = (signature: readonly bigint[], valid: boolean, hash = HASH) =>
  read('wallet', 'is_valid_signature', [hash, BigInt(signature.length), ...signature], [valid ? VALID : 0n]);

export const ownerScenarios: readonly Scenario[] = [
  {
    name: 'an account does not come into being without a key',
    steps: [{ ...deploy(), outcome: reverts('Account: invalid public key') } as Step].map((step) =>
      step.kind === 'deploy' ? { ...step, calldata: [0n] } : step,
    ),
  },
  {
    name: 'what is the owner’s is for the account itself alone',
    steps: [
      ...withSession({}, {}),
      ...[addSession(), revoke(), setPolicy(), removePolicy()].map(({ entrypoint, calldata }) =>
        strange(entrypoint, calldata as Felt[], 'Account: unauthorized'),
      ),
      strange('set_public_key', [publicKeys.thief], 'Account: unauthorized'),
      strange('upgrade', ['READY class'], 'Account: unauthorized'),
      strange('perform_upgrade', ['READY class', 0n], 'Account: unauthorized'),
      strange('__execute__', [0n], 'Account: invalid caller', 'Invalid argument'),
      reads.session([UNTIL, 100n, 0n, 0n]),
      reads.owner(),
    ],
  },
  {
    name: 'a new owner signs, and the old one no more',
    steps: [
      deploy(),
      byOwner(
        { nonce: 1n },
        [call('wallet', 'set_public_key', [publicKeys.second])],
        done([NOTHING], [events.ownerRemoved(publicKeys.owner), events.ownerAdded(publicKeys.second)]),
      ),
      reads.owner(publicKeys.second),
      byOwner({ nonce: 2n }, [transfer(1n)], reverts('Account: invalid signature')),
      transaction([transfer(1n)], INVALID_SIGNATURE),
      byOwner({ nonce: 2n, signature: { key: 'second' } }, [transfer(1n)], done([TRUE], [events.transfer(1n)])),
    ],
  },
  {
    name: 'the owner is never nobody, and never the key of a session',
    steps: [
      ...withSession(),
      byOwner({ nonce: 1n }, [call('wallet', 'set_public_key', [0n])], reverts('Account: invalid public key')),
      byOwner({ nonce: 1n }, [call('wallet', 'set_public_key', [session])], reverts('Account: invalid public key')),
      reads.owner(),
      byOwner(
        { nonce: 1n },
        [revoke(), call('wallet', 'set_public_key', [session])],
        done(
          [NOTHING, NOTHING],
          [events.sessionRevoked(), events.ownerRemoved(publicKeys.owner), events.ownerAdded(session)],
        ),
      ),
      reads.owner(session),
    ],
  },
  {
    name: 'sessions and policies outlive a change of the owner',
    steps: [
      ...withSession({}, {}),
      byOwner(
        { nonce: 1n },
        [call('wallet', 'set_public_key', [publicKeys.second])],
        done([NOTHING], [events.ownerRemoved(publicKeys.owner), events.ownerAdded(publicKeys.second)]),
      ),
      reads.session([UNTIL, 100n, 0n, 0n]),
    ],
  },
  {
    name: 'an account says which interfaces it has',
    steps: [
      deploy(),
      ...(
        [
          [interfaceIds.SRC5, 1n],
          [interfaceIds.SRC6, 1n],
          [interfaceIds.OUTSIDE_EXECUTION_V2, 1n],
          [interfaceIds.OUTSIDE_EXECUTION_V1, 0n],
          [0n, 0n],
          [0xffffffffn, 0n],
        ] as const
      ).map(([id, has]) => read('wallet', 'supports_interface', [id], [has])),
    ],
  },
  {
    name: 'the owner’s signature of a message is valid, and nothing else is',
    steps: [
      ...withSession(),
      asked([r, s], true),
      asked([r, CURVE_ORDER - s], true),
      asked([r, s], false, HASH + 1n),
      asked([s, r], false),
      asked([], false),
      asked([r], false),
      asked([r, s, 0n], false),
      asked([0n, 0n], false),
      asked([r, 0n], false),
      asked([r, CURVE_ORDER], false),
      asked([bySessionKey.r, bySessionKey.s], false),
      asked([session, bySessionKey.r, bySessionKey.s, UNTIL], false),
    ],
  },
  {
    name: 'a signature is of numbers below the order of the curve',
    steps: [deploy(), asked([small.r, 1n], true, small.hash), asked([small.r, CURVE_ORDER + 1n], false, small.hash)],
  },
  {
    name: 'the owner sends transactions of the account, which are atomic',
    steps: [
      deploy(),
      transaction([transfer(1n), transfer(2n)], done([TRUE, TRUE], [events.transfer(1n), events.transfer(2n)])),
      transaction([transfer(1n), transfer(5_000n)], reverts('ERC20: insufficient balance')),
      transaction([addSession()], done([NOTHING], [events.sessionAdded()])),
      reads.balance(3n),
      reads.session([UNTIL, 100n, 0n, 0n]),
    ],
  },
  {
    name: 'a transaction of the account is its owner’s alone',
    steps: [
      deploy(),
      transaction([transfer(1n)], INVALID_SIGNATURE, { key: 'thief' }),
      transaction([transfer(1n)], INVALID_SIGNATURE, { key: 'owner', shape: 'long' }),
      transaction([transfer(1n)], INVALID_SIGNATURE, { key: 'owner', shape: 'empty' }),
      transaction([transfer(1n)], done([TRUE], [events.transfer(1n)]), { key: 'owner', shape: 'negated' }),
    ],
  },
  {
    name: 'a session signs no transaction of the account, whose fee no policy bounds',
    steps: [
      ...withSession(),
      transaction([transfer(1n)], INVALID_SIGNATURE, { key: 'session', session: { key: session, validUntil: UNTIL } }),
      transaction([transfer(1n)], INVALID_SIGNATURE, { key: 'session' }),
      reads.session([UNTIL, 100n, 0n, 0n]),
    ],
  },
];
