import { SvcApiError, SvcConnectionError, SvcError } from '@svc/sdk';
import type { Account } from './account.ts';
import { formatAmount, readAmount } from './amounts.ts';
import { canUseFaucet, fillWithTestMoney } from './backend.ts';
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
      await fillWithTestMoney(publicKey);
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

/** Only the library's own refusals are certain. Without an answer, or with one of a service in trouble, nobody here knows. */
function mayHaveBeenSent(error: unknown): boolean {
  if (error instanceof SvcApiError) return error.status >= 500;
  return !(error instanceof SvcError) || error instanceof SvcConnectionError;
}

/** What became of the transfer is said even where the list cannot be read: else it would be sent a second time. */
async function report(account: Account, text: string, kind?: 'wrong'): Promise<void> {
  await refresh(account).catch(() => undefined);
  notify(text, kind);
}
