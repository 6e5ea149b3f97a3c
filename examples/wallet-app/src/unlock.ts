import { SvcError, SvcPasskeyError } from '@svc/sdk';
import type { Account } from './backend.ts';
import { button, find, form, input } from './page.ts';
import { readRecoveryCode } from './recovery-code.ts';

/** The `encryptKey` from the passkey, or the recovery code if the passkey fails. */
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
