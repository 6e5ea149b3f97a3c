import { useSyncExternalStore } from 'react';
import { choice, readStored, store } from './storage.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const NAME = 'svc-theme';
const saved = readStored(NAME);

const theme = choice<Theme>(themes.find((name) => name === saved) ?? 'system', (chosen) => {
  store(NAME, chosen);
  applyTheme();
});

/** Before the first render, so that the page never shows the other colours. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.get();
}

export const setTheme = theme.set;
export const useTheme = (): Theme => useSyncExternalStore(theme.subscribe, theme.get);
