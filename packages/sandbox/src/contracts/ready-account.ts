import {
  type Call,
  classes,
  interfaceIds,
  outsideExecutionHash,
  poseidon,
  selector,
  shortString,
  VALID,
  verify,
} from '@svc/starknet';
import {
  admitOutsideExecution,
  calls,
  isQuery,
  isVersion3,
  outsideExecution,
  outsideNonces,
  readOutsideExecution,
  results,
} from './calls.ts';
import {
  array,
  bool,
  type Codec,
  classHash,
  felt,
  Malformed,
  option,
  Panic,
  panic,
  Reader,
  require,
  span,
  struct,
  tuple,
  u8,
} from './codec.ts';
import {
  action,
  alias,
  type ContractFunction,
  contract,
  event,
  external,
  type Frame,
  key,
  variable,
  view,
} from './contract.ts';

/** Argent's variables. Each holds a Stark key, or zero. */
export const readyOwner = variable('_signer', felt);
export const readyGuardian = variable('_guardian', felt);

const SIGNER = 'argent::signer::signer_signature::Signer';
const STARKNET_SIGNER = 'argent::signer::signer_signature::StarknetSigner';

/** Argent knows several kinds of signers; the sandbox supports Stark keys. */
export const signer: Codec<bigint> = {
  type: SIGNER,
  definitions: [
    { type: 'struct', name: STARKNET_SIGNER, members: [{ name: 'pubkey', type: 'core::felt252' }] },
    { type: 'enum', name: SIGNER, variants: [{ name: 'Starknet', type: STARKNET_SIGNER }] },
  ],
  read(reader) {
    const variant = reader.next();
    const publicKey = reader.next();
    if (variant !== 0n || publicKey === 0n) throw new Malformed();
    return publicKey;
  },
  write: (publicKey) => [0n, publicKey],
};

const signerSignature = tuple({ publicKey: signer, r: felt, s: felt });
type SignerSignature = { readonly publicKey: bigint; readonly r: bigint; readonly s: bigint };
const signerSignatures = array(signerSignature);

/** Short form: `r, s` of the owner, then of the guardian. Long form: a list of signatures with their signers. */
async function parse(frame: Frame, signature: readonly bigint[]): Promise<readonly SignerSignature[]> {
  if (signature.length !== 2 && signature.length !== 4) return parseLong(signature);
  const [r = 0n, s = 0n, guardianR, guardianS] = signature;
  const owner = { publicKey: await stored(readyOwner.read(frame)), r, s };
  if (guardianR === undefined || guardianS === undefined) return [owner];
  return [owner, { publicKey: await stored(readyGuardian.read(frame)), r: guardianR, s: guardianS }];
}

async function stored(reading: Promise<bigint>): Promise<bigint> {
  const publicKey = await reading;
  require(publicKey !== 0n, 'argent/zero-pubkey');
  return publicKey;
}

function parseLong(signature: readonly bigint[]): readonly SignerSignature[] {
  const reader = new Reader(signature);
  try {
    const signatures = signerSignatures.read(reader);
    require(reader.left === 0, 'argent/invalid-signature-length');
    return signatures;
  } catch (error) {
    if (error instanceof Malformed) panic('argent/undeserializable');
    throw error;
  }
}

export async function signatureError(
  frame: Frame,
  hash: bigint,
  signature: readonly bigint[],
): Promise<string | undefined> {
  const guardian = await readyGuardian.read(frame);
  const [byOwner, byGuardian, ...more] = await parse(frame, signature);
  const complete = byOwner && more.length === 0 && (byGuardian === undefined) === (guardian === 0n);
  require(complete === true, 'argent/invalid-signature-length');
  if (!isValidFor(frame, byOwner, await readyOwner.read(frame), hash)) return 'argent/invalid-owner-sig';
  if (byGuardian && !isValidFor(frame, byGuardian, guardian, hash)) return 'argent/invalid-guardian-sig';
  return undefined;
}

/** A query accepts any signature of the right signer, so an estimate is possible before signing. */
function isValidFor(frame: Frame, { publicKey, r, s }: SignerSignature, expected: bigint, hash: bigint): boolean {
  return publicKey === expected && (verify(hash, publicKey, r, s) || isQuery(frame));
}

export const SignerLinked = event('SignerLinked', { signer_guid: key(felt), signer });
export const AccountCreated = event('AccountCreated', { owner: key(felt), guardian: felt });
export const AccountCreatedGuid = event('AccountCreatedGuid', { owner_guid: key(felt), guardian_guid: felt });
export const TransactionExecuted = event('TransactionExecuted', { hash: key(felt), response: span(span(felt)) });

const OUTSIDE_TEXTS = {
  caller: 'argent/invalid-caller',
  early: 'argent/invalid-timestamp',
  late: 'argent/invalid-timestamp',
  duplicate: 'argent/duplicated-outside-nonce',
};

const SIGNER_TYPE = shortString('Starknet Signer');

export function guidOf(publicKey: bigint): bigint {
  return publicKey === 0n ? 0n : poseidon(SIGNER_TYPE, publicKey);
}

export const construct = action(
  'constructor',
  { owner: signer, guardian: option(signer) },
  async (frame, { owner, guardian = 0n }) => {
    await readyOwner.write(frame, owner);
    await readyGuardian.write(frame, guardian);
    SignerLinked.emit(frame, { signer_guid: guidOf(owner), signer: owner });
    if (guardian !== 0n) SignerLinked.emit(frame, { signer_guid: guidOf(guardian), signer: guardian });
    AccountCreated.emit(frame, { owner, guardian });
    AccountCreatedGuid.emit(frame, { owner_guid: guidOf(owner), guardian_guid: guidOf(guardian) });
  },
);

function requireProtocol(frame: Frame): void {
  require(frame.caller === 0n, 'argent/non-null-caller');
  require(isVersion3(frame), 'argent/invalid-tx-version');
}

async function requireSignature(frame: Frame, hash: bigint, signature: readonly bigint[]): Promise<void> {
  const error = await signatureError(frame, hash, signature);
  if (error) panic(error);
}

/** A call to the account itself must be the only one: a multicall cannot hide it among payments. */
function requireAllowedCalls(frame: Frame, list: readonly Call[]): void {
  const own = list.filter((call) => call.to === frame.address);
  require(list.length === 1 || own.length === 0, 'argent/no-multicall-to-self');
  const direct = ['execute_after_upgrade', 'perform_upgrade'].map((name) => selector(name));
  require(!own.some((call) => direct.includes(call.selector)), 'argent/forbidden-call');
}

async function multicall(frame: Frame, list: readonly Call[], hash: bigint): Promise<bigint[][]> {
  const response: bigint[][] = [];
  for (const [index, call] of list.entries()) {
    const outcome = await frame.tryCall(call);
    if (!outcome.ok) throw new Panic([shortString('argent/multicall-failed'), BigInt(index), ...outcome.felts]);
    response.push(outcome.result);
  }
  TransactionExecuted.emit(frame, { hash, response });
  return response;
}

function executeFromOutside(name: string, version: 1 | 2, signature: typeof signatureTypes.v1): ContractFunction {
  return external(name, { outside_execution: outsideExecution, signature }, results, async (frame, args) => {
    const execution = readOutsideExecution(args.outside_execution);
    await admitOutsideExecution(frame, execution, OUTSIDE_TEXTS);
    const hash = outsideExecutionHash(version, execution, frame.address, frame.block.chainId);
    requireAllowedCalls(frame, execution.calls);
    await requireSignature(frame, hash, args.signature);
    return multicall(frame, execution.calls, hash);
  });
}

const signatureTypes = { v1: array(felt), v2: span(felt) };

export async function requireOwner(frame: Frame): Promise<bigint> {
  require(isVersion3(frame), 'argent/invalid-tx-version');
  require(frame.transaction.paymasterData.length === 0, 'argent/unsupported-paymaster');
  await requireSignature(frame, frame.transaction.hash, frame.transaction.signature);
  return VALID;
}

export const executionFunctions: readonly ContractFunction[] = [
  external('__validate__', { calls }, felt, async (frame, args) => {
    requireProtocol(frame);
    requireAllowedCalls(frame, args.calls);
    return requireOwner(frame);
  }),
  external('__execute__', { calls }, results, async (frame, args) => {
    requireProtocol(frame);
    return multicall(frame, args.calls, frame.transaction.hash);
  }),
  executeFromOutside('execute_from_outside', 1, signatureTypes.v1),
  executeFromOutside('execute_from_outside_v2', 2, signatureTypes.v2),
];

const INTERFACES: readonly bigint[] = Object.values(interfaceIds);
const NAME = shortString('ArgentAccount');
const version = struct('argent::account::interface::Version', { major: u8, minor: u8, patch: u8 });

/** The new class confirms that it is an account and takes over the storage through its own `perform_upgrade`. */
const upgrade = action(
  'upgrade',
  { new_implementation: classHash, data: array(felt) },
  async (frame, { new_implementation, data }) => {
    require(frame.caller === frame.address, 'argent/only-self');
    const supportsInterfaceSelector = selector('supports_interface');
    const [supported] = await frame.libraryCall(new_implementation, supportsInterfaceSelector, [interfaceIds.SRC6]);
    require(supported === 1n, 'argent/invalid-implementation');
    const calldata = [new_implementation, BigInt(data.length), ...data];
    await frame.libraryCall(new_implementation, selector('perform_upgrade'), calldata);
  },
);

/** An account that came from another class has none here. */
async function storedOwner(frame: Frame): Promise<bigint> {
  const owner = await readyOwner.read(frame);
  require(owner !== 0n, 'argent/owner-not-found');
  return owner;
}

async function isValid(frame: Frame, args: { hash: bigint; signature: readonly bigint[] }): Promise<bigint> {
  return (await signatureError(frame, args.hash, args.signature)) === undefined ? VALID : 0n;
}

function hashOf(name: string, of: 1 | 2): ContractFunction {
  return view(name, { outside_execution: outsideExecution }, felt, (frame, args) =>
    outsideExecutionHash(of, readOutsideExecution(args.outside_execution), frame.address, frame.block.chainId),
  );
}

const getName = view('get_name', {}, felt, () => NAME);
const supportsInterface = view('supports_interface', { interface_id: felt }, bool, (_frame, args) =>
  INTERFACES.includes(args.interface_id),
);

/** Argent 0.4.0 as far as svc wallets need it: Stark keys, no escapes, no Argent sessions. */
export const readyAccount = contract({
  name: 'ArgentAccount',
  classHash: classes.ready,
  construct,
  functions: [
    ...executionFunctions,
    external('__validate_declare__', { class_hash: felt }, felt, requireOwner),
    external(
      '__validate_deploy__',
      { class_hash: felt, contract_address_salt: felt, owner: signer, guardian: option(signer) },
      felt,
      requireOwner,
    ),
    view('is_valid_signature', { hash: felt, signature: array(felt) }, felt, isValid),
    view('isValidSignature', { hash: felt, signatures: array(felt) }, felt, async (frame, { hash, signatures }) => {
      if ((await isValid(frame, { hash, signature: signatures })) !== VALID) panic('argent/invalid-signature');
      return 1n;
    }),
    view(
      'is_valid_outside_execution_nonce',
      { nonce: felt },
      bool,
      async (frame, { nonce }) => !(await outsideNonces.read(frame, nonce)),
    ),
    hashOf('get_outside_execution_message_hash_rev_0', 1),
    hashOf('get_outside_execution_message_hash_rev_1', 2),
    supportsInterface,
    alias('supportsInterface', supportsInterface),
    upgrade,
    action('perform_upgrade', { new_implementation: classHash, data: span(felt) }, () =>
      panic('argent/downgrade-not-allowed'),
    ),
    view('get_owner', {}, felt, storedOwner),
    view('get_owner_guid', {}, felt, async (frame) => guidOf(await storedOwner(frame))),
    view('get_guardian', {}, felt, (frame) => readyGuardian.read(frame)),
    view('get_version', {}, version, () => ({ major: 0n, minor: 4n, patch: 0n })),
    view('getVersion', {}, felt, () => shortString('0.4.0')),
    getName,
    alias('getName', getName),
  ],
  events: [SignerLinked, AccountCreated, AccountCreatedGuid, TransactionExecuted],
});
