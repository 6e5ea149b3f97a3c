import { SvcError, SvcPasskeyError } from '@svc/sdk';
import type { Account } from './account.ts';
import { button, find, form, input } from './page.ts';
import { readRecoveryCode } from './recovery-code.ts';

/** What opens the wallet's key: the passkey, or the recovery code where the passkey does not. */
export async function unlock({ svc, name }: Account): Promise<string> {
  try {
    return await svc.passkeys.unlock({ externalUserId: name });
  } catch (error) {
    if (!(error instanceof SvcPasskeyError)) throw error;
    return askForCode();
  }
}

function askForCode(): Promise<string> {
  const dialog = find('unlock', HTMLDialogElement);
  input('unlock-code').value = '';
  button('unlock-cancel').onclick = () => dialog.close('');
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve, reject) => {
    dialog.onclose = () => {
      const code = readRecoveryCode(input('unlock-code').value);
      form('unlock-form').reset();
      if (dialog.returnValue === 'open') resolve(code);
      else reject(new SvcError('cancelled', 'Nothing was sent.'));
    };
  });
}
