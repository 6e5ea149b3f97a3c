import { describe, expect, it } from 'vitest';
import { content } from '../../../testing/mail.ts';
import { giftMail } from './gift.ts';
import { fillTemplate } from './templates.ts';

const hostile =
  '<script>alert(1)</script>"\'><img src=x onerror=alert(1)>\r\nBcc: eva@example.com\r\n\r\n🎁 {{7*7}} \u202e';

describe('a gift mail', () => {
  it('says in Spanish and English, in both parts, what it is, from whom, and where to get it', () => {
    const { subject, text, html } = giftMail(content);
    expect(subject).toBe('Tu regalo de Tienda Azul: 25.50 USDC / Your gift');
    for (const part of [text, html]) {
      for (const said of ['¡Tienes un regalo!', 'You have a gift!', '25.50 USDC', 'Tienda Azul', 'Premio de verano']) {
        expect(part).toContain(said);
      }
      expect(part.split(content.claimUrl)).toHaveLength(3);
      expect(part.indexOf('Tienes')).toBeLessThan(part.indexOf('You have'));
    }
  });

  it("has one language alone, in both parts, where the recipient's is known", () => {
    const spanish = giftMail({ ...content, language: 'es' });
    expect(spanish.subject).toBe('Tu regalo de Tienda Azul: 25.50 USDC');
    const english = giftMail({ ...content, language: 'en' });
    expect(english.subject).toBe('Your gift from Tienda Azul: 25.50 USDC');
    for (const part of [spanish.text, spanish.html]) expect(part).not.toMatch(/You have a gift|did not expect/);
    for (const part of [english.text, english.html]) expect(part).not.toMatch(/regalo!|esperabas/);
    expect(english.html).toContain('<html lang="en">');
  });

  it.each([
    ['5', '5.00'],
    ['25.5', '25.50'],
    ['0.000001', '0.000001'],
    ['1000000', '1000000.00'],
  ])('writes %s as %s', (amountUsd, written) => {
    expect(giftMail({ ...content, amountUsd }).subject).toContain(` ${written} USDC`);
  });

  it('loads nothing, sends nothing and runs nothing', () => {
    const { html } = giftMail(content);
    expect(html).not.toMatch(/<(script|img|link|iframe|form|object|embed|base|svg)\b|\ssrc=|url\(|@import|\son\w+=/i);
    const addresses = [...html.matchAll(/https?:[^"'\s<]*/g)].map(([address]) => address);
    expect(new Set(addresses)).toEqual(new Set([content.claimUrl]));
  });

  it('shows a preview before everything else', () => {
    const body = giftMail(content).html.replace(/^[\s\S]*<body[^>]*>/, '');
    expect(
      body
        .replace(/<[^>]*>/g, '')
        .trim()
        .split('\n')[0],
    ).toContain('Tienda Azul: 25.50 USDC.');
  });

  it.each(['name', 'orgName', 'code'] as const)('shows a hostile %s as text', (field) => {
    const { html } = giftMail({ ...content, [field]: hostile });
    const plain = giftMail(content).html;
    const tags = (markup: string) => [...markup.matchAll(/<\/?[a-z0-9]+/gi)].map(([tag]) => tag);
    expect(tags(html)).toEqual(tags(plain));
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  });

  it.each(['name', 'orgName'] as const)('carries no link in a %s, in no part', (field) => {
    const links = [
      'https://evil.example/x?y=1',
      'www.evil.example',
      'evil.example/claim',
      'eva@evil.example',
      'evil。example',
    ];
    for (const link of links) {
      const { subject, text, html } = giftMail({ ...content, [field]: `Premio ${link} ya` });
      for (const part of [subject, text, html]) {
        const rest = part.replaceAll(content.claimUrl, '');
        expect(rest).not.toMatch(/evil[.。]example|:\/\/|eva@evil/);
      }
      expect(html.match(/href="[^"]*"/g)).toEqual([`href="${content.claimUrl}"`, `href="${content.claimUrl}"`]);
    }
  });

  it('keeps a hostile name within its line, in the subject and in the text', () => {
    const { subject, text } = giftMail({ ...content, name: hostile, orgName: hostile });
    expect(subject).not.toMatch(/[\p{Cc}\u202e]/u);
    expect([...subject].length).toBeLessThan(140);
    expect(text.split('\n')).toHaveLength(giftMail(content).text.split('\n').length);
  });
});

it('an unknown template is refused', () => {
  expect(() => fillTemplate('toString', content)).toThrow('toString');
});
