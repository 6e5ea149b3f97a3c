import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PDFDocument } from '@cantoo/pdf-lib';
import { encodeQR } from 'qr';
import decodeQR from 'qr/decode.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cardsPdf, pathOf } from './cards.ts';
import { readPeople } from './csv.ts';
import { digestOf, lockState, openState, saveState } from './import-state.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'svc-cli-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(text: string, name = 'people.csv'): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

describe('people of a file', () => {
  it('are read as spreadsheets write them: separators, quotes, byte order mark, Spanish names', () => {
    const file = fileOf('\uFEFFCorreo;Nombre;Monto\r\nana@example.com;"Ana; M";2.5\r\n\r\nluis@example.com;Luis;\r\n');
    expect(readPeople(file, { amount: '4' })).toEqual({
      people: [
        { email: 'ana@example.com', code: undefined, micros: 2_500_000n },
        { email: 'luis@example.com', code: undefined, micros: 4_000_000n },
      ],
      problems: [],
    });
  });

  it('may name the language of their mail, English or Spanish', () => {
    const file = fileOf('email,idioma\na@b.co,es\nc@d.co,EN\ne@f.co,\ng@h.co,fr\n');
    const { people, problems } = readPeople(file, { amount: '1' });
    expect(people.map(({ language }) => language)).toEqual(['es', 'en', undefined, undefined]);
    expect(problems).toEqual(['line 5: fr is no language of mails: use en, es, or nothing for both']);
    const unsaid = people.map(({ language: _, ...person }) => person);
    expect(digestOf(people, {})).not.toBe(digestOf(unsaid, {}));
  });

  it('are refused with the line of every problem', () => {
    const rows = ['ana@example.com,ABC,1', 'Ana@example.com,GOOD,10001', 'nobody,good,1', ',,0.0000001', 'b@c.de,,'];
    const { problems } = readPeople(fileOf(['email,code,amount', ...rows].join('\n')), {});
    expect(problems.map((problem) => problem.slice(0, 7))).toEqual([
      ...['line 2:', 'line 3:', 'line 3:', 'line 4:', 'line 4:', 'line 5:', 'line 5:', 'line 6:'],
    ]);
    expect(problems[1]).toMatch(/is in line 2 already/);
    expect(problems[4]).toMatch(/the code is in line 3 already/);
    const spaced = fileOf('\n\nemail;name;amount\n\na@b.co;"two\nlines";1\n;;\nnobody;;1\n', 'spaced.csv');
    expect(readPeople(spaced, {}).problems).toEqual(['line 8: nobody is no e-mail address']);
  });

  it('may be there twice only where that is asked for', () => {
    const file = fileOf('email\na@b.co\nA@b.co\n');
    expect(readPeople(file, { amount: '1' }).problems).toHaveLength(1);
    expect(readPeople(file, { amount: '1', allowDuplicates: true }).problems).toEqual([]);
  });

  it('need a column of addresses, and a row', () => {
    expect(() => readPeople(fileOf('name\nAna\n'), {})).toThrow(/no column email/);
    expect(() => readPeople(fileOf('email\n'), {})).toThrow(/no rows/);
  });
});

describe('the state of an import', () => {
  const people = [{ email: 'a@b.co', micros: 1_000_000n }];

  it('belongs to the same people, options and organisation only', () => {
    const file = path.join(folder, 'state.json');
    const digest = digestOf(people, { name: 'x' });
    saveState(file, { ...openState(file, digest), isDone: true });
    expect(openState(file, digest).isDone).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const other of [digestOf(people, { name: 'y' }), digestOf([{ email: 'a@b.co', micros: 2n }], { name: 'x' })]) {
      expect(() => openState(file, other)).toThrow(/belongs to another import/);
    }
    writeFileSync(file, '{"version":');
    expect(() => openState(file, digest)).toThrow(/is damaged/);
  });

  it('is used by one process at a time; the lock of a process that ended does not count', () => {
    const file = path.join(folder, 'state.json');
    const release = lockState(file);
    expect(() => lockState(file)).toThrow(/runs this import already/);
    release();
    expect(existsSync(`${file}.lock`)).toBe(false);
    writeFileSync(`${file}.lock`, '999999999');
    lockState(file)();
  });
});

describe('printed cards', () => {
  it('have QR codes that read as their link', () => {
    const link = 'https://svc.example/claim/NAVIDAD-2026';
    const matrix = encodeQR(link, 'raw', { ecc: 'medium', border: 1 });
    const [quiet, scale] = [4, 4];
    const size = (matrix.length + 2 * quiet) * scale;
    const data = new Uint8Array(size * size * 4).fill(255);
    for (const [, x, y, width] of pathOf(matrix).matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
      for (let at = 0; at < Number(width) * scale * scale; at++) {
        const px = (Number(x) + quiet) * scale + (at % (Number(width) * scale));
        const py = (Number(y) + quiet) * scale + Math.floor(at / (Number(width) * scale));
        data.fill(0, (py * size + px) * 4, (py * size + px) * 4 + 3);
      }
    }
    expect(decodeQR({ width: size, height: size, data })).toBe(link);
  });

  it('are ten on a page, with letters that the fonts lack replaced', async () => {
    const card = { name: 'Año nuevo 🎁 中', amount: '5', code: 'ABCD', claimUrl: 'https://svc.example/claim/ABCD' };
    const style = { brand: 'Tienda Ñandú', color: '#0b5a9d', textColor: '#ffffff', paper: 'letter' } as const;
    const drawn: number[] = [];
    const bytes = await cardsPdf(Array(11).fill(card), style, () => drawn.push(1));
    const pdf = await PDFDocument.load(bytes);
    expect(pdf.getPageCount()).toBe(2);
    expect(drawn).toHaveLength(11);
  });
});
