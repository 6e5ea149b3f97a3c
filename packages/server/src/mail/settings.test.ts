import { describe, expect, it } from 'vitest';
import { parseSender, parseSmtpUrl } from './settings.ts';

describe('SMTP_URL', () => {
  it.each([
    ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, secure: false, requireTls: true }],
    ['smtps://mail.example.com', { host: 'mail.example.com', port: 465, secure: true, requireTls: true }],
    ['smtp://mail.example.com:2525/', { port: 2525, login: undefined }],
    ['smtp://ana%40x.example:p%40ss%2F@m.example', { login: { user: 'ana@x.example', password: 'p@ss/' } }],
    ['smtp://127.0.0.1:1025', { requireTls: false }],
    ['smtp://localhost:1025', { requireTls: false }],
    ['smtp://[::1]:1025', { host: '::1', requireTls: false }],
    ['smtp://mailhog:1025?tls=optional', { host: 'mailhog', requireTls: false }],
  ])('takes %s', (text, server) => {
    expect(parseSmtpUrl(text)).toMatchObject({ ok: true, value: server });
  });

  it.each([
    'mail.example.com',
    'https://mail.example.com',
    'smtp://',
    'smtp://m.example/path',
    'smtp://m.example?logger=true',
    'smtp://m.example?tls=optional&debug=1',
    'smtp://user@m.example',
    'smtp://user:50%off@m.example',
    'smtp://m.example:99999',
  ])('refuses %s', (text) => {
    expect(parseSmtpUrl(text)).toEqual({ ok: false, reason: expect.any(String) });
  });
});

describe('MAIL_FROM', () => {
  it.each([
    ['gifts@example.com', { name: '', address: 'gifts@example.com' }],
    ['Tienda Azul <gifts@example.com>', { name: 'Tienda Azul', address: 'gifts@example.com' }],
    ['"Tienda, S.A." <gifts@example.com>', { name: 'Tienda, S.A.', address: 'gifts@example.com' }],
  ])('takes %s', (text, value) => {
    expect(parseSender(text)).toEqual({ ok: true, value });
  });

  it.each([
    'gifts',
    'a@b, c@d',
    'A <a@b> <c@d>',
    'A\r\nBcc: x <a@b>',
    'A <a@b\r\n>',
    '@b',
    `${'a'.repeat(250)}@b.example`,
  ])('refuses %j', (text) => {
    expect(parseSender(text)).toMatchObject({ ok: false });
  });
});
