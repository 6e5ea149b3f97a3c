import { expect, it } from 'vitest';
import { checkRows, guessMapping, keyOfChunk, toChunks } from './gift-import.ts';

const mapping = { email: 'Correo', code: 'Código', amount: 'Monto', language: 'Idioma' };
const row = (email: string, code = '', amount = '', line = 2, language = '') => ({
  ...{ line, values: { Correo: email, Código: code, Monto: amount, Idioma: language } },
});

it('guesses the columns by their names in both languages, each once', () => {
  expect(guessMapping(['Nombre', 'Correo', 'Código', 'Monto', 'Idioma'])).toEqual(mapping);
  expect(guessMapping(['E-mail', 'Amount (USD)'])).toEqual({
    ...{ email: 'E-mail', code: '', amount: 'Amount (USD)', language: '' },
  });
  expect(guessMapping(['x'])).toEqual({ email: '', code: '', amount: '', language: '' });
});

it('gives every bad row its reasons and its line', () => {
  const rows = [
    row('ana@example.com', 'REYES-1', '5'),
    row('', 'x y', '0', 3),
    row('not an address', 'reyes-1', '', 5),
    row('luis@example.com', '', '', 6, 'ES'),
    row('eva@example.com', '', '', 7, 'fr'),
  ];
  const checked = checkRows(rows, mapping, '2.50');
  expect(checked.map(({ line, problems }) => [line, problems])).toEqual([
    [2, []],
    [3, ['emailMissing', 'codeWrong', 'amountWrong']],
    [5, ['emailWrong', 'codeTwice']],
    [6, []],
    [7, ['languageWrong']],
  ]);
  expect(checked.map(({ language }) => language)).toEqual(['', '', '', 'es', '']);
  expect(checked.map(({ micros }) => micros)).toEqual([5_000_000n, 0n, 2_500_000n, 2_500_000n, 2_500_000n]);
});

it('puts rows of one amount together, in requests of at most the size', () => {
  const rows = checkRows(
    [row('a@x.mx', '', '5'), row('b@x.mx', '', '1'), row('c@x.mx', '', '5.0'), row('d@x.mx', '', '5')],
    mapping,
    '',
  );
  const chunks = toChunks(rows, 2).map((chunk) => [chunk.amount, chunk.rows.map(({ email }) => email)]);
  expect(chunks).toEqual([
    ['5', ['a@x.mx', 'c@x.mx']],
    ['5', ['d@x.mx']],
    ['1', ['b@x.mx']],
  ]);
});

it('has the same key for the same part of the same file, and another one for everything else', async () => {
  const chunk = toChunks(checkRows([row('a@x.mx', '', '5')], mapping, ''))[0];
  const other = toChunks(checkRows([row('b@x.mx', '', '5')], mapping, ''))[0];
  const spanish = toChunks(checkRows([row('a@x.mx', '', '5', 2, 'es')], mapping, ''))[0];
  if (!chunk || !other || !spanish) throw new Error('There are no chunks.');
  const first = await keyOfChunk(chunk, { name: 'Reyes' }, 0, 0);
  expect(await keyOfChunk(chunk, { name: 'Reyes' }, 0, 0)).toBe(first);
  const others = [
    await keyOfChunk(other, { name: 'Reyes' }, 0, 0),
    await keyOfChunk(spanish, { name: 'Reyes' }, 0, 0),
    await keyOfChunk(chunk, { name: 'Navidad' }, 0, 0),
    await keyOfChunk(chunk, { name: 'Reyes' }, 1, 0),
    await keyOfChunk(chunk, { name: 'Reyes' }, 0, 1),
  ];
  expect(new Set([first, ...others]).size).toBe(6);
});
