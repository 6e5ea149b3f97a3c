import {
  type Client,
  createRecipientWallet,
  getRedeemStatus,
  type RecipientWalletCreated,
  SvcApiError,
} from '@svc/sdk';
import { type ClaimErrorCode, errorCodeOf, isRefusal, isTransient } from './errors.ts';
import { withRetries } from './run-redeem.ts';
import type { KeyValueStorage } from './saved-redeem.ts';
import { deleteWallet, rememberWallet, type SavedWallet, saveWallet } from './saved-wallet.ts';
import type { Screen, ValidClaim } from './screen.ts';

interface Making {
  readonly client: Client;
  readonly storage: KeyValueStorage;
  readonly signal: AbortSignal;
  readonly claim: ValidClaim | undefined;
}

const POLL_MS = 2_000;
/** The token of a new wallet, for the wallet page of this tab. */
export const SESSION_KEY = 'svc-recipient';

/** Sends the wallet that was saved, as often as it takes: the service makes it once. Answers the last screen. */
export async function makeWallet(saved: SavedWallet, { client, storage, signal, claim }: Making): Promise<Screen> {
  let wallet = saved;
  const save = (facts: Partial<SavedWallet>) => {
    signal.throwIfAborted();
    wallet = { ...wallet, ...facts };
    saveWallet(storage, wallet);
  };
  try {
    if (wallet.redeemId === undefined) {
      const { code, draft, idempotencyKey } = wallet;
      const made = await withRetries(client, signal, isTransient, () =>
        createRecipientWallet(client, { code, wallet: draft, idempotencyKey }),
      );
      remember(storage, wallet, made);
      if (made.giftRedeem.status === 'FAILED') return stopped('payoutFailed');
      save({ redeemId: made.giftRedeem.id, status: made.giftRedeem.status === 'SUCCESS' ? 'SUCCESS' : 'PENDING' });
    }
    while (wallet.status !== 'SUCCESS') {
      await client.runtime.sleep(POLL_MS, signal);
      const { code, redeemId = '' } = wallet;
      const { status } = await withRetries(client, signal, isTransient, () =>
        getRedeemStatus(client, { code, redeemId }),
      );
      if (status === 'FAILED') return stopped('payoutFailed');
      if (status === 'SUCCESS') save({ status });
    }
    return { at: 'walletDone', wallet };
  } catch (error) {
    if (signal.aborted) throw error;
    const errorCode = walletErrorOf(error);
    return isOver(error) ? stopped(errorCode) : { at: 'error', errorCode, wallet, claim };
  }

  function stopped(errorCode: ClaimErrorCode): Screen {
    deleteWallet(storage, saved.code);
    return { at: 'error', errorCode, claim };
  }
}

function remember(storage: KeyValueStorage, { draft }: SavedWallet, made: RecipientWalletCreated): void {
  const { recipient, token, expiresAt } = made;
  const { passkey, recoverySecret } = draft;
  const opener = passkey ? { credentialId: String(passkey.id) } : recoverySecret && { recoverySecret };
  const orgName = recipient.brand?.name ?? recipient.orgName;
  rememberWallet(storage, { id: recipient.id, address: recipient.walletAddress, orgName, ...opener });
  if (token === null) return;
  try {
    sessionStorage.setItem(SESSION_KEY, JSON.stringify({ token, expiresAt, recipient }));
  } catch {
    // The wallet page asks for the passkey then.
  }
}

const refusals: Readonly<Record<string, ClaimErrorCode>> = {
  sponsorship_limit_reached: 'noNewWallets',
  sponsorship_not_allowed: 'noNewWallets',
  recipient_wallets_off: 'noNewWallets',
  public_key_required: 'noNewWallets',
  typed_data_expired: 'tooLate',
  invalid_passkey: 'tooLate',
};

export const walletErrorOf = (error: unknown): ClaimErrorCode =>
  (error instanceof SvcApiError ? refusals[error.code] : undefined) ?? errorCodeOf(error);

/** Refused for good: nothing was made, and the next attempt is a new wallet. */
const isOver = (error: unknown): boolean =>
  isRefusal(error) || (error instanceof SvcApiError && Object.hasOwn(refusals, error.code));
