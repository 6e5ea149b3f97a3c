import { button, copy, find } from './page.ts';

/** Shows the code until the user says that it is kept. Answers whether it is, within the user's click. */
export function keepCode(recoveryCode: string): Promise<boolean> {
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
    // By any other way out the code is not kept.
    dialog.onclose = () => {
      code.textContent = '';
      resolve(false);
    };
  });
}
