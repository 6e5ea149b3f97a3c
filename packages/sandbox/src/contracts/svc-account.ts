import { classes, starknetKeccak, type WalletClass, walletClass } from '@svc/starknet';
import { svcAccount } from './svc/account.ts';

function known(classHash: bigint): WalletClass {
  const found = walletClass(classHash);
  if (!found) throw new Error('An account class of the wallet is not in the table of classes.');
  return found;
}

/** The class that new wallets get. */
export const currentSvcAccount = svcAccount('SvcAccount', known(classes.svc));
/** The name that the current class had before the contract was compiled: wallets on chains of that time still have it. */
export const uncompiledSvcAccount = svcAccount('SvcAccount', {
  ...known(classes.svc),
  classHash: starknetKeccak('svc account 1'),
  current: false,
});
/** Earlier: sessions and policies, and a failing call is skipped. */
export const svcAccountWithPolicies = svcAccount('SvcAccountPolicies', known(classes.svcPolicies));
/** Earlier still: sessions alone, and a failing call is skipped. */
export const svcAccountWithSessions = svcAccount('SvcAccountSessions', known(classes.svcSessions));
