import type { WalletType } from '@svc/protocol';
import { constructorCalldata, contractAddress, starkKey } from '@svc/starknet';
import type { Runtime } from '../client/runtime.ts';
import { newPrivateKey } from '../keys/new-private-key.ts';

export interface NewAccount {
  readonly classHash: bigint;
  readonly privateKey: bigint;
  readonly publicKey: bigint;
  readonly address: bigint;
  readonly calldata: readonly bigint[];
}

/** A new key and where its account comes to stand: calculated here, so that nobody else can name the address. */
export function newAccount(classHash: bigint, walletType: WalletType, runtime: Runtime): NewAccount {
  const privateKey = newPrivateKey(runtime);
  const publicKey = starkKey(privateKey);
  const calldata = constructorCalldata(walletType, publicKey);
  const address = contractAddress({ salt: publicKey, classHash, constructorCalldata: calldata, deployer: 0n });
  return { classHash, privateKey, publicKey, address, calldata };
}
