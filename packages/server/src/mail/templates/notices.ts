import { oneLine, withoutLinks } from '../../util/text.ts';
import { bilingual, type FilledTemplate } from './layout.ts';

export interface WebhookDisabledContent {
  readonly webhookId: string;
  /** Without path and query. */
  readonly host: string;
  /** ISO 8601. */
  readonly failingSince: string;
}

/** Keeps the subject readable. */
const MAX_HOST_LENGTH = 80;

interface Words<Facts extends unknown[]> {
  readonly language: string;
  readonly title: string;
  readonly happened: (...facts: Facts) => string;
  readonly next: string;
}

const webhookWords: readonly Words<[host: string, since: string]>[] = [
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
  const all = webhookWords.map(({ language, title, happened, next }) => {
    return { language, title, lines: [happened(shortHost, since), next, `Webhook: ${webhookId}`] };
  });
  const [first, second] = webhookWords.map(({ title }) => title);
  return bilingual(`${first}: ${shortHost} / ${second}`, shortHost, all);
}

export interface MailsPausedContent {
  readonly dailyMails: number;
  /** ISO 8601. */
  readonly resetsAt: string;
}

const pausedWords: readonly Words<[mails: number, until: string]>[] = [
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
  const parts = pausedWords.map(({ language, title, happened, next }) => {
    return { language, title, lines: [happened(dailyMails, until), next] };
  });
  return bilingual(parts.map(({ title }) => title).join(' / '), until, parts);
}

export interface TreasuryProposalContent {
  /** Those that were queued before there were others are of new proposals. */
  readonly event?: ProposalNotice;
  readonly treasury: string;
  readonly description: string;
  readonly proposalId: string;
  readonly reason?: string | null;
  readonly url: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

type ProposalNotice = 'created' | 'executed' | 'failed' | 'expired';

const MAX_DESCRIPTION_LENGTH = 200;

const proposalWords: Readonly<Record<ProposalNotice, readonly Words<[treasury: string, until: string]>[]>> = {
  created: [
    {
      language: 'es',
      title: 'Hay una propuesta por firmar',
      happened: (treasury, until) => `${treasury} espera tu firma. La propuesta vence el ${until}.`,
      next: 'Revisa los pagos antes de firmar. La descripción la escribió quien propone y no se firma.',
    },
    {
      language: 'en',
      title: 'A proposal waits for your signature',
      happened: (treasury, until) => `${treasury} waits for your signature. The proposal expires on ${until}.`,
      next: 'Look at the payments before you sign. The description is the words of its proposer and is not signed.',
    },
  ],
  executed: [
    {
      language: 'es',
      title: 'Una propuesta fue ejecutada',
      happened: (treasury) => `La cadena ejecutó una propuesta de ${treasury}.`,
      next: 'Si no la esperabas, revisa quién la firmó.',
    },
    {
      language: 'en',
      title: 'A proposal was executed',
      happened: (treasury) => `The chain has executed a proposal of ${treasury}.`,
      next: 'If you did not expect it, look at who signed it.',
    },
  ],
  failed: [
    {
      language: 'es',
      title: 'Una propuesta falló',
      happened: (treasury) => `La cadena no ejecutó una propuesta de ${treasury}. No se movió dinero.`,
      next: 'Si aún hace falta, proponla otra vez.',
    },
    {
      language: 'en',
      title: 'A proposal failed',
      happened: (treasury) => `The chain did not execute a proposal of ${treasury}. No money has moved.`,
      next: 'If it is still needed, propose it again.',
    },
  ],
  expired: [
    {
      language: 'es',
      title: 'Una propuesta venció',
      happened: (treasury, until) => `Una propuesta de ${treasury} venció el ${until} y ya no puede ejecutarse.`,
      next: 'Si aún hace falta, proponla otra vez.',
    },
    {
      language: 'en',
      title: 'A proposal has expired',
      happened: (treasury, until) => `A proposal of ${treasury} expired on ${until} and can be executed no longer.`,
      next: 'If it is still needed, propose it again.',
    },
  ],
};

export function treasuryProposalMail(content: TreasuryProposalContent): FilledTemplate {
  const treasury = withoutLinks(oneLine(content.treasury, MAX_HOST_LENGTH));
  const words = proposalWords[content.event ?? 'created'];
  const until = `${content.expiresAt.slice(0, 16).replace('T', ' ')} UTC`;
  const shown = [content.description, content.reason ?? '']
    .map((text) => withoutLinks(oneLine(text, MAX_DESCRIPTION_LENGTH)))
    .filter((text) => text !== '');
  const parts = words.map(({ language, title, happened, next }) => ({
    language,
    title,
    lines: [happened(treasury, until), ...shown, next, content.url],
  }));
  const [first, second] = words.map(({ title }) => title);
  return bilingual(`${first}: ${treasury} / ${second}`, treasury, parts);
}
