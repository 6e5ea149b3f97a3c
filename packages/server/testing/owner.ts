import { randomBytes } from 'node:crypto';
import type { BodyOf, endpoints, StarknetAddress, WalletType } from '@svc/protocol';
import { accountAddress, classes, constructorCalldata, starkKey, toHex, walletClass } from '@svc/starknet';
import { ec, typedData as snip12, type TypedData } from 'starknet';
import { addressOf } from '../src/chains/starknet/chain.ts';

export type CreateBody = BodyOf<typeof endpoints.createWallet>;

/** Somebody with a key of their own. Messages are hashed and signed by starknet.js, so that an error of ours cannot hide. */
export class Owner {
  readonly privateKey: bigint;
  readonly key: bigint;
  readonly walletType: WalletType;
  readonly classHash: bigint;
  readonly address: StarknetAddress;

  constructor(classHash: bigint = classes.svc, privateKey = BigInt(`0x${randomBytes(31).toString('hex')}`)) {
    this.privateKey = privateKey;
    this.key = starkKey(privateKey);
    this.classHash = classHash;
    this.walletType = walletClass(classHash)?.walletType ?? 'SVC';
    this.address = addressOf(accountAddress(classHash, this.key));
  }

  get deployment() {
    return {
      classHash: this.classHash,
      salt: this.key,
      constructorCalldata: constructorCalldata(this.walletType, this.key),
    };
  }

  sign(typedData: object, account: string = this.address): { r: string; s: string; recovery: number } {
    const hash = snip12.getMessageHash(typedData as TypedData, account);
    const { r, s, recovery } = ec.starkCurve.sign(hash, toHex(this.privateKey));
    return { r: toHex(r), s: toHex(s), recovery: recovery ?? 0 };
  }

  /** `[r, s]`. */
  signatureOf(typedData: object, account?: string): string[] {
    const { r, s } = this.sign(typedData, account);
    return [r, s];
  }

  /** What an app sends to create the wallet, with the typed data that it was given. */
  creation(externalUserId: string, typedData: Record<string, unknown>): CreateBody {
    return {
      externalUserId,
      publicKey: this.address,
      walletType: this.walletType,
      chain: 'STARKNET',
      userSignature: this.sign(typedData),
      typedData,
      encryptedPrivateKey: 'ciphertext',
      deploymentData: {
        class_hash: toHex(this.classHash),
        salt: toHex(this.key),
        unique: '0x0',
        calldata: this.deployment.constructorCalldata.map(toHex),
      },
    };
  }
}
