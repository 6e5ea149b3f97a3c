import { type Html, html, oneLine, withoutLinks } from '../../util/text.ts';
import { buttonColors, buttonStyle, type FilledTemplate, FONT, framed, MAX_NAME_LENGTH, MUTED } from './layout.ts';

export interface SignInContent {
  readonly url: string;
  /** Of the deployment, such as `svc.example`. */
  readonly host: string;
}

export interface InvitationContent extends SignInContent {
  /** Null for operators of the deployment. */
  readonly orgName: string | null;
  /** The e-mail address of the owner; null at the command line. */
  readonly invitedBy: string | null;
}

interface Words {
  readonly language: string;
  readonly title: string;
  readonly lines: readonly string[];
  readonly button: string;
}

const IGNORE = [
  'Si no pediste este correo, puedes ignorarlo. No compartas el enlace.',
  'If you did not ask for this mail, you can ignore it. Do not share the link.',
] as const;

/** The reader's language is unknown, so the mail has both. */
export function signInMail({ url, host }: SignInContent): FilledTemplate {
  return letter(`Entrar a ${host} / Sign in to ${host}`, url, [
    {
      language: 'es',
      title: `Entrar a ${host}`,
      lines: ['El enlace funciona una vez, durante 15 minutos.'],
      button: 'Entrar',
    },
    {
      language: 'en',
      title: `Sign in to ${host}`,
      lines: ['The link works once, for 15 minutes.'],
      button: 'Sign in',
    },
  ]);
}

export function invitationMail({ url, host, orgName, invitedBy }: InvitationContent): FilledTemplate {
  const name = orgName === null ? host : withoutLinks(oneLine(orgName, MAX_NAME_LENGTH));
  const by = invitedBy === null ? undefined : oneLine(invitedBy, MAX_NAME_LENGTH);
  return letter(`Invitación a ${name} / Invitation to ${name}`, url, [
    {
      language: 'es',
      title: `Te invitaron a ${name}`,
      lines: [...(by ? [`${by} te invitó al panel de ${host}.`] : []), 'El enlace funciona una vez, durante 7 días.'],
      button: 'Aceptar la invitación',
    },
    {
      language: 'en',
      title: `You are invited to ${name}`,
      lines: [...(by ? [`${by} invited you to the dashboard of ${host}.`] : []), 'The link works once, for 7 days.'],
      button: 'Accept the invitation',
    },
  ]);
}

function letter(subject: string, url: string, languages: readonly Words[]): FilledTemplate {
  const texts = languages.map(({ title, lines, button }) => [title, ...lines, `${button}:\n${url}`].join('\n\n'));
  const titles = languages.map(({ title }) => title).join(' / ');
  return {
    subject,
    text: [...texts, IGNORE.join('\n')].join('\n\n---\n\n').concat('\n'),
    html: framed({
      title: titles,
      preview: titles,
      sections: languages.map((words, index) => section(words, url, index > 0)),
      footer: html`<p style="margin:16px 8px 0;${FONT};font-size:13px;line-height:1.5;color:${MUTED}"><span lang="es">${IGNORE[0]}</span><br><span lang="en">${IGNORE[1]}</span></p>
`,
    }).text,
  };
}

const BUTTON = buttonStyle(buttonColors(undefined));

const section = (words: Words, url: string, ruled: boolean): Html =>
  html`<tr><td lang="${words.language}" align="center" style="padding:32px 24px;${ruled && 'border-top:1px solid #e8e3dd;'}${FONT};font-size:16px;line-height:1.5;color:#211b17">
<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3"><bdi>${words.title}</bdi></h1>
<p style="margin:0 0 20px"><a href="${url}" target="_blank" rel="noopener noreferrer" style="${BUTTON}">${words.button}</a></p>
${words.lines.map(
  (line) => html`<p style="margin:0 0 8px;font-size:14px;color:${MUTED};word-break:break-word"><bdi>${line}</bdi></p>
`,
)}</td></tr>
`;
