import { CSPProvider } from '@base-ui/react/csp-provider';
import { type ReactNode, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './styles.css';
import { markDocument } from './language.ts';
import { applyTheme } from './theme.ts';

/**
 * The page's style sheets have relative addresses, which change their meaning with the page's own address. Without
 * this, Vite's loader takes them for missing, and loads the design system again after what builds on it.
 */
function pinStyleSheets(): void {
  for (const { href } of document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')) {
    const pin = Object.assign(document.createElement('link'), { rel: 'stylesheet', href, disabled: true });
    document.head.append(pin);
  }
}

/** Starts a page of the design system. */
export function mount(page: ReactNode): void {
  pinStyleSheets();
  applyTheme();
  markDocument();
  const place = document.getElementById('page');
  if (!place) return;
  // The content security policy allows no style elements.
  createRoot(place).render(
    <StrictMode>
      <CSPProvider disableStyleElements>{page}</CSPProvider>
    </StrictMode>,
  );
}
