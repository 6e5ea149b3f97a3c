import { expect, it } from 'vitest';
import { formatUsd } from './amounts.ts';
import { findGiftColumns, readGiftAmount, readGiftLanguage, toCsv, toTable } from './gift-file.ts';

const cell = (value: string | number | null) => toCsv(['a'], [[value]]).split('\r\n')[1];

it('writes rows with a byte order mark and quotes what needs it', () => {
  expect(toCsv(['name', 'amount'], [['Reyes, "2026"', 5]])).toBe('\uFEFFname,amount\r\n"Reyes, ""2026""",5\r\n');
  expect(cell('two\nlines')).toBe('"two\nlines"');
  expect(cell(null)).toBe('');
});

it.each(['=1+1', '+52 55', '-cmd', '@SUM(A1)', '\tx', '\rx'])('does not let a spreadsheet run %j', (text) => {
  expect(cell(text)?.replace(/^"/, '')).toMatch(/^'/);
});

it('leaves numbers as they are', () => {
  expect(cell(-5.25)).toBe('-5.25');
  expect(cell('-0.000001')).toBe('-0.000001');
});

it('knows the line of every row, with blank lines and cells of several lines', () => {
  const cells = [[''], ['email', ' name ', 'name'], ['', ' '], ['a@b.co', 'two\nlines', 'x'], ['c@d.co']];
  expect(toTable(cells)).toEqual({
    columns: ['email', 'name', 'name'],
    rows: [
      { line: 4, values: { email: 'a@b.co', name: 'two\nlines' } },
      { line: 6, values: { email: 'c@d.co', name: '' } },
    ],
  });
  expect(toTable([[''], [' ', '']])).toEqual({ columns: [], rows: [] });
});

it.each([
  ['5', '5'],
  ['0.000001', '0.000001'],
  ['10000', '10000'],
  [' 2.50 ', '2.5'],
])('reads the amount %s', (text, shown) => {
  expect(formatUsd(readGiftAmount(text) ?? 0n)).toBe(shown);
});

it.each(['0', '10000.000001', '1.0000001', '-1', '1e3', '', 'five', '1,5'])('refuses the amount %s', (text) => {
  expect(readGiftAmount(text)).toBeUndefined();
});

it('uses a column for one field only', () => {
  const found = findGiftColumns(['Email code', 'Code']);
  expect(found).toEqual({ email: 'Email code', code: 'Code', amount: undefined, language: undefined });
  expect(findGiftColumns(['correo', 'Idioma']).language).toBe('Idioma');
});

it('reads English, Spanish or nothing as a language, and nothing else', () => {
  expect([' EN ', 'es', ' '].map(readGiftLanguage)).toEqual(['en', 'es', '']);
  expect(['fr', 'español', 'en-US'].map(readGiftLanguage)).toEqual([undefined, undefined, undefined]);
});
