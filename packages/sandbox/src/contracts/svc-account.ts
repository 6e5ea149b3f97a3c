import {
  type Call,
  classes,
  decodeSessionSignature,
  outsideExecutionHash,
  type SessionSignature,
  starknetKeccak,
  UNREPAIRED_SVC_CLASS,
  VALID,
  verify,
  type WalletClass,
  walletClass,
} from '@svc/starknet';
import {
  admitOutsideExecution,
  calls,
  executeAll,
  executeEach,
  outsideExecution,
  outsideNonces,
  readOutsideExecution,
  requireProtocol,
  requireSelf,
  results,
} from './calls.ts';
import { bool, classHash, felt, require, span } from './codec.ts';
import {
  action,
  type Contract,
  type ContractFunction,
  contract,
  event,
  external,
  type Frame,
  key,
  view,
} from './contract.ts';
import { readyGuardian, readyOwner } from './ready-account.ts';
import { OwnerAdded, OwnerRemoved, ownerFunctions, ownerKey, requireOwnerSignature, setOwner } from './svc-owner.ts';
import { policyFunctions, SpendingPolicyRemoved, SpendingPolicySet, spend } from './svc-policies.ts';
import {
  isRegistered,
  requireSession,
  SessionKeyAdded,
  SessionKeyRevoked,
  sessionFunctions,
  useSession,
} from './svc-sessions.ts';

export const Upgraded = event('Upgraded', { class_hash: key(classHash) });

async function replaceClass(frame: Frame, newClass: bigint): Promise<void> {
  require(newClass !== 0n, 'Account: invalid class hash');
  await frame.replaceClass(newClass);
  Upgraded.emit(frame, { class_hash: newClass });
}

export const upgrade = action('upgrade', { new_class_hash: classHash }, async (frame, { new_class_hash }) => {
  requireSelf(frame);
  await replaceClass(frame, new_class_hash);
});

/** Runs over the storage of a READY account when its owner upgrades it to SVC. */
export const performUpgrade = action(
  'perform_upgrade',
  { new_implementation: classHash, data: span(felt) },
  async (frame, { new_implementation, data }) => {
    requireSelf(frame);
    const owner = await readyOwner.read(frame);
    require(owner !== 0n, 'Account: no legacy owner');
    // An account with two keys must not end up with one.
    require((await readyGuardian.read(frame)) === 0n, 'Account: guardian is set');
    // Calls that the owner signed; they must not be dropped silently.
    require(data.length === 0, 'Account: unexpected data');
    await ownerKey.write(frame, owner);
    await readyOwner.write(frame, 0n);
    await replaceClass(frame, new_implementation);
  },
);

/** A session key as owner key would lift the session's limits: both sign the same hashes. */
export function setPublicKey({ current }: WalletClass): ContractFunction {
  return action('set_public_key', { new_public_key: felt }, async (frame, { new_public_key }) => {
    requireSelf(frame);
    require(!current || !(await isRegistered(frame, new_public_key)), 'Account: invalid public key');
    OwnerRemoved.emit(frame, { removed_owner_guid: await ownerKey.read(frame) });
    await setOwner(frame, new_public_key);
  });
}

const OUTSIDE_TEXTS = {
  caller: 'SRC9: invalid caller',
  early: 'SRC9: now <= execute_after',
  late: 'SRC9: now >= execute_before',
  duplicate: 'SRC9: duplicated nonce',
};
const SESSION_SIGNATURE_LENGTH = 4;

function sessionOf(signature: readonly bigint[]): SessionSignature | undefined {
  return signature.length === SESSION_SIGNATURE_LENGTH ? decodeSessionSignature(signature) : undefined;
}

async function authorize(frame: Frame, hash: bigint, signature: readonly bigint[], list: readonly Call[]) {
  const session = sessionOf(signature);
  if (!session) {
    await requireOwnerSignature(frame, hash, signature);
    return undefined;
  }
  await requireSession(frame, session, list);
  require(verify(hash, session.sessionKey, session.r, session.s), 'Account: invalid signature');
  return session;
}

async function requireOwner(frame: Frame): Promise<bigint> {
  await requireOwnerSignature(frame, frame.transaction.hash, frame.transaction.signature);
  return VALID;
}

/** The classes differ in policies, in atomicity of multicalls, and in who may sign transactions. */
function executionFunctions(known: WalletClass): ContractFunction[] {
  const execute = known.atomicMulticall ? executeAll : executeEach;
  const charge = async (frame: Frame, { sessionKey }: SessionSignature, list: readonly Call[]) => {
    await useSession(frame, sessionKey);
    if (known.policies) await spend(frame, sessionKey, list, known.current);
  };
  return [
    ...(known.current ? ownerTransactions : ownerOrSessionTransactions(execute, charge)),
    external(
      'execute_from_outside_v2',
      { outside_execution: outsideExecution, signature: span(felt) },
      results,
      async (frame, { outside_execution, signature }) => {
        const execution = readOutsideExecution(outside_execution);
        await admitOutsideExecution(frame, execution, OUTSIDE_TEXTS);
        const hash = outsideExecutionHash(2, execution, frame.address, frame.block.chainId);
        const session = await authorize(frame, hash, signature, execution.calls);
        if (session) await charge(frame, session, execution.calls);
        return execute(frame, execution.calls);
      },
    ),
  ];
}

/** Sessions work only from outside: the account itself would pay a price that no session limit bounds. */
const ownerTransactions: readonly ContractFunction[] = [
  external('__validate__', { calls }, felt, requireOwner),
  external('__execute__', { calls }, results, (frame, args) => {
    requireProtocol(frame);
    return executeAll(frame, args.calls);
  }),
];

type Execute = typeof executeAll;
type Charge = (frame: Frame, session: SessionSignature, list: readonly Call[]) => Promise<void>;

function ownerOrSessionTransactions(execute: Execute, charge: Charge): readonly ContractFunction[] {
  return [
    external('__validate__', { calls }, felt, async (frame, args) => {
      const { hash, signature } = frame.transaction;
      await authorize(frame, hash, signature, args.calls);
      return VALID;
    }),
    external('__execute__', { calls }, results, async (frame, args) => {
      requireProtocol(frame);
      const session = sessionOf(frame.transaction.signature);
      if (session) {
        // Checked again: in `__validate__` a live network rounds the time down to the hour.
        await requireSession(frame, session, args.calls);
        await charge(frame, session, args.calls);
      }
      return execute(frame, args.calls);
    }),
  ];
}

const construct = action('constructor', { public_key: felt }, (frame, { public_key }) => setOwner(frame, public_key));

const lifeCycle: readonly ContractFunction[] = [
  external('__validate_declare__', { class_hash: felt }, felt, requireOwner),
  external(
    '__validate_deploy__',
    { class_hash: felt, contract_address_salt: felt, public_key: felt },
    felt,
    requireOwner,
  ),
  view(
    'is_valid_outside_execution_nonce',
    { nonce: felt },
    bool,
    async (frame, { nonce }) => !(await outsideNonces.read(frame, nonce)),
  ),
  upgrade,
];

/** All classes use the same storage layout, so an upgrade keeps the state. */
export function svcAccount(name: string, known: WalletClass): Contract {
  return contract({
    name,
    classHash: known.classHash,
    construct,
    functions: [
      ...executionFunctions(known),
      ...lifeCycle,
      ...ownerFunctions,
      setPublicKey(known),
      ...sessionFunctions(known),
      ...(known.policies ? policyFunctions : []),
      ...(known.current ? [performUpgrade] : []),
    ],
    events: [
      OwnerAdded,
      OwnerRemoved,
      SessionKeyAdded,
      SessionKeyRevoked,
      ...(known.policies ? [SpendingPolicySet, SpendingPolicyRemoved] : []),
      Upgraded,
    ],
  });
}

function known(classHash: bigint): WalletClass {
  const found = walletClass(classHash);
  if (!found) throw new Error('An account class of the wallet is not in the table of classes.');
  return found;
}

export const currentSvcAccount = svcAccount('SvcAccount', known(classes.svc));
/** The same program with branch targets that nodes refuse; existing chains still have wallets of it. */
export const unrepairedSvcAccount = svcAccount('SvcAccount', {
  ...known(classes.svc),
  classHash: UNREPAIRED_SVC_CLASS,
});
/** Class hash from before the contract was compiled; existing chains still have wallets of it. */
export const uncompiledSvcAccount = svcAccount('SvcAccount', {
  ...known(classes.svc),
  classHash: starknetKeccak('svc account 1'),
  current: false,
});
/** Earlier: sessions and policies, multicalls not atomic. */
export const svcAccountWithPolicies = svcAccount('SvcAccountPolicies', known(classes.svcPolicies));
/** Earliest: sessions only, multicalls not atomic. */
export const svcAccountWithSessions = svcAccount('SvcAccountSessions', known(classes.svcSessions));
