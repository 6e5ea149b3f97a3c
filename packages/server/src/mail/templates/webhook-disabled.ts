import { type Html, html } from '../../util/html.ts';
import { oneLine } from '../../util/text.ts';
import { type FilledTemplate, FONT, framed, MUTED } from './layout.ts';

export interface WebhookDisabledContent {
  readonly webhookId: string;
  /** Without path and query. */
  readonly host: string;
  /** ISO 8601. */
  readonly failingSince: string;
}

/** Keeps the subject readable. */
const MAX_HOST_LENGTH = 80;

interface Words {
  readonly language: string;
  readonly title: string;
  readonly happened: (host: string, since: string) => string;
  readonly next: string;
}

const languages: readonly Words[] = [
  {
    language: 'es',
    title: 'Un webhook fue desactivado',
    happened: (host, since) => `${host} no ha aceptado ningún aviso desde ${since}, así que dejamos de enviarlos.`,
    next: 'Cuando el receptor funcione, activa el webhook de nuevo (isEnabled) y pide otra vez los eventos que faltan (replay).',
  },
  {
    language: 'en',
    title: 'A webhook was switched off',
    happened: (host, since) => `${host} has accepted no webhook since ${since}, so we have stopped sending them.`,
    next: 'Once the receiver works, switch the webhook on again (isEnabled) and replay the events that are missing.',
  },
];

export function webhookDisabledMail({ webhookId, host, failingSince }: WebhookDisabledContent): FilledTemplate {
  const shortHost = oneLine(host, MAX_HOST_LENGTH);
  const since = `${failingSince.slice(0, 16).replace('T', ' ')} UTC`;
  const all = languages.map(({ language, title, happened, next }) => {
    return { language, title, lines: [happened(shortHost, since), next, `Webhook: ${webhookId}`] };
  });
  const titles = languages.map(({ title }) => title);
  return {
    subject: `${titles[0]}: ${shortHost} / ${titles[1]}`,
    text: all
      .map(({ title, lines }) => [title, ...lines].join('\n\n'))
      .join('\n\n---\n\n')
      .concat('\n'),
    html: framed({
      title: titles.join(' / '),
      preview: shortHost,
      sections: all.map((part, index) => section(part, index > 0)),
    }).text,
  };
}

interface Part {
  readonly language: string;
  readonly title: string;
  readonly lines: readonly string[];
}

const section = ({ language, title, lines }: Part, ruled: boolean): Html =>
  html`<tr><td lang="${language}" style="padding:32px 24px;${ruled && 'border-top:1px solid #e0e5ea;'}${FONT};font-size:16px;line-height:1.5;color:#1b232d">
<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">${title}</h1>
${lines.map(paragraph)}
</td></tr>
`;

const paragraph = (line: string, index: number): Html =>
  html`<p style="margin:0 0 12px;${index > 1 && `font-size:14px;color:${MUTED};`}word-break:break-word"><bdi>${line}</bdi></p>
`;
