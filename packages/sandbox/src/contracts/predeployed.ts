import { contractAddress, starkKey, starknetKeccak } from '@svc/starknet';
import { plainAccount } from './plain-account.ts';

export interface PredeployedAccount {
  readonly label: string;
  /** Known to everyone: it is the hash of a label and guards sandbox money only. */
  readonly privateKey: bigint;
  readonly publicKey: bigint;
  readonly address: bigint;
}

function derive(label: string): PredeployedAccount {
  const privateKey = starknetKeccak(`svc sandbox ${label}`);
  const publicKey = starkKey(privateKey);
  const { classHash } = plainAccount;
  const constructorCalldata = [publicKey];
  const address = contractAddress({ salt: publicKey, classHash, constructorCalldata, deployer: 0n });
  return { label, privateKey, publicKey, address };
}

/** Derived when first asked for: a process that runs no sandbox does not pay for it. */
const known = new Map<string, PredeployedAccount>();

function account(label: string): PredeployedAccount {
  const found = known.get(label) ?? derive(label);
  known.set(label, found);
  return found;
}

/** Accounts that stand at the sandbox's first block. */
export const predeployed = {
  /** Receives the fees. */
  get sequencer(): PredeployedAccount {
    return account('sequencer');
  },
  get relayers() {
    return [account('relayer 1'), account('relayer 2'), account('relayer 3'), account('relayer 4')] as const;
  },
  get manager(): PredeployedAccount {
    return account('manager');
  },
  /** May mint every token. */
  get faucet(): PredeployedAccount {
    return account('faucet');
  },
};
