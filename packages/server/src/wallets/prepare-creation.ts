import {
  type AnswerOf,
  ApiError,
  type BodyOf,
  type Chain,
  type endpoints,
  type StarknetAddress,
  type WalletType,
} from '@svc/protocol';
import { constructorCalldata, outsideExecutionTypedData, toHex } from '@svc/starknet';
import type { StarknetNetwork } from '../chains/networks.ts';
import type { Crypto } from '../crypto/crypto.ts';
import type { Caller } from '../http/caller.ts';
import { readAddress, readClassHash, readFelt, refuse } from './fields.ts';
import type { WalletParts } from './parts.ts';
import { currentClass, requireClassOfType } from './wallet-class.ts';

type Endpoint = typeof endpoints.prepareWalletCreation;

/** What the owner signs to create a wallet, and the class that it is to have. */
export async function prepareCreation(
  parts: WalletParts,
  { environment }: Caller,
  body: BodyOf<Endpoint>,
): Promise<AnswerOf<Endpoint>> {
  const { walletType = 'SVC' } = body;
  const address = readAddress(body.publicKey, 'body.publicKey');
  const ownerKey = readFelt(body.starkKeyPubAX, 'body.starkKeyPubAX');
  if (ownerKey === 0n) refuse('body.starkKeyPubAX', 'must be a public key');
  const custom = body.classHash === undefined ? undefined : readClassHash(body.classHash, 'body.classHash');
  requireStarknet(body.chain);
  const network = parts.networks.starknet(environment);
  if (custom !== undefined) await requireClassOfType(network, custom, walletType);
  const classHash = custom ?? (await classAt(parts.crypto, network, address, walletType, ownerKey));
  const deployment = { classHash, salt: ownerKey, constructorCalldata: constructorCalldata(walletType, ownerKey) };
  const execution = await parts.sponsor.prepare({ environment, account: BigInt(address), deployment, calls: [] });
  return {
    typedData: { ...outsideExecutionTypedData(execution, network.chain.chainId) },
    accountClassHash: toHex(classHash),
  };
}

export function requireStarknet(chain: Chain): void {
  if (chain !== 'STARKNET') throw new ApiError('unsupported_chain');
}

/** The class of the type with which the owner's account stands at the address; new wallets get the current one. */
async function classAt(
  crypto: Crypto,
  network: StarknetNetwork,
  address: StarknetAddress,
  walletType: WalletType,
  ownerKey: bigint,
): Promise<bigint> {
  const candidates = network.walletClasses
    .filter((known) => known.walletType === walletType)
    .map(({ classHash }) => classHash);
  const addresses = await crypto.accountAddresses(candidates, ownerKey);
  return candidates[addresses.indexOf(BigInt(address))] ?? currentClass(network, walletType);
}
