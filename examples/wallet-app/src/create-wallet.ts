import { SvcPasskeyError, type SvcWallet } from '@svc/sdk';
import type { Svc } from './backend.ts';
import { keepCode } from './keep-code.ts';
import { busy, button, notify, show } from './page.ts';
import { newRecoveryCode } from './recovery-code.ts';

/** Ten lines to a wallet; the rest is what the user sees. */
export function createWalletScreen(svc: Svc, name: string, done: (wallet: SvcWallet) => Promise<void>): void {
  // One for all tries, so that a code which was written down is never the wrong one.
  const recoveryCode = newRecoveryCode();
  const create = async (usePasskey: boolean) => {
    // First of all: a page that is closed now leaves a code without a wallet, never a wallet without a code.
    if (!(await keepCode(recoveryCode))) return;
    // The user has just clicked, which is when a browser makes a passkey.
    const wallet = await svc.createWallet({
      externalUserId: name,
      chain: 'STARKNET',
      // With a passkey this is the second way in, without one the only way.
      encryptKey: recoveryCode,
      usePasskey,
    });
    await svc.waitForTransaction(wallet.transactionHash, { retryIntervalMs: 500 });
    await done(wallet);
  };
  button('create-passkey').onclick = (event) =>
    busy(event.currentTarget as HTMLButtonElement, 'Creating your wallet…', () => create(true).catch(offerCode));
  button('create-code').onclick = (event) =>
    busy(event.currentTarget as HTMLButtonElement, 'Creating your wallet…', () => create(false));
  show('create');
}

/** Not every device has passkeys that can lock a key. */
function offerCode(error: unknown): void {
  if (!(error instanceof SvcPasskeyError)) throw error;
  button('create-code').hidden = false;
  const cancelled = error.code === 'passkey_cancelled';
  notify(cancelled ? 'No passkey was made. Try again, or use the recovery code.' : error.message, 'wrong');
}
