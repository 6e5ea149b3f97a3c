import { createContext, useContext } from 'react';
import type { Explorers } from '../claim/gift.ts';
import { en } from '../language/en.ts';
import type { Texts } from '../language/texts.ts';

export interface PageContext {
  readonly texts: Texts;
  readonly explorers: Explorers;
}

export const PageContext = createContext<PageContext>({ texts: en, explorers: {} });
export const usePage = (): PageContext => useContext(PageContext);
