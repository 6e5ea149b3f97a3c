import { describe, expect, it } from 'vitest';
import { type PurchaseContent, purchaseMail } from './purchase.ts';
import { fillTemplate } from './templates.ts';

const content: PurchaseContent = {
  purchaseId: 'txn_1',
  service: 'Recarga Telcel',
  reference: '5512345678',
  amount: '50.5',
  currency: 'MXN',
  orgName: 'Tienda Azul',
  refundDue: false,
};
const hostile =
  '<script>alert(1)</script>"\'><img src=x onerror=alert(1)>\r\nBcc: eva@example.com\r\n\r\n{{7*7}} \u202e';
const failed = { ...content, reason: 'No such number.', refundDue: true };

describe('a mail about a purchase', () => {
  it.each([
    ['purchase-completed', { ...content, fileNumber: 'F-77' }, ['Compra entregada', 'Purchase delivered', 'F-77']],
    ['purchase-failed', failed, ['La compra falló', 'The purchase failed', 'No such number.', 'pendiente', 'is due']],
    ['purchase-failed', content, ['no hay nada que devolver', 'nothing to give back']],
    ['purchase-cancelled', { ...content, refundDue: true }, ['Compra cancelada', 'Purchase cancelled', 'is due']],
    ['purchase-cancelled', content, ['Si el pago llega', 'Should the payment arrive']],
  ])('of %s says in both languages and parts what was bought and how it ended', (template, filled, said) => {
    const { subject, text, html } = fillTemplate(template, filled);
    expect(subject).toContain('Recarga Telcel, 50.50 MXN');
    for (const part of [text, html]) {
      for (const words of ['Recarga Telcel', '5512345678', '50.50 MXN', 'txn_1', ...said])
        expect(part).toContain(words);
    }
    expect(text.indexOf('Servicio')).toBeLessThan(text.indexOf('Service'));
  });

  it('says nothing of a refund where everything was delivered', () => {
    const { text, html } = purchaseMail('completed')({ ...content, fileNumber: 'F-77' });
    expect(text + html).not.toMatch(/refund|reembolso/i);
  });

  it('loads nothing, sends nothing and runs nothing', () => {
    const { html } = purchaseMail('failed')(failed);
    expect(html).not.toMatch(
      /<(script|img|link|iframe|form|object|embed|base|svg|a)\b|\ssrc=|url\(|@import|\son\w+=|https?:/i,
    );
  });

  it.each(['service', 'reference', 'reason', 'orgName'] as const)(
    'shows a hostile %s as text, within its line',
    (field) => {
      const { subject, text, html } = purchaseMail('failed')({ ...failed, [field]: hostile });
      const plain = purchaseMail('failed')(failed);
      const tags = (markup: string) => [...markup.matchAll(/<\/?[a-z0-9]+/gi)].map(([tag]) => tag);
      expect(tags(html)).toEqual(tags(plain.html));
      expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
      expect(subject).not.toMatch(/[\p{Cc}\u202e]/u);
      expect(text.split('\n')).toHaveLength(plain.text.split('\n').length);
    },
  );

  it('keeps its subject short for a long service name', () => {
    const { subject, text } = purchaseMail('failed')({
      ...failed,
      service: 'x'.repeat(500),
      reason: 'y'.repeat(4_000),
    });
    expect([...subject].length).toBeLessThan(160);
    expect(text.length).toBeLessThan(2_000);
  });
});
