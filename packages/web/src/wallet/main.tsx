import { createRoot } from 'react-dom/client';
import { openStorage } from '../claim/saved-redeem.ts';
import { markDocument } from '../ui/language.ts';
import { WalletApp } from './app.tsx';

const place = document.getElementById('page');
/** The interface is beside the page, below any prefix of a proxy. */
const root = location.href.replace(/\/wallet(\/.*|\?.*|#.*)?$/, '');

markDocument();
if (place) {
  createRoot(place).render(<WalletApp baseUrl={`${root}/v1`} storage={openStorage(() => localStorage)} />);
}
