import { toHex, type WalletClass, walletClass } from '@svc/starknet';
import type { Client } from '../client/client.ts';
import { SvcChainError } from '../client/errors.ts';
import { callContract } from '../node/call-contract.ts';
import { classHashAt } from '../node/class-hash-at.ts';
import { readAddress } from '../signing/read-address.ts';
import type { SvcWallet } from '../signing/wallet.ts';
import { sessionError } from './session-errors.ts';

type TypedWallet = Pick<SvcWallet, 'publicKey' | 'walletType'>;

/** Refuses a type that says by itself that it has no sessions; nothing is asked of anyone. */
export function refuseOtherThanSvc({ walletType = 'SVC' }: TypedWallet): void {
  if (walletType !== 'SVC') throw sessionError('INVALID_WALLET_TYPE_FOR_SESSION');
}

/** Policies are there for SHHH wallets too. */
export function refuseWithoutPolicies({ walletType = 'SVC' }: TypedWallet): void {
  if (walletType !== 'SVC' && walletType !== 'SHHH') throw sessionError('INVALID_WALLET_TYPE_FOR_SESSION');
}

/** The class on the chain has the last word. One that is not deployed yet, or of the app's own, is left to the chain. */
export async function requireSessionClass(client: Client, wallet: TypedWallet): Promise<void> {
  const known = await knownClass(client, readAddress(wallet.publicKey, 'publicKey of the wallet'));
  if (known && !known.sessions) throw sessionError('INVALID_WALLET_TYPE_FOR_SESSION');
}

/**
 * An earlier class without policies skips a call that it does not have and reports success: the app would believe in a limit that
 * is not there. So the class is looked at first, and one that is not in the table is asked.
 */
export async function requirePolicyClass(client: Client, wallet: TypedWallet): Promise<WalletClass | undefined> {
  const address = readAddress(wallet.publicKey, 'publicKey of the wallet');
  const known = await knownClass(client, address);
  if (known && !known.sessions) throw sessionError('INVALID_WALLET_TYPE_FOR_SESSION');
  if (known ? !known.policies : !(await hasPolicies(client, address)))
    throw sessionError('SPENDING_POLICIES_UNSUPPORTED');
  return known;
}

/** A class that skips a call that fails could register a key whose limit it has skipped. */
export async function requireAtomicPolicyClass(client: Client, wallet: TypedWallet): Promise<void> {
  const known = await requirePolicyClass(client, wallet);
  if (!known || known.atomicMulticall) return;
  const message =
    'A wallet of this class may skip a policy and register the key all the same. Upgrade it first (prepareWalletUpgrade, then executeWalletUpgrade), or call setSpendingPolicy, wait until it is accepted, and then addSessionKeyToContract.';
  throw sessionError('SPENDING_POLICIES_UNSUPPORTED', { message });
}

async function knownClass(client: Client, address: bigint): Promise<WalletClass | undefined> {
  const classHash = await classHashAt(client, address);
  return classHash === undefined ? undefined : walletClass(classHash);
}

/** Any key and token do: what is asked is whether the function is there. */
async function hasPolicies(client: Client, contractAddress: bigint): Promise<boolean> {
  try {
    await callContract(client, { contractAddress, entrypoint: 'get_spending_policy', calldata: [1n, 1n] });
    return true;
  } catch (error) {
    if (!(error instanceof SvcChainError)) throw error;
    if (error.code === 'entrypoint_not_found') return false;
    if (error.code !== 'contract_not_found') throw error;
    const message = `The wallet ${toHex(contractAddress)} is not deployed yet. Wait for its creation, then set the policy.`;
    throw new SvcChainError('contract_not_found', message, { cause: error });
  }
}
