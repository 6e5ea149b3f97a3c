import { SvcApiError, SvcConnectionError, SvcError } from '@svc/sdk';
import { formatAmount, readAmount } from './amounts.ts';
import { type Account, canUseFaucet, fundWithTestMoney } from './backend.ts';
import { refresh } from './overview.ts';
import { busy, button, copy, find, form, input, notify, onSubmit, show } from './page.ts';
import { unlock } from './unlock.ts';

export async function home(account: Account): Promise<void> {
  const { publicKey } = account.wallet;
  find('address', HTMLElement).textContent = publicKey;
  button('copy-address').onclick = () => copy(publicKey);
  const faucet = button('faucet');
  faucet.hidden = !canUseFaucet;
  faucet.onclick = () =>
    busy(faucet, 'On its way…', async () => {
      await fundWithTestMoney(publicKey);
      await refresh(account);
      notify('25 test USDC have arrived.');
    });
  onSubmit('send-form', 'Sending…', () => send(account));
  show('home');
  await refresh(account);
}

async function send(account: Account): Promise<void> {
  const { svc, wallet } = account;
  const [amount, recipient] = [input('amount').value, input('recipient').value.trim()];
  const { raw, decimals } = await refresh(account);
  if (readAmount(amount, decimals) > raw) {
    return notify(`You have ${formatAmount(raw, decimals)} USDC. Choose a smaller amount.`, 'wrong');
  }
  const encryptKey = await unlock(account);
  try {
    const hash = await svc.transfer({ encryptKey, wallet, amount, token: 'USDC', recipient });
    const { success } = await svc.waitForTransaction(hash, { retryIntervalMs: 500 });
    if (!success) return await report(account, 'The transfer did not go through. Nothing was sent.', 'wrong');
  } catch (error) {
    if (!mayHaveBeenSent(error)) throw error;
    form('send-form').reset();
    return await report(account, 'It may have been sent. Look at Activity first.', 'wrong');
  }
  form('send-form').reset();
  await report(account, `${amount} USDC sent.`);
}

/**
 * Only errors of the library itself and 4xx answers are certain. Without an answer, or after a 5xx, the outcome is
 * unknown.
 */
function mayHaveBeenSent(error: unknown): boolean {
  if (error instanceof SvcApiError) return error.status >= 500;
  return !(error instanceof SvcError) || error instanceof SvcConnectionError;
}

/** Reports the outcome even if the list cannot be read: otherwise the user might send again. */
async function report(account: Account, text: string, kind?: 'wrong'): Promise<void> {
  await refresh(account).catch(() => undefined);
  notify(text, kind);
}
