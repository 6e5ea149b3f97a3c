import { interfaceIds, starknetKeccak, VALID } from '@svc/starknet';
import { calls, executeAll, isSignedBy, requireProtocol, results } from './calls.ts';
import { array, bool, felt, require } from './codec.ts';
import { action, contract, event, external, type Frame, key, variable, view } from './contract.ts';

export const plainAccountKey = variable('Account_public_key', felt);

const OwnerAdded = event('OwnerAdded', { new_owner_guid: key(felt) });

async function requireOwner(frame: Frame): Promise<bigint> {
  const { hash, signature } = frame.transaction;
  require(isSignedBy(await plainAccountKey.read(frame), hash, signature), 'Account: invalid signature');
  return VALID;
}

/** A single-key account for the relayers, the manager and manual tests. */
export const plainAccount = contract({
  name: 'PlainAccount',
  classHash: starknetKeccak('svc sandbox plain account'),
  construct: action('constructor', { public_key: felt }, async (frame, { public_key }) => {
    await plainAccountKey.write(frame, public_key);
    OwnerAdded.emit(frame, { new_owner_guid: public_key });
  }),
  functions: [
    external('__validate__', { calls }, felt, requireOwner),
    external('__execute__', { calls }, results, (frame, args) => {
      requireProtocol(frame);
      return executeAll(frame, args.calls);
    }),
    external('__validate_declare__', { class_hash: felt }, felt, requireOwner),
    external(
      '__validate_deploy__',
      { class_hash: felt, contract_address_salt: felt, public_key: felt },
      felt,
      requireOwner,
    ),
    view('is_valid_signature', { hash: felt, signature: array(felt) }, felt, async (frame, { hash, signature }) =>
      isSignedBy(await plainAccountKey.read(frame), hash, signature) ? VALID : 0n,
    ),
    view('supports_interface', { interface_id: felt }, bool, (_frame, { interface_id }) =>
      [interfaceIds.SRC5, interfaceIds.SRC6].some((id) => id === interface_id),
    ),
    view('get_public_key', {}, felt, (frame) => plainAccountKey.read(frame)),
  ],
  events: [OwnerAdded],
});
