import type { Brand } from '@svc/protocol';
import { type Html, html, oneLine, withoutLinks } from '../../util/text.ts';
import {
  type ButtonColors,
  buttonColors,
  buttonStyle,
  type FilledTemplate,
  FONT,
  framed,
  MAX_NAME_LENGTH,
  MUTED,
  senderName,
} from './layout.ts';

export interface GiftContent {
  readonly code: string;
  readonly name: string;
  /** Decimal. */
  readonly amountUsd: string;
  readonly claimUrl: string;
  readonly orgName: string;
  /** Of the recipient; undefined where it is not known: then the mail has both. */
  readonly language?: 'en' | 'es' | undefined;
}

interface Words {
  readonly language: 'en' | 'es';
  readonly subject: (from: string, amount: string) => string;
  readonly ignore: string;
  readonly title: string;
  readonly sentYou: string;
  /** Explains USDC. */
  readonly dollars: string;
  readonly button: string;
  readonly code: string;
  readonly warning: string;
}

const languages: readonly Words[] = [
  {
    language: 'es',
    subject: (from, amount) => `Tu regalo de ${from}: ${amount}`,
    ignore: 'Si no esperabas este correo, puedes ignorarlo.',
    title: '¡Tienes un regalo!',
    sentYou: 'te envió',
    dollars: 'dólares digitales',
    button: 'Recibir mi regalo',
    code: 'Tu código',
    warning: 'Este enlace vale como dinero: quien lo tenga puede cobrar el regalo. No lo compartas.',
  },
  {
    language: 'en',
    subject: (from, amount) => `Your gift from ${from}: ${amount}`,
    ignore: 'If you did not expect this mail, you can ignore it.',
    title: 'You have a gift!',
    sentYou: 'sent you',
    dollars: 'digital dollars',
    button: 'Get my gift',
    code: 'Your code',
    warning: 'This link is as good as money: whoever has it can take the gift. Do not share it.',
  },
];

export function giftMail(content: GiftContent, brand?: Brand): FilledTemplate {
  const { code, name, amountUsd, claimUrl, orgName, language } = content;
  const spoken = languages.filter((words) => language === undefined || words.language === language);
  const gift: Gift = {
    from: senderName(orgName, brand),
    name: withoutLinks(oneLine(name, MAX_NAME_LENGTH)),
    amount: `${withCents(amountUsd)} USDC`,
    code,
    url: claimUrl,
  };
  return {
    subject: subjectIn(spoken, gift),
    text: [...spoken.map((words) => textIn(words, gift)), spoken.map(({ ignore }) => ignore).join('\n')]
      .join('\n\n---\n\n')
      .concat('\n'),
    html: page(spoken, gift, brand).text,
  };
}

interface Gift {
  readonly from: string;
  readonly name: string;
  readonly amount: string;
  readonly code: string;
  readonly url: string;
}

function subjectIn([first, ...others]: readonly Words[], { from, amount }: Gift): string {
  return `${first?.subject(from, amount) ?? amount}${others.length > 0 ? ' / Your gift' : ''}`;
}

function withCents(amount: string): string {
  const [whole = '0', decimals = ''] = amount.split('.');
  return `${whole}.${decimals.padEnd(2, '0')}`;
}

const textIn = ({ title, sentYou, dollars, button, code, warning }: Words, gift: Gift): string => `${title}

${gift.from} ${sentYou} ${gift.amount} (${dollars}).
${gift.name}

${button}:
${gift.url}

${code}: ${gift.code}

${warning}`;

const page = (spoken: readonly Words[], gift: Gift, brand: Brand | undefined): Html =>
  framed({
    title: gift.amount,
    preview: `${gift.from}: ${gift.amount}. ${spoken.map(({ title }) => `${title} `).join('')}`,
    sections: spoken.map((words, index) => section(words, gift, buttonColors(brand), index > 0)),
    brand,
    ...(spoken[0] && { language: spoken[0].language }),
    footer: html`<p style="margin:16px 8px 0;${FONT};font-size:13px;line-height:1.5;color:${MUTED}">${spoken.map((words, index) => html`${index > 0 && html`<br>`}<span lang="${words.language}">${words.ignore}</span>`)}</p>
`,
  });

const section = (
  words: Words,
  gift: Gift,
  button: ButtonColors,
  ruled: boolean,
): Html => html`<tr><td lang="${words.language}" align="center" style="padding:32px 24px;${ruled && 'border-top:1px solid #e8e3dd;'}${FONT};font-size:16px;line-height:1.5;color:#211b17">
<h1 style="margin:0 0 8px;font-size:22px;line-height:1.3">${words.title}</h1>
<p style="margin:0"><strong><bdi>${gift.from}</bdi></strong> ${words.sentYou}</p>
<p style="margin:8px 0 0;font-size:34px;line-height:1.2;font-weight:700">${gift.amount}</p>
<p style="margin:0 0 4px;font-size:14px;color:${MUTED}">${words.dollars}</p>
<p style="margin:0 0 24px"><bdi>${gift.name}</bdi></p>
<p style="margin:0 0 20px"><a href="${gift.url}" target="_blank" rel="noopener noreferrer" style="${buttonStyle(button)}">${words.button}</a></p>
<p style="margin:0 0 16px;font-size:14px;color:${MUTED}">${words.code}: <strong style="font-family:ui-monospace,Consolas,monospace;color:#211b17">${gift.code}</strong></p>
<p style="margin:0;font-size:14px;color:${MUTED}">${words.warning}</p>
</td></tr>
`;
