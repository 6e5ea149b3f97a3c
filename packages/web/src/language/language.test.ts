import { describe, expect, it } from 'vitest';
import type { KeyValueStorage } from '../claim/saved-redeem.ts';
import { chooseLanguage, formatAmount, languages, saveLanguage } from './language.ts';

function newStorage(): KeyValueStorage {
  const items = new Map<string, string>();
  return {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => void items.set(name, value),
    removeItem: (name) => void items.delete(name),
  };
}

describe('the language', () => {
  it.each([
    [['es-AR'], 'es'],
    [['ES'], 'es'],
    [['fr-FR', 'es-ES', 'en'], 'es'],
    [['en-GB', 'es'], 'en'],
    [['de'], 'en'],
    [[], 'en'],
  ])("is the first supported one of the browser's: %j", (preferred, language) => {
    expect(chooseLanguage(newStorage(), preferred)).toBe(language);
  });

  it('is the saved choice, regardless of the browser', () => {
    const storage = newStorage();
    saveLanguage(storage, 'es');
    expect(chooseLanguage(storage, ['en-US'])).toBe('es');
  });

  it.each([
    ['5', '5 USDC'],
    ['2.5', '2.50 USDC'],
    ['1234.000001', '1,234.000001 USDC'],
  ])('formats the amount %s', (amount, shown) => {
    expect(formatAmount(amount, 'USDC', languages.en.locale).replace('\u00a0', ' ')).toBe(shown);
    expect(formatAmount(amount, 'USDC', languages.es.locale).replace('\u00a0', ' ')).toBe(shown);
  });
});
