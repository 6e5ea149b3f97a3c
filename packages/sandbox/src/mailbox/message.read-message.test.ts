import { expect, it } from 'vitest';
import { headerOf, readMessage } from './message.ts';

const read = (...lines: string[]) => readMessage(Buffer.from(lines.join('\r\n')));

it('reads headers that go over several lines and are encoded', () => {
  const { headers } = read(
    'Subject: =?UTF-8?Q?Tu_regalo_de_?=',
    ' =?UTF-8?B?VGllbmRhIPCfjoE=?= / Your gift',
    'X-Latin: =?iso-8859-1?q?ma=F1ana?=',
    'To: ana@example.com',
    '',
    'x',
  );
  expect(headerOf(headers, 'subject')).toBe('Tu regalo de Tienda 🎁 / Your gift');
  expect(headerOf(headers, 'x-latin')).toBe('mañana');
  expect(headerOf(headers, 'missing')).toBe('');
});

it('finds the plain and the HTML text, however they are encoded and nested', () => {
  const { text, html } = read(
    'Content-Type: multipart/mixed; boundary="outer"',
    '',
    'preamble',
    '--outer',
    'Content-Type: multipart/alternative; boundary=inner',
    '',
    '--inner',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'ma=C3=B1ana=',
    ' 1=3D1',
    '--inner',
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: base64',
    '',
    'PGI+8J+OgTwv',
    'Yj4=',
    '--inner--',
    '--outer--',
    'epilogue',
  );
  expect(text).toBe('mañana 1=1');
  expect(html).toBe('<b>🎁</b>');
});

it('reads a message without parts as text', () => {
  expect(read('To: a@b', '', 'hola', '', 'adiós')).toMatchObject({ text: 'hola\r\n\r\nadiós', html: undefined });
});

it.each([
  [''],
  ['no header'],
  ['Content-Type: multipart/mixed\r\n\r\nx'],
  ['Content-Type: text/plain; charset=nonsense\r\n\r\nx'],
  ['Subject: =?x?b?###?= =?utf-8?q?=ZZ?=\r\n\r\n'],
  [`${'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n'.repeat(200)}x`],
  [`Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(10_000)}`],
])('bears anything: %#', (raw) => {
  expect(() => readMessage(Buffer.from(raw))).not.toThrow();
});
