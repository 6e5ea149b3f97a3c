import { pedersen, starknetKeccak } from '@svc/starknet';
import { address, bool, classHash, felt, span } from './codec.ts';
import { alias, contract, event, external } from './contract.ts';

const ContractDeployed = event('ContractDeployed', {
  address,
  deployer: address,
  unique: bool,
  classHash,
  calldata: span(felt),
  salt: felt,
});

const deployContract = external(
  'deploy_contract',
  { class_hash: classHash, salt: felt, unique: bool, calldata: span(felt) },
  address,
  async (frame, { class_hash, salt, unique, calldata }) => {
    const deployed = await frame.deploy({
      classHash: class_hash,
      // Bound to the caller: no other account can take the address.
      salt: unique ? pedersen(frame.caller, salt) : salt,
      calldata,
      fromZero: !unique,
    });
    const deployer = frame.caller;
    ContractDeployed.emit(frame, { address: deployed, deployer, unique, classHash: class_hash, calldata, salt });
    return deployed;
  },
);

/** Deployed at its current and its legacy address, with the function name of each. */
export const universalDeployer = contract({
  name: 'UniversalDeployer',
  classHash: starknetKeccak('svc sandbox universal deployer'),
  functions: [deployContract, alias('deployContract', deployContract)],
  events: [ContractDeployed],
});
