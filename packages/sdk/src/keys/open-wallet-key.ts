import { accountAddress, starkKey, walletClasses } from '@svc/starknet';
import { SvcInputError, SvcKeyError } from '../client/errors.ts';
import { readAddress } from '../signing/read-address.ts';
import { openKey } from './open-key.ts';
import { isOpensslFormat, openOpensslFormat } from './openssl-format.ts';

export interface WalletKeyToOpen {
  readonly encryptKey: string;
  readonly wallet: { readonly publicKey: string; readonly encryptedPrivateKey: string };
}

/** Decrypts a wallet's private key, from the old format too. What comes out is the key of this wallet, or an error. */
export async function openWalletKey({ encryptKey, wallet }: WalletKeyToOpen): Promise<bigint> {
  const boundTo = readAddress(wallet.publicKey, 'wallet.publicKey');
  const { encryptedPrivateKey: envelope } = wallet;
  if (typeof envelope !== 'string') {
    throw new SvcInputError(
      'invalid_input',
      'wallet.encryptedPrivateKey is missing: pass the wallet as getWallet gives it.',
    );
  }
  // Nobody but who knew the encryptKey and the address can have written it, so it needs no further proof.
  if (!isOpensslFormat(envelope)) return openKey({ envelope, encryptKey, boundTo });
  const privateKey = await openOpensslFormat(envelope, encryptKey);
  if (belongsTo(privateKey, boundTo)) return privateKey;
  throw new SvcKeyError('wrong_key', `The decrypted key is not the key of ${wallet.publicKey}, in any known class.`);
}

/** An upgrade keeps the address, so it is that of the class which the wallet was created with. */
function belongsTo(privateKey: bigint, address: bigint): boolean {
  const publicKey = starkKey(privateKey);
  return walletClasses.some(({ classHash }) => accountAddress(classHash, publicKey) === address);
}
