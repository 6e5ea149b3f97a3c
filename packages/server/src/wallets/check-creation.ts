import { ApiError, type BodyOf, type endpoints, type StarknetAddress, type WalletType } from '@svc/protocol';
import { constructorCalldata, type OutsideExecution, toHex } from '@svc/starknet';
import type { StarknetNetwork } from '../chains/networks.ts';
import type { AccountDeployment } from '../relayer/sponsor.ts';
import { readAddress, readClassHash, readFelt, refuse } from './fields.ts';
import { readIssuedExecution } from './issued-execution.ts';
import { readSignature, type SignatureParts } from './signed-execution.ts';
import { knownClass, requireClassOfType } from './wallet-class.ts';

/** Keys of a custom class's constructor that are tried, a few milliseconds each: accounts have a handful of owners at most. */
const MAX_KEYS = 8;

/** What a request to create a wallet says of the account, as values. */
export interface Creation {
  readonly address: StarknetAddress;
  readonly walletType: WalletType;
  readonly deployment: AccountDeployment;
  readonly unique: bigint;
  readonly signature: readonly bigint[];
  readonly typedData: unknown;
}

export function readCreation(body: BodyOf<typeof endpoints.createWallet>): Creation {
  const { class_hash, salt, unique, calldata } = body.deploymentData;
  const field = 'body.deploymentData';
  return {
    address: readAddress(body.publicKey, 'body.publicKey'),
    walletType: body.walletType ?? 'SVC',
    deployment: {
      classHash: readClassHash(class_hash, `${field}.class_hash`),
      salt: readFelt(salt, `${field}.salt`),
      constructorCalldata: calldata.map((text, index) => readFelt(text, `${field}.calldata[${index}]`)),
    },
    unique: readFelt(unique, `${field}.unique`),
    signature: readSignature(body.userSignature, 'body.userSignature'),
    typedData: body.typedData,
  };
}

export interface CheckedCreation {
  readonly execution: OutsideExecution;
  /** The key of the constructor calldata that signed. */
  readonly ownerKey: bigint;
  /** What was signed. */
  readonly messageHash: bigint;
}

/** Everything that must hold before anything is stored or sent, in the order in which a developer would want to know. */
export async function checkCreation(
  parts: SignatureParts,
  network: StarknetNetwork,
  creation: Creation,
): Promise<CheckedCreation> {
  if (creation.unique !== 0n) {
    refuse('body.deploymentData.unique', 'must be 0: otherwise the address would depend on who deploys it');
  }
  await requireAddress(parts, creation);
  await requireClassOfType(network, creation.deployment.classHash, creation.walletType);
  const keys = ownerKeys(network, creation);
  const execution = await readIssuedExecution(network, parts.callers ?? 'ANY_CALLER', creation.typedData);
  if (execution.calls.length > 0) {
    throw new ApiError(
      'invalid_typed_data',
      'The typed data that creates a wallet has no calls. Prepare the creation again.',
    );
  }
  return { execution, ...(await requireSigner(parts, network, creation, execution, keys)) };
}

async function requireAddress({ crypto }: SignatureParts, { address, deployment }: Creation): Promise<void> {
  const derived = await crypto.contractAddress({ ...deployment, deployer: 0n });
  if (derived === BigInt(address)) return;
  throw new ApiError(
    'address_mismatch',
    `deploymentData leads to ${toHex(derived)}, but publicKey is ${address}. Send the class hash, salt and calldata that the address was calculated with.`,
  );
}

/** Who may have signed. Of the classes that we know, wallets have one shape only, so that an owner's wallet can be found again. */
function ownerKeys(network: StarknetNetwork, { deployment, walletType }: Creation): readonly bigint[] {
  const { constructorCalldata: calldata, salt, classHash } = deployment;
  if (!knownClass(network, classHash)) return [...new Set(calldata)].filter((key) => key !== 0n).slice(0, MAX_KEYS);
  const place = walletType === 'READY' ? 1 : 0;
  const ownerKey = calldata[place] ?? 0n;
  const expected = constructorCalldata(walletType, ownerKey);
  if (ownerKey === 0n || !areEqual(calldata, expected)) {
    const shape = walletType === 'READY' ? '[0, public key, 1]' : '[public key]';
    throw new ApiError(
      'address_mismatch',
      `deploymentData.calldata of a wallet of type ${walletType} must be ${shape}.`,
    );
  }
  if (salt !== ownerKey) {
    throw new ApiError(
      'address_mismatch',
      "deploymentData.salt must be the owner's public key, as in deploymentData.calldata.",
    );
  }
  return [ownerKey];
}

async function requireSigner(
  { crypto }: SignatureParts,
  { chain }: StarknetNetwork,
  { address, signature: [r = 0n, s = 0n] }: Creation,
  execution: OutsideExecution,
  keys: readonly bigint[],
): Promise<Omit<CheckedCreation, 'execution'>> {
  const account = BigInt(address);
  const { hash, signer } = await crypto.checkExecution({
    execution,
    account,
    chainId: chain.chainId,
    keys,
    signature: { r, s },
  });
  if (signer !== undefined) return { ownerKey: signer, messageHash: hash };
  throw new ApiError(
    'invalid_signature',
    'The signature does not verify for the owner key in deploymentData.calldata. Sign the prepared typed data with that key, for the account publicKey.',
  );
}

function areEqual(one: readonly bigint[], other: readonly bigint[]): boolean {
  return one.length === other.length && one.every((felt, index) => felt === other[index]);
}
