import { useSyncExternalStore } from 'react';
import { choice, readStored, store } from './storage.ts';

export const languages = { en: 'English', es: 'Español' } as const;
export type Language = keyof typeof languages;

const NAME = 'svc-language';
const isLanguage = (text: string): text is Language => Object.hasOwn(languages, text);

/** The saved choice, else the first supported language of the browser, else English. */
function preferred(): Language {
  const tags = [readStored(NAME) ?? '', ...(globalThis.navigator?.languages ?? [])];
  return tags.map((tag) => tag.slice(0, 2).toLowerCase()).find(isLanguage) ?? 'en';
}

const language = choice<Language>(preferred(), (chosen) => {
  store(NAME, chosen);
  markDocument();
});

/** Tells screen readers and hyphenation the language of the page. */
export function markDocument(): void {
  document.documentElement.lang = language.get();
}

export const currentLanguage = language.get;
export const setLanguage = language.set;
export const useLanguage = (): Language => useSyncExternalStore(language.subscribe, language.get);

/** Locale for dates and numbers. */
export const localeOf = (chosen: Language): string => (chosen === 'es' ? 'es-MX' : 'en-GB');

type Widened<T> = T extends string
  ? string
  : T extends (...args: infer A) => string
    ? (...args: A) => string
    : { readonly [K in keyof T]: Widened<T[K]> };

export interface Words<T> {
  readonly en: T;
  readonly es: Widened<T>;
}

/** Texts in both languages. The compiler wants the same keys in both. */
export const defineWords = <const T>(words: Words<T>): Words<T> => words;

export function useWords<T>(words: Words<T>): Widened<T> {
  return words[useLanguage()] as Widened<T>;
}
