import { expect, it } from 'vitest';
import { toCsv } from './csv.ts';

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
