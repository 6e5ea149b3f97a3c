import { ApiError, type endpoints, formatUsd, type Recipient } from '@svc/protocol';
import { runAs } from '@svc/store';
import { type ClaimDeps, type ClaimedGift, findByCode, readDestination, reserve } from '../gifts/claim.ts';
import { refusalOf } from '../gifts/gift.ts';
import type { Redeem, RedeemWaiters } from '../gifts/redeem.ts';
import { type Answer, type Call, type Caller, WithStatus } from '../http/call.ts';
import { readAddress } from '../http/validation.ts';
import { findNewestPublicKey } from '../organizations/organization-store.ts';
import { toBrand } from '../organizations/settings.ts';
import { newId } from '../util/ids.ts';
import { createWallet, prepareCreation, type StoreWithWallet } from '../wallets/create-wallet.ts';
import type { WalletDeps } from '../wallets/signed-execution.ts';
import { walletAt } from '../wallets/wallet.ts';
import { insertRecipient, issueToken, type RecipientRow, recipientAt, toRecipient } from './recipient.ts';
import { hashRecovery, newPasskeyOptions, ofGift, type SignInDeps, verifyNewPasskey } from './sign-in.ts';

export interface CreateRecipientDeps extends SignInDeps {
  readonly wallets: WalletDeps;
  readonly claims: ClaimDeps;
  readonly waiters: RedeemWaiters;
}

type Options = typeof endpoints.getRecipientWalletOptions;
type Prepare = typeof endpoints.prepareRecipientWallet;
type Create = typeof endpoints.createRecipientWallet;
type Visit<E extends Options | Prepare | Create> = Pick<Call<E>, 'params' | 'client' | 'proofOfWork'>;

/** Counted from the start of the request, like a redeem's. */
const MAX_WAIT_MS = 30_000;

/** The gift of a code that can make a wallet now. */
async function openGift(deps: CreateRecipientDeps, visit: Visit<Options | Prepare | Create>): Promise<ClaimedGift> {
  return requireOpen(deps, await findByCode(deps.claims, visit, visit.params.code));
}

function requireOpen({ claims }: CreateRecipientDeps, gift: ClaimedGift | undefined): ClaimedGift {
  const refusal = refusalOf(gift, (claims.now ?? Date.now)());
  if (refusal || !gift) throw new ApiError(refusal ?? 'gift_not_found', undefined, { status: 400 });
  if (!gift.offersWallet || gift.appUrl !== null) throw new ApiError('recipient_wallets_off');
  return gift;
}

export async function recipientWalletOptions(
  deps: CreateRecipientDeps,
  call: Visit<Options>,
): Promise<Answer<Options>> {
  const gift = await openGift(deps, call);
  const { apiPublicKey } = await recipientCaller(deps, gift, '');
  const rpName = toBrand(gift, deps.publicUrl)?.name ?? gift.orgName;
  const names = { rpName, userName: `${rpName} · ${gift.name}` };
  return { apiPublicKey, passkey: deps.passkeySite ? newPasskeyOptions(deps, ofGift(gift.id), names) : null };
}

export async function prepareRecipientWallet(
  deps: CreateRecipientDeps,
  call: Visit<Prepare> & Pick<Call<Prepare>, 'body'>,
): Promise<Answer<Prepare>> {
  const gift = await openGift(deps, call);
  const caller = await recipientCaller(deps, gift, '');
  const order = { ...call.body, chain: 'STARKNET' as const, walletType: 'SVC' as const };
  return runAs(gift.organizationId, () => prepareCreation(deps.wallets, caller, order));
}

/**
 * The wallet, its deployment, its sign-in and the redeem are stored in one transaction, under the lock of the gift: as many wallets as
 * redemptions, and none that is not paid. The gift may arrive before the account is deployed, because the address is the owner's already.
 */
export async function createRecipientWallet(
  deps: CreateRecipientDeps,
  call: Visit<Create> & Pick<Call<Create>, 'body' | 'requestKey'>,
): Promise<Answer<Create>> {
  const startedAt = performance.now();
  const { params, body } = call;
  const gift = await findByCode(deps.claims, call, params.code);
  if (!gift) throw new ApiError('gift_not_found', undefined, { status: 400 });
  const known = await recipientAt(deps.db.reads, gift.environment, readAddress(body.publicKey, 'body.publicKey'));
  const leftMs = () => MAX_WAIT_MS - (performance.now() - startedAt);
  return runAs(gift.organizationId, async () => {
    if (known) return repeated(deps, { gift, known, body, leftMs });
    requireOpen(deps, gift);
    return created(deps, { gift, body, leftMs });
  });
}

interface Creating {
  readonly gift: ClaimedGift;
  readonly body: Call<Create>['body'];
  readonly leftMs: () => number;
}

async function created(deps: CreateRecipientDeps, { gift, body, leftMs }: Creating): Promise<Answer<Create>> {
  if (body.passkey === undefined && body.recoverySecret === undefined) {
    throw new ApiError(
      'invalid_request',
      'Send body.passkey or body.recoverySecret: without one of them the wallet could not be opened again.',
    );
  }
  const address = readAddress(body.publicKey, 'body.publicKey');
  const passkey = body.passkey && (await verifyNewPasskey(deps, ofGift(gift.id), body.passkey));
  const recoveryHash = body.recoverySecret === undefined ? undefined : hashRecovery(body.recoverySecret);
  const id = newId('rcp');
  const { organizationId, environment } = gift;
  let redeemId = '';
  const store: StoreWithWallet = async (tx) => {
    const destination = readDestination('starknet', body.publicKey);
    redeemId = await reserve(deps.claims, tx, { giftId: gift.id, destination, requestKey: undefined });
    await insertRecipient(tx, { id, organizationId, environment, address, redeemId, recoveryHash });
    await passkey?.store(tx, id);
  };
  const caller = await recipientCaller(deps, gift, id);
  const details = passkey
    ? { authMethod: 'PASSKEY', credentialId: passkey.credentialId, prfSupported: true }
    : { authMethod: 'PASSPHRASE' };
  const device = body.deviceType === undefined ? {} : { deviceType: body.deviceType };
  const wallet = await createWallet(deps.wallets, caller, { ...orderOf(body, id), ...details, ...device }, store);
  const redeem = await deps.waiters.until(deps.db.reads, redeemId, hasEnded, leftMs());
  const row = await recipientAt(deps.db, environment, address);
  if (!row) throw new Error(`The recipient ${id} was not stored.`);
  const [{ token, expiresAt }, recipient] = await Promise.all([issueToken(deps, row), toRecipient(deps, row)]);
  const session = { token, expiresAt: expiresAt.toISOString() };
  return new WithStatus(201, { ...session, ...answerOf(recipient, redeem, wallet.txHash) });
}

/** Answers what was stored, without a token: a repeated request does not prove that its sender owns the wallet. */
async function repeated(
  deps: CreateRecipientDeps,
  { gift, known, body, leftMs }: Creating & { readonly known: RecipientRow },
): Promise<Answer<Create>> {
  const redeem = await deps.waiters.until(deps.db.reads, known.redeemId, hasEnded, leftMs());
  // The address of another organisation's recipient, or of another gift, is a wallet that exists.
  if (redeem.giftId !== gift.id) throw new ApiError('wallet_already_exists');
  const wallet = await walletAt(deps.db.reads, known.environment, known.address);
  let hash = wallet?.transactionHash;
  if (wallet?.deployment === 'FAILED') {
    const caller = { ...(await recipientCaller(deps, gift, known.id)), walletAddress: known.address };
    hash = (await createWallet(deps.wallets, caller, orderOf(body, known.id))).txHash;
  }
  const recipient = await toRecipient(deps, known);
  return new WithStatus(201, { token: null, expiresAt: null, ...answerOf(recipient, redeem, hash ?? '') });
}

const hasEnded = ({ status }: Redeem) => status === 'SUCCESS' || status === 'FAILED';

const orderOf = (body: Creating['body'], externalUserId: string) => ({
  externalUserId,
  chain: 'STARKNET' as const,
  walletType: 'SVC' as const,
  publicKey: body.publicKey,
  userSignature: body.userSignature,
  typedData: body.typedData,
  deploymentData: body.deploymentData,
  encryptedPrivateKey: body.encryptedPrivateKey,
});

function answerOf(recipient: Recipient, redeem: Redeem, transactionHash: string) {
  const { id, status, shownAddress, amount } = redeem;
  const giftRedeem = {
    ...{ id, status, walletAddress: shownAddress, amount: formatUsd(amount) },
    transactionHash: redeem.transactionHash,
  };
  return { recipient, transactionHash, giftRedeem };
}

/** Acts for the user of the new wallet, with the key that its records name. */
async function recipientCaller(
  { db }: Pick<CreateRecipientDeps, 'db'>,
  { organizationId, environment }: ClaimedGift,
  externalUserId: string,
): Promise<Caller & { readonly apiPublicKey: string }> {
  const key = await findNewestPublicKey(db, { organizationId, environment });
  if (!key?.public_key) throw new ApiError('public_key_required');
  const proof = 'user token' as const;
  return { organizationId, environment, keyId: key.id, apiPublicKey: key.public_key, proof, externalUserId };
}
