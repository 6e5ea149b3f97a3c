import { bilingual, type FilledTemplate } from './layout.ts';

export interface MailsPausedContent {
  readonly dailyMails: number;
  /** ISO 8601. */
  readonly resetsAt: string;
}

interface Words {
  readonly language: string;
  readonly title: string;
  readonly happened: (mails: number, until: string) => string;
  readonly next: string;
}

const languages: readonly Words[] = [
  {
    language: 'es',
    title: 'Hoy no enviaremos más avisos por correo',
    happened: (mails, until) => `Ya se usaron los ${mails} correos de hoy. Hasta ${until} no enviaremos otros.`,
    next: 'Los avisos que faltan no se envían después. Consulta las compras y los webhooks en el panel o con la API.',
  },
  {
    language: 'en',
    title: 'No more notifications by mail today',
    happened: (mails, until) => `The ${mails} mails of today are used up. We send no others until ${until}.`,
    next: 'Notifications of that time are not sent later. Look at purchases and webhooks in the dashboard or by the API.',
  },
];

export function mailsPausedMail({ dailyMails, resetsAt }: MailsPausedContent): FilledTemplate {
  const until = `${resetsAt.slice(0, 16).replace('T', ' ')} UTC`;
  const parts = languages.map(({ language, title, happened, next }) => {
    return { language, title, lines: [happened(dailyMails, until), next] };
  });
  return bilingual(parts.map(({ title }) => title).join(' / '), until, parts);
}
