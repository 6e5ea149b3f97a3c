import type { Brand } from '@svc/protocol';
import { type Html, html, oneLine } from '../../util/text.ts';
import { type FilledTemplate, FONT, framed, MAX_NAME_LENGTH, MUTED, senderName } from './layout.ts';

export interface PurchaseContent {
  readonly purchaseId: string;
  readonly service: string;
  readonly reference: string;
  /** Decimal. */
  readonly amount: string;
  readonly currency: string;
  readonly orgName: string;
  readonly fileNumber?: string;
  readonly reason?: string;
  readonly refundDue: boolean;
}

const MAX_VALUE_LENGTH = 300;

type LanguageWords = (typeof languages)[number];
type Row = readonly [label: string, value: string];

export function purchaseMail(end: PurchaseEnd): (content: PurchaseContent, brand?: Brand) => FilledTemplate {
  return (content, brand) => {
    const service = oneLine(content.service, MAX_NAME_LENGTH);
    const titles = languages.map(({ titles }) => titles[end]);
    const what = `${service}, ${withCents(content.amount)} ${content.currency}`;
    const all = languages.map((words) => ({ words, title: words.titles[end], rows: rowsIn(words, end, content) }));
    return {
      subject: `${titles[0]}: ${what} / ${titles[1]}`,
      text: all
        .map(({ title, rows }) => textOf(title, rows))
        .join('\n\n---\n\n')
        .concat('\n'),
      html: framed({
        title: titles.join(' / '),
        preview: `${senderName(content.orgName, brand)}: ${what}`,
        brand,
        sections: all.map(({ words, title, rows }, index) => section(words.language, title, rows, index > 0)),
      }).text,
    };
  };
}

function rowsIn(words: LanguageWords, end: PurchaseEnd, content: PurchaseContent): Row[] {
  const rows: (Row | undefined)[] = [
    [words.service, content.service],
    [words.reference, content.reference],
    [words.amount, `${withCents(content.amount)} ${content.currency}`],
    content.fileNumber === undefined ? undefined : [words.fileNumber, content.fileNumber],
    content.reason === undefined ? undefined : [words.reason, content.reason],
    [words.purchase, content.purchaseId],
    end === 'completed' ? undefined : [words.refund, content.refundDue ? words.refundDue : words.notDue[end]],
  ];
  return rows.flatMap((row) => (row ? [[row[0], oneLine(row[1], MAX_VALUE_LENGTH)] as const] : []));
}

function withCents(amount: string): string {
  const [whole = '0', decimals = ''] = amount.split('.');
  return `${whole}.${decimals.padEnd(2, '0')}`;
}

const textOf = (title: string, rows: readonly Row[]): string =>
  [title, '', ...rows.map(([label, value]) => `${label}: ${value}`)].join('\n');

const section = (
  language: string,
  title: string,
  rows: readonly Row[],
  ruled: boolean,
): Html => html`<tr><td lang="${language}" style="padding:32px 24px;${ruled && 'border-top:1px solid #e8e3dd;'}${FONT};font-size:16px;line-height:1.5;color:#211b17">
<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">${title}</h1>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
${rows.map(row)}
</table>
</td></tr>
`;

const row = ([label, value]: Row): Html => html`<tr>
<td style="padding:4px 16px 4px 0;${FONT};font-size:14px;vertical-align:top;color:${MUTED}">${label}</td>
<td style="padding:4px 0;${FONT};font-size:16px;vertical-align:top;color:#211b17;word-break:break-word"><bdi>${value}</bdi></td>
</tr>
`;

export type PurchaseEnd = 'completed' | 'failed' | 'cancelled';

interface Words {
  readonly language: string;
  readonly titles: Readonly<Record<PurchaseEnd, string>>;
  readonly service: string;
  readonly reference: string;
  readonly amount: string;
  readonly fileNumber: string;
  readonly reason: string;
  readonly purchase: string;
  readonly refund: string;
  readonly refundDue: string;
  readonly notDue: Readonly<Record<Exclude<PurchaseEnd, 'completed'>, string>>;
}

/** The reader's language is unknown, so the mail has both. */
export const languages: readonly Words[] = [
  {
    language: 'es',
    titles: { completed: 'Compra entregada', failed: 'La compra falló', cancelled: 'Compra cancelada' },
    service: 'Servicio',
    reference: 'Referencia',
    amount: 'Importe',
    fileNumber: 'Folio',
    reason: 'Motivo',
    purchase: 'Compra',
    refund: 'Reembolso',
    refundDue: 'El pago está pendiente de devolución a quien pagó.',
    notDue: {
      failed: 'El pago no llegó, así que no hay nada que devolver.',
      cancelled: 'Si el pago llega, quedará pendiente de devolución.',
    },
  },
  {
    language: 'en',
    titles: { completed: 'Purchase delivered', failed: 'The purchase failed', cancelled: 'Purchase cancelled' },
    service: 'Service',
    reference: 'Reference',
    amount: 'Amount',
    fileNumber: 'File number',
    reason: 'Reason',
    purchase: 'Purchase',
    refund: 'Refund',
    refundDue: 'The payment is due for refund to its payer.',
    notDue: {
      failed: 'The payment did not arrive, so there is nothing to give back.',
      cancelled: 'Should the payment arrive, it will be due for refund.',
    },
  },
];
