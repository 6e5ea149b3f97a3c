import { SvcError, type SvcWallet } from '@svc/sdk';
import { type Svc, svcFor } from './backend.ts';
import { createWalletScreen } from './create-wallet.ts';
import { home } from './home.ts';
import { button, find, input, notify, onSubmit, show } from './page.ts';

const NAME = 'pocket.name';

onSubmit('sign-in-form', 'One moment…', async () => {
  await open(input('name').value.trim());
});
button('sign-out').addEventListener('click', () => {
  localStorage.removeItem(NAME);
  location.reload();
});

const known = localStorage.getItem(NAME);
if (known === null) show('sign-in');
else await open(known).catch((error: Error) => notify(error.message, 'wrong'));

async function open(name: string): Promise<void> {
  const svc = svcFor(name);
  const wallet = await findWallet(svc, name);
  localStorage.setItem(NAME, name);
  find('user-name', HTMLElement).textContent = name;
  find('who', HTMLElement).hidden = false;
  if (wallet) await home({ name, svc, wallet });
  else createWalletScreen(svc, name, (created) => home({ name, svc, wallet: created }));
}

async function findWallet(svc: Svc, externalUserId: string): Promise<SvcWallet | undefined> {
  try {
    return await svc.getWallet({ externalUserId });
  } catch (error) {
    if (error instanceof SvcError && error.code === 'wallet_not_found') return undefined;
    throw error;
  }
}
