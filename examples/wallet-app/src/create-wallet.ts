import { SvcPasskeyError, type SvcWallet } from '@svc/sdk';
import type { Svc } from './backend.ts';
import { busy, button, copy, find, notify, show } from './page.ts';
import { newRecoveryCode } from './recovery-code.ts';

export function createWalletScreen(svc: Svc, name: string, done: (wallet: SvcWallet) => Promise<void>): void {
  // One code for all attempts, so that a code on paper is never the wrong one.
  const recoveryCode = newRecoveryCode();
  const create = async (usePasskey: boolean) => {
    // First: closing the page now leaves a code without a wallet, never a wallet without a code.
    if (!(await storeCode(recoveryCode))) return;
    // Right after the click, when a browser allows creating a passkey.
    const wallet = await svc.createWallet({
      externalUserId: name,
      chain: 'STARKNET',
      // The backup of the passkey, or the only key without one.
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

/** Not every device has passkeys with PRF. */
function offerCode(error: unknown): void {
  if (!(error instanceof SvcPasskeyError)) throw error;
  button('create-code').hidden = false;
  const cancelled = error.code === 'passkey_cancelled';
  notify(cancelled ? 'No passkey was made. Try again, or use the recovery code.' : error.message, 'wrong');
}

/** Shows the code until the user confirms having stored it. Resolves within the user's click. */
function storeCode(recoveryCode: string): Promise<boolean> {
  const dialog = find('recovery', HTMLDialogElement);
  const code = find('recovery-code', HTMLElement);
  code.textContent = recoveryCode;
  button('copy-recovery').onclick = () => copy(recoveryCode);
  button('recovery-cancel').onclick = () => dialog.close();
  dialog.showModal();
  return new Promise((resolve) => {
    button('recovery-kept').onclick = () => {
      resolve(true);
      dialog.close();
    };
    // Closed in any other way: not stored.
    dialog.onclose = () => {
      code.textContent = '';
      resolve(false);
    };
  });
}
