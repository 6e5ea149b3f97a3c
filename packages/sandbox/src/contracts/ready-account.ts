import { classes, interfaceIds, outsideExecutionHash, selector, shortString, VALID } from '@svc/starknet';
import { array, bool, classHash, felt, option, span, struct, u8 } from './codec.ts';
import { contract } from './contract.ts';
import type { Frame } from './frame.ts';
import { action, alias, type ContractFunction, external, view } from './function.ts';
import { outsideExecution, outsideNonces, readOutsideExecution } from './outside-execution.ts';
import { panic, require } from './panic.ts';
import {
  AccountCreated,
  AccountCreatedGuid,
  construct,
  executionFunctions,
  guidOf,
  requireOwner,
  SignerLinked,
  TransactionExecuted,
} from './ready/account.ts';
import { signatureFault, signer } from './ready/signature.ts';
import { readyGuardian, readyOwner } from './ready/storage.ts';

const INTERFACES: readonly bigint[] = Object.values(interfaceIds);
const NAME = shortString('ArgentAccount');
const version = struct('argent::account::interface::Version', { major: u8, minor: u8, patch: u8 });

/** The new class says whether it is an account, then moves in by itself: a class without `perform_upgrade` cannot. */
const upgrade = action(
  'upgrade',
  { new_implementation: classHash, data: array(felt) },
  async (frame, { new_implementation, data }) => {
    require(frame.caller === frame.address, 'argent/only-self');
    const asked = selector('supports_interface');
    const [supported] = await frame.libraryCall(new_implementation, asked, [interfaceIds.SRC6]);
    require(supported === 1n, 'argent/invalid-implementation');
    const calldata = [new_implementation, BigInt(data.length), ...data];
    await frame.libraryCall(new_implementation, selector('perform_upgrade'), calldata);
  },
);

async function isValid(frame: Frame, args: { hash: bigint; signature: readonly bigint[] }): Promise<bigint> {
  return (await signatureFault(frame, args.hash, args.signature)) === undefined ? VALID : 0n;
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

/** Argent 0.4.0 as far as a wallet of the service meets it: Stark keys, no escapes, no sessions of its own. */
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
    view('get_owner', {}, felt, (frame) => readyOwner.read(frame)),
    view('get_owner_guid', {}, felt, async (frame) => guidOf(await readyOwner.read(frame))),
    view('get_guardian', {}, felt, (frame) => readyGuardian.read(frame)),
    view('get_version', {}, version, () => ({ major: 0n, minor: 4n, patch: 0n })),
    view('getVersion', {}, felt, () => shortString('0.4.0')),
    getName,
    alias('getName', getName),
  ],
  events: [SignerLinked, AccountCreated, AccountCreatedGuid, TransactionExecuted],
});
