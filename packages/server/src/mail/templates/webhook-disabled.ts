import { oneLine } from '../../util/text.ts';
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
  const [first, second] = languages.map(({ title }) => title);
  return bilingual(`${first}: ${shortHost} / ${second}`, shortHost, all);
}
