import { createRoot } from 'react-dom/client';
import { readCode, readExplorers } from './claim/gift.ts';
import { openStorage } from './claim/saved-redeem.ts';
import { ClaimPage } from './claim-page.tsx';
import { claimClient } from './client.ts';

const place = document.getElementById('page');
const explorers = document.querySelector<HTMLMetaElement>('meta[name="svc-explorers"]')?.content ?? '';

if (place) {
  createRoot(place).render(
    <ClaimPage
      code={readCode(location.pathname)}
      client={claimClient(location.href)}
      storage={openStorage(() => localStorage)}
      explorers={readExplorers(explorers)}
    />,
  );
}
