import type { WalletType } from '@svc/protocol';

/** A wallet as `createWallet` and `getWallet` answer it: all that an operation needs beside the user's encryption key. */
export interface SvcWallet {
  /** The account's address. */
  readonly publicKey: string;
  readonly encryptedPrivateKey: string;
  readonly walletType?: WalletType | 'SHHH' | undefined;
}
