import type { Brand } from '@svc/protocol';
import { type Html, html, oneLine, withoutLinks } from '../../util/text.ts';

export const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
export const MUTED = '#675d55';

interface Framed {
  readonly title: string;
  /** Shown beside the subject in lists. */
  readonly preview: string;
  readonly sections: readonly Html[];
  readonly footer?: Html;
  readonly brand?: Brand | undefined;
  readonly language?: 'en' | 'es';
}

/** Keeps the subject readable. */
export const MAX_NAME_LENGTH = 80;

/** The name in a line of text, which no mail program makes a link of. */
export const senderName = (orgName: string, brand: Brand | undefined): string =>
  withoutLinks(oneLine(brand?.name ?? orgName, MAX_NAME_LENGTH));

export interface ButtonColors {
  readonly background: string;
  readonly text: string;
}

export const buttonColors = (brand: Brand | undefined): ButtonColors =>
  brand?.color
    ? { background: brand.color, text: brand.textColor ?? '#ffffff' }
    : { background: '#a11d4a', text: '#ffffff' };

export const buttonStyle = ({ background, text }: ButtonColors): string =>
  `display:inline-block;padding:14px 28px;border-radius:8px;background:${background};color:${text};${FONT};font-size:17px;font-weight:600;text-decoration:none`;

/** A logo with its name for programs that load no images, or a stripe of the colour alone. */
const head = ({
  name,
  logoUrl,
  color,
}: Brand): Html => html`<tr><td align="center" style="padding:${logoUrl ? '24px 24px 0' : '0'};border-top:6px solid ${color ?? '#e8e3dd'};border-radius:12px 12px 0 0;${FONT};font-size:18px;font-weight:700;color:#211b17">${logoUrl !== null && html`<img src="${logoUrl}" alt="${oneLine(name ?? '', MAX_NAME_LENGTH)}" height="48" style="display:block;height:48px;width:auto;max-width:240px;border:0">`}</td></tr>
`;

/** Tables and inline styles, for old mail programs. */
export const framed = ({
  title,
  preview,
  sections,
  footer,
  brand,
  language = 'es',
}: Framed): Html => html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light">
<title>${title}</title>
</head>
<body style="margin:0;padding:0;background:#f5f2ee">
<div style="display:none;max-height:0;overflow:hidden;opacity:0">${preview}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:#f5f2ee"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:520px;background:#ffffff;border:1px solid #e8e3dd;border-radius:12px">
${brand && head(brand)}${sections}
</table>
${footer}</td></tr></table>
</body>
</html>
`;

export interface FilledTemplate {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface Part {
  readonly language: string;
  readonly title: string;
  readonly lines: readonly string[];
}

/** The same message in several languages, one below the other. */
export function bilingual(subject: string, preview: string, parts: readonly Part[]): FilledTemplate {
  return {
    subject,
    text: parts
      .map(({ title, lines }) => [title, ...lines].join('\n\n'))
      .join('\n\n---\n\n')
      .concat('\n'),
    html: framed({
      title: parts.map(({ title }) => title).join(' / '),
      preview,
      sections: parts.map((part, index) => section(part, index > 0)),
    }).text,
  };
}

const section = ({ language, title, lines }: Part, ruled: boolean): Html =>
  html`<tr><td lang="${language}" style="padding:32px 24px;${ruled && 'border-top:1px solid #e8e3dd;'}${FONT};font-size:16px;line-height:1.5;color:#211b17">
<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">${title}</h1>
${lines.map(paragraph)}
</td></tr>
`;

const paragraph = (line: string, index: number): Html =>
  html`<p style="margin:0 0 12px;${index > 1 && `font-size:14px;color:${MUTED};`}word-break:break-word"><bdi>${line}</bdi></p>
`;
