import { describe, expect, it } from 'vitest';
import { generateKey, hashSecret, looksLikeKey } from './api-keys.ts';

describe('API keys', () => {
  it('say what they are and carry at least 32 random letters and digits', () => {
    expect(generateKey('public', 'development')).toMatch(/^pk_dev_[A-Za-z0-9]{32,}$/);
    expect(generateKey('secret', 'production')).toMatch(/^sk_prod_[A-Za-z0-9]{32,}$/);
  });

  it('never repeat', () => {
    const keys = new Set(Array.from({ length: 1_000 }, () => generateKey('secret', 'development')));
    expect(keys.size).toBe(1_000);
  });

  it('use every character of the alphabet about equally often', () => {
    const text = Array.from({ length: 2_000 }, () => generateKey('secret', 'development').slice('sk_dev_'.length)).join(
      '',
    );
    const counts = new Map<string, number>();
    for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    const expected = text.length / 62;
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(expected * 0.25);
  });

  it('are distinguished from other text, and public from secret, by their form alone', () => {
    const key = generateKey('public', 'development');
    expect(looksLikeKey(key, 'public')).toBe(true);
    expect(looksLikeKey(key, 'secret')).toBe(false);
    for (const text of [
      '',
      'pk_dev_',
      `${key}-`,
      `${key}\n`,
      key.replace('dev', 'test'),
      `pk_dev_${'a'.repeat(129)}`,
    ]) {
      expect(looksLikeKey(text, 'public'), text).toBe(false);
    }
  });

  it('are kept as a hash from which they cannot be read', () => {
    const key = generateKey('secret', 'development');
    expect(Buffer.from(hashSecret(key), 'base64')).toHaveLength(32);
    expect(hashSecret(key)).not.toBe(hashSecret(`${key}x`));
  });
});
