import { ApiError, type BodyOf, type CreatedWallet, type endpoints } from '@svc/protocol';
import { type OutsideExecution, toHex } from '@svc/starknet';
import type { StarknetNetwork } from '../chains/networks.ts';
import type { Caller } from '../http/caller.ts';
import { newId } from '../ids.ts';
import type { StoreWithRelay } from '../relayer/sponsor.ts';
import { type Creation, checkCreation, readCreation } from './check-creation.ts';
import { mayBe } from './find-wallet.ts';
import type { WalletParts } from './parts.ts';
import { requireStarknet } from './prepare-creation.ts';
import * as store from './store.ts';
import { toWallet } from './to-wallet.ts';
import { knownClass } from './wallet-class.ts';

type Body = BodyOf<typeof endpoints.createWallet>;
type NewWallet = Omit<store.NewWallet, 'relayId' | 'transactionHash'>;

interface Signed {
  readonly execution: OutsideExecution;
  readonly signature: readonly bigint[];
  readonly messageHash: bigint;
}

/**
 * Creates a wallet: the account is deployed and the owner's signed execution runs, in one transaction that we pay for. Asking again
 * answers the same wallet, also after the typed data has expired.
 */
export async function createWallet(parts: WalletParts, caller: Caller, body: Body): Promise<CreatedWallet> {
  const creation = readCreation(body);
  requireStarknet(body.chain);
  if (!mayBe(caller, body.externalUserId)) throw new ApiError('other_user');
  const network = parts.networks.starknet(caller.environment);
  const user = { ...caller, externalUserId: body.externalUserId };
  const existing = await store.walletAt(parts.db.reads, caller.environment, creation.address);
  if (existing && store.isOf(user, existing) && existing.deployment !== 'FAILED') return toCreated(existing);
  const { execution, ownerKey, messageHash } = await checkCreation(parts, network, creation);
  if (existing && !store.isOf(user, existing)) throw new ApiError('wallet_already_exists');
  const wallet = newWallet(caller, body, creation, ownerKey);
  const send = existing ? relayAgain : relayNew;
  return send(parts, network, wallet, { execution, signature: creation.signature, messageHash });
}

function newWallet(
  caller: Caller,
  body: Body,
  { address, walletType, deployment }: Creation,
  ownerKey: bigint,
): NewWallet {
  return {
    id: newId('wal'),
    organizationId: caller.organizationId,
    environment: caller.environment,
    externalUserId: body.externalUserId,
    apiPublicKey: caller.apiPublicKey ?? '',
    publicKey: body.publicKey,
    address,
    walletType,
    ...deployment,
    ownerKey,
    userId: body.userId,
    encryptedPrivateKey: body.encryptedPrivateKey,
    encryptedPrivateKeyBackup: body.encryptedPrivateKeyBackup,
    authMethod: body.authMethod,
    credentialId: body.credentialId,
    prfSupported: body.prfSupported,
    deviceType: body.deviceType,
  };
}

/** The account may stand already: anyone can deploy it, and wallets are brought along from elsewhere. Then it is taken over. */
async function relayNew(parts: WalletParts, network: StarknetNetwork, wallet: NewWallet, signed: Signed) {
  try {
    return await relayOrFind(parts, wallet, signed, 'deploy');
  } catch (refusal) {
    const adopted = isRevert(refusal) ? await standing(network, wallet) : undefined;
    if (!adopted) throw refusal;
    return relayOrFind(parts, adopted, signed, 'adopt');
  }
}

/** A paymaster tells only afterwards that it could not deploy an account, so the second time it is looked for first. */
async function relayAgain(parts: WalletParts, network: StarknetNetwork, wallet: NewWallet, signed: Signed) {
  const adopted = await standing(network, wallet);
  return adopted ? relayOrFind(parts, adopted, signed, 'adopt') : relayNew(parts, network, wallet, signed);
}

/** The wallet with the class that its account has; undefined where no account stands. */
async function standing(network: StarknetNetwork, wallet: NewWallet): Promise<NewWallet | undefined> {
  const classHash = await network.chain.classHashAt(BigInt(wallet.address), 'pre_confirmed');
  if (classHash === undefined) return undefined;
  return { ...wallet, classHash, walletType: knownClass(network, classHash)?.walletType ?? wallet.walletType };
}

/** Of two requests that came together, one creates the wallet and the other finds it. */
async function relayOrFind(parts: WalletParts, wallet: NewWallet, signed: Signed, way: 'deploy' | 'adopt') {
  try {
    return await relay(parts, wallet, signed, way);
  } catch (refusal) {
    if (!isRevert(refusal) && !(refusal instanceof WalletTaken)) throw refusal;
    const found = await store.walletAt(parts.db.reads, wallet.environment, wallet.address);
    if (found && !store.isOf(wallet, found)) throw new ApiError('wallet_already_exists');
    if (found && found.deployment !== 'FAILED') return toCreated(found);
    throw refusal;
  }
}

/** Ends the transaction of a relay whose wallet was stored by another one. */
class WalletTaken extends ApiError {
  constructor() {
    super('wallet_already_exists');
  }
}

async function relay({ db, sponsor }: WalletParts, wallet: NewWallet, signed: Signed, way: 'deploy' | 'adopt') {
  const { environment, address, classHash, salt, constructorCalldata } = wallet;
  const deployment = way === 'deploy' ? { classHash, salt, constructorCalldata } : undefined;
  const save: StoreWithRelay = async (tx, { id, hash }) => {
    const transactionHash = hash === undefined ? undefined : toHex(hash);
    if (!(await store.saveWallet(tx, { ...wallet, relayId: id, transactionHash }))) throw new WalletTaken();
  };
  const { id, hash } = await sponsor.sponsor(
    { kind: 'wallet', environment, account: BigInt(address), deployment, ...signed },
    save,
  );
  const saved = await store.walletAt(db.reads, environment, address);
  if (!saved) throw new Error(`The relay ${id} has no wallet.`);
  // The sponsor knew the execution already, and it was somebody else's.
  if (!store.isOf(wallet, saved)) throw new ApiError('wallet_already_exists');
  if (saved.deployment === 'FAILED') {
    throw new ApiError('transaction_reverted', 'The deployment failed. Prepare the creation again and sign it anew.');
  }
  if (saved.transactionHash === undefined) await store.setTransactionHash(db, id, toHex(hash));
  return toCreated({ ...saved, transactionHash: saved.transactionHash ?? toHex(hash) });
}

function toCreated(wallet: store.KeptWallet): CreatedWallet {
  if (wallet.transactionHash === undefined) {
    throw new ApiError('chain_unavailable', 'The wallet is stored, but its transaction is not sent yet. Ask again.');
  }
  return { ...toWallet(wallet), success: true, txHash: wallet.transactionHash, walletPublicKey: wallet.publicKey };
}

const isRevert = (error: unknown) => error instanceof ApiError && error.code === 'transaction_reverted';
