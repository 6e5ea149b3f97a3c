import type { Wallet } from '@svc/protocol';
import type { WalletRecord } from './wallet.ts';

/** A wallet as the interface shows it. */
export function toWallet(record: WalletRecord): Wallet {
  return {
    id: record.id,
    externalUserId: record.externalUserId,
    organizationId: record.organizationId,
    apiPublicKey: record.apiPublicKey,
    publicKey: record.publicKey,
    normalizedPublicKey: record.address,
    encryptedPrivateKey: record.encryptedPrivateKey,
    isDeployed: record.isDeployed,
    walletType: record.walletType,
    chain: 'STARKNET',
    createdAt: record.createdAt.toISOString(),
    updatedAt: record.updatedAt.toISOString(),
  };
}
