import { type WalletClass, walletClass, walletClasses } from '@svc/starknet';

/** The wallet classes of a network on which `SVC` has this class: it is the current one, all others are earlier ones. */
export function classesWith(svcClassHash: bigint): readonly WalletClass[] {
  const [shipped, ...others] = walletClasses;
  if (!shipped) throw new Error('The table of wallet classes is empty.');
  const known = walletClass(svcClassHash);
  const current: WalletClass = { ...(known ?? shipped), classHash: svcClassHash, walletType: 'SVC', current: true };
  return [current, ...others.filter(({ classHash }) => classHash !== svcClassHash)];
}
