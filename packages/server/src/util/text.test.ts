import { expect, it } from 'vitest';
import { oneLine, storableText, withoutLinks } from './text.ts';

it.each([
  ['Ana\r\nBcc: eva@example.com', 'Ana Bcc: eva@example.com'],
  ['  a\t\0\u0085\u2028b  ', 'a b'],
  ['abc\u202egnp.exe', 'abc gnp.exe'],
  ['¡Feliz día! 🎁 "<b>"', '¡Feliz día! 🎁 "<b>"'],
  ['broken \ud800', 'broken \ufffd'],
])('makes a part of a line of %j', (text, line) => {
  expect(oneLine(text, 80)).toBe(line);
});

it('cuts what is too long between characters', () => {
  expect(oneLine('🎁🎁🎁🎁', 3)).toBe('🎁🎁…');
  expect(oneLine('🎁🎁🎁', 3)).toBe('🎁🎁🎁');
});

it.each([
  ['a\0b\0', 10, 'ab'],
  ['\0\0abc', 2, 'ab'],
  ['half \ud800', 10, 'half \ufffd'],
  ['ab🎁', 3, 'ab\ufffd'],
])('stores %j in %i characters as %j', (text, length, stored) => {
  expect(storableText(text, length)).toBe(stored);
});

it.each([
  ['https://evil.example/a.b', 'https: evil. example/a. b'],
  ['javascript:alert(1)', 'javascript: alert(1)'],
  ['//evil.example', 'evil. example'],
  ['evil\u200b.\u2060example', 'evil. example'],
  ['evil\uff0eexample y 10.0.0.1', 'evil\uff0e example y 10.0. 0.1'],
  ['eva@evil.example', 'eva@ evil. example'],
  ['Navidad: 10.50 USD a las 10:30, St. Nikolaus 🎁', 'Navidad: 10.50 USD a las 10:30, St. Nikolaus 🎁'],
])('leaves no link in %j', (text, plain) => {
  expect(withoutLinks(text)).toBe(plain);
});
