import { accountDeployment, type Deployment } from '@svc/starknet';
import type { Crypto } from './crypto.ts';

type Addresses = Pick<Crypto, 'contractAddress' | 'accountAddresses'>;

/** An owner signs within the hour; a quarter of a kilobyte each. */
const MAX_REMEMBERED = 10_000;

/**
 * Keeps addresses that were calculated: creating a wallet asks for the one that preparing it asked for before, and going to a
 * thread and back costs the thread that serves requests more than looking it up.
 */
export function rememberAddresses<T extends Addresses>(crypto: T, limit = MAX_REMEMBERED): T {
  const known = new Map<string, bigint>();
  const keep = (deployment: Deployment, address: bigint) => {
    known.set(keyOf(deployment), address);
    // A map keeps the order of insertion, so its first key is the oldest.
    const oldest = known.keys().next();
    if (known.size > limit && !oldest.done) known.delete(oldest.value);
  };
  const contractAddress = async (deployment: Deployment) => {
    const address = known.get(keyOf(deployment)) ?? (await crypto.contractAddress(deployment));
    keep(deployment, address);
    return address;
  };
  const accountAddresses = async (classHashes: readonly bigint[], publicKey: bigint) => {
    const addresses = await crypto.accountAddresses(classHashes, publicKey);
    for (const [index, classHash] of classHashes.entries()) {
      const address = addresses[index];
      if (address !== undefined) keep(accountDeployment(classHash, publicKey), address);
    }
    return addresses;
  };
  return { ...crypto, contractAddress, accountAddresses };
}

function keyOf({ deployer, salt, classHash, constructorCalldata }: Deployment): string {
  return [deployer, salt, classHash, ...constructorCalldata].join();
}
