import { CSPProvider } from '@base-ui/react/csp-provider';
import { type ReactNode, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './styles.css';
import { markDocument } from './language.ts';
import { applyTheme } from './theme.ts';

/** Starts a page of the design system. */
export function mount(page: ReactNode): void {
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
