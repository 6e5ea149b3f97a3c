import type { KeyValueStorage } from '../claim/saved-redeem.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import type { Texts } from './texts.ts';

export const languages = { en, es } as const satisfies Record<string, Texts>;
export type Language = keyof typeof languages;

const NAME = 'svc-language';

/** The saved choice, else the first supported language of the browser, else English. */
export function chooseLanguage(storage: KeyValueStorage, preferred: readonly string[]): Language {
  const spoken = [storage.getItem(NAME) ?? '', ...preferred].map((tag) => tag.slice(0, 2).toLowerCase());
  return spoken.find(isLanguage) ?? 'en';
}

export const saveLanguage = (storage: KeyValueStorage, language: Language): void => storage.setItem(NAME, language);

const isLanguage = (text: string): text is Language => Object.hasOwn(languages, text);

/** To the peso: the rate moves while it is read. */
export function formatPesos(amount: string, locale: string): string {
  const format = new Intl.NumberFormat(locale, { maximumFractionDigits: Number(amount) < 10 ? 2 : 0 });
  return `$${format.format(Number(amount))}\u00a0MXN`;
}

export const formatDay = (moment: string, locale: string): string =>
  new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short' }).format(new Date(moment));

/** `5` stays 5, `2.5` becomes 2.50. */
export function formatAmount(amount: string, token: string, locale: string): string {
  const decimals = amount.includes('.') ? 2 : 0;
  const format = new Intl.NumberFormat(locale, { minimumFractionDigits: decimals, maximumFractionDigits: 6 });
  return `${format.format(Number(amount))}\u00a0${token}`;
}
