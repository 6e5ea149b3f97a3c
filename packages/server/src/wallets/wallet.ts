import type { Environment, StarknetAddress, WalletType } from '@svc/protocol';

/** A wallet as the service keeps it. */
export interface WalletRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly externalUserId: string;
  readonly apiPublicKey: string;
  /** As it was given at creation. */
  readonly publicKey: string;
  /** The same, in its normal form. */
  readonly address: StarknetAddress;
  readonly walletType: WalletType;
  readonly classHash: bigint;
  /** The key that signs, as of the constructor. */
  readonly ownerKey: bigint;
  readonly salt: bigint;
  readonly constructorCalldata: readonly bigint[];
  readonly isDeployed: boolean;
  /** The relay that deploys it. */
  readonly relayId: string | undefined;
  readonly encryptedPrivateKey: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}
