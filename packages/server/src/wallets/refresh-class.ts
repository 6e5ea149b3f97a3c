import type { Db } from '@svc/store';
import type { Networks } from '../chains/networks.ts';
import * as store from './store.ts';
import type { WalletRecord } from './wallet.ts';
import { typeOfClass } from './wallet-class.ts';

/** The wallet with the class that the chain says, which is kept: an upgrade may be a moment old, or made without us. */
export async function refreshClass(
  db: Db,
  networks: Pick<Networks, 'starknet'>,
  wallet: WalletRecord,
): Promise<WalletRecord> {
  const { environment, address } = wallet;
  const network = networks.starknet(environment);
  const classHash = await network.chain.classHashAt(BigInt(address), 'pre_confirmed');
  if (classHash === undefined || classHash === wallet.classHash) return wallet;
  const walletType = typeOfClass(network, classHash);
  await store.setClass(db, { environment, address, classHash, walletType });
  return { ...wallet, classHash, walletType };
}
