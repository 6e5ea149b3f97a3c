import { type Html, html } from '../../util/html.ts';

export const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
export const MUTED = '#55616f';

interface Framed {
  readonly title: string;
  /** Shown beside the subject in lists. */
  readonly preview: string;
  readonly sections: readonly Html[];
  readonly footer?: Html;
}

/** Tables and inline styles, for old mail programs. */
export const framed = ({ title, preview, sections, footer }: Framed): Html => html`<!doctype html>
<html lang="es">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light">
<title>${title}</title>
</head>
<body style="margin:0;padding:0;background:#f5f7f9">
<div style="display:none;max-height:0;overflow:hidden;opacity:0">${preview}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:#f5f7f9"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:520px;background:#ffffff;border:1px solid #e0e5ea;border-radius:12px">
${sections}
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
